//! Grammar of messages: counts and articles.

/// Returns a count with its noun: `1 run`, `2 runs`, `2 processes`, `2 searches`.
pub fn counted(count: u64, noun: &str) -> String {
    let ending = match count {
        1 => "",
        _ if ["s", "x", "ch", "sh"].iter().any(|end| noun.ends_with(end)) => "es",
        _ => "s",
    };
    format!("{count} {noun}{ending}")
}

/// Returns a noun with its indefinite article: `a worker`, `an architect`. It goes by the first letter, which is right
/// for the names of agents, phases and statuses.
pub fn with_article(noun: &str) -> String {
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {noun}")
}

/// Returns texts as alternatives: `a`, `a or b`, `a, b or c`.
pub fn any_of<T: AsRef<str>>(texts: &[T]) -> String {
    match texts {
        [] => String::new(),
        [only] => only.as_ref().to_owned(),
        [first @ .., last] => format!("{} or {}", listed(first), last.as_ref()),
    }
}

/// Returns the beginning of a sentence that says of no text that it is something: `a is not`, `neither a nor b is`,
/// `none of a, b, c is`.
pub fn none_is<T: AsRef<str>>(texts: &[T]) -> String {
    match texts {
        [only] => format!("{} is not", only.as_ref()),
        [one, other] => format!("neither {} nor {} is", one.as_ref(), other.as_ref()),
        texts => format!("none of {} is", listed(texts)),
    }
}

fn listed<T: AsRef<str>>(texts: &[T]) -> String {
    let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
    texts.join(", ")
}

/// Returns the first meaningful line of an error, with the next one if it ends in a colon.
pub fn error_line(error: &str) -> String {
    let mut lines = error.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    match lines.next() {
        Some(next) if first.ends_with(':') => format!("{first} {next}"),
        _ => first.trim_end_matches(':').to_owned(),
    }
}

/// Returns a text that begins with a capital letter.
pub fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}

/// Returns a text without the full stop at its end, for a sentence that continues after it. An ellipsis stays.
pub fn unended(text: &str) -> &str {
    let text = text.trim_end();
    match text.strip_suffix('.') {
        Some(rest) if !rest.ends_with('.') => rest,
        _ => text,
    }
}

/// Returns a text with what comes between it and more: a colon, or only a space after a question.
pub fn before_more(text: &str) -> String {
    let text = unended(text);
    let colon = if text.ends_with(['?', '!', '…']) {
        ""
    } else {
        ":"
    };
    format!("{text}{colon} ")
}

/// Returns a text as a sentence that has ended: a question keeps its mark.
pub fn ended(text: &str) -> String {
    let text = unended(text);
    let stop = if text.ends_with(['?', '!', '…']) {
        ""
    } else {
        "."
    };
    format!("{text}{stop}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_agree_with_their_nouns() {
        for (count, noun, expected) in [
            (0, "line", "0 lines"),
            (1, "line", "1 line"),
            (2, "process", "2 processes"),
            (1, "process", "1 process"),
            (3, "search", "3 searches"),
        ] {
            assert_eq!(counted(count, noun), expected);
        }
    }

    #[test]
    fn lists_are_sentences_for_any_number() {
        for (texts, any, none) in [
            (&["a"][..], "a", "a is not"),
            (&["a", "b"], "a or b", "neither a nor b is"),
            (&["a", "b", "c"], "a, b or c", "none of a, b, c is"),
        ] {
            assert_eq!((any_of(texts), none_is(texts)), (any.into(), none.into()));
        }
    }

    #[test]
    fn an_error_is_quoted_by_the_line_that_says_something() {
        for (error, expected) in [
            (
                "check `jest` failed:\n\n  1 failed, 3 passed\nmore",
                "check `jest` failed: 1 failed, 3 passed",
            ),
            ("\nno space left\nmore", "no space left"),
            ("failed:", "failed"),
            ("", ""),
        ] {
            assert_eq!(error_line(error), expected);
        }
    }

    #[test]
    fn a_sentence_that_goes_on_loses_its_full_stop() {
        for (text, expected) in [
            ("no such file.\n", "no such file"),
            ("no such file", "no such file"),
            ("and so on...", "and so on..."),
            ("", ""),
        ] {
            assert_eq!(unended(text), expected);
        }
    }

    #[test]
    fn a_question_keeps_its_mark() {
        for (text, more, whole) in [
            ("which tab?", "which tab? ", "which tab?"),
            ("it failed.", "it failed: ", "it failed."),
            ("it failed", "it failed: ", "it failed."),
        ] {
            assert_eq!(
                (before_more(text), ended(text)),
                (more.to_owned(), whole.to_owned())
            );
        }
    }

    #[test]
    fn an_article_agrees_with_its_noun() {
        for (noun, expected) in [
            ("worker", "a worker"),
            ("architect", "an architect"),
            ("intake", "an intake"),
            ("judge", "a judge"),
        ] {
            assert_eq!(with_article(noun), expected);
        }
    }
}

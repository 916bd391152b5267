//! Texts of agents in what Symphony writes at a tracker.
//!
//! An agent's text is untrusted: it must not give a command, pass for ours, notify people, link to other issues or close them, or
//! load pictures. Where trackers would act on a text, an invisible space breaks it; the text still reads the same.

/// Most characters of one quoted text: more than a screen, and far less than a tracker's limit for a comment.
pub const QUOTE_CHARS_MAX: usize = 4_000;
/// Most characters of a title: GitHub's limit is 256.
pub const TITLE_SENT_CHARS_MAX: usize = 250;

/// A space without width.
const BREAK: char = '\u{200b}';

/// Quotes an agent's text as a block of Markdown, at most [`QUOTE_CHARS_MAX`] characters of it.
pub fn agent_text(text: &str) -> String {
    quoted(text, QUOTE_CHARS_MAX)
}

/// Quotes at most `chars_max` characters of an agent's text as a block of Markdown.
pub fn quoted(text: &str, chars_max: usize) -> String {
    let text = neutral(text.trim());
    let (kept, left_out) = cut(&text, chars_max);
    let mut block = String::new();
    for line in kept.lines() {
        block.push_str(if line.is_empty() { ">" } else { "> " });
        block.push_str(line);
        block.push('\n');
    }
    if left_out > 0 {
        // a block of its own, so that no open code takes the note in
        let note = format!("\n_{left_out} more characters are not shown._\n");
        block.push_str(&note);
    }
    block.trim_end().to_owned()
}

/// Returns an agent's text as one line without Markdown's effects on others, for titles and lists.
pub fn agent_line(text: &str, chars_max: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    shortened(&neutral(&words.join(" ")), chars_max)
}

/// Returns a text that is at most `chars_max` characters long; the last one is an ellipsis if something was cut.
pub fn shortened(text: &str, chars_max: usize) -> String {
    if text.chars().nth(chars_max).is_none() {
        return text.to_owned();
    }
    let kept: String = text.chars().take(chars_max.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// Breaks all in a text that a tracker would act on, and leaves it in one piece.
///
/// It breaks mentions, references to issues (`#12`, `GH-12`, `ENG-12`, addresses of issues), tags and comments of HTML, pictures
/// and commands to Symphony. Characters that are not text, or that change the direction of others, are dropped.
pub fn neutral(text: &str) -> String {
    let chars: Vec<char> = text.chars().filter(|c| is_text(*c)).collect();
    let mut out = String::with_capacity(text.len() + 16);
    for (at, c) in chars.iter().enumerate() {
        out.push(*c);
        let (before, after) = chars.split_at(at + 1);
        if is_acted_on(before, after) {
            out.push(BREAK);
        }
    }
    out
}

fn is_text(c: char) -> bool {
    let changes_direction =
        matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}');
    !changes_direction && (!c.is_control() || matches!(c, '\n' | '\t'))
}

/// Returns whether a tracker would act on what is around the border between two texts.
fn is_acted_on(before: &[char], after: &[char]) -> bool {
    let next = after.first().copied().unwrap_or(' ');
    match before.last().copied().unwrap_or(' ') {
        '@' => next.is_alphanumeric() || matches!(next, '_' | '-' | '['),
        '#' => next.is_ascii_digit(),
        '<' => next.is_ascii_alphabetic() || matches!(next, '!' | '/' | '?'),
        '!' => next == '[',
        '-' => next.is_ascii_digit() && ends_in_key(before),
        '/' => {
            starts_with(after, "symphony") || (next.is_ascii_alphanumeric() && is_address(before))
        }
        _ => false,
    }
}

/// Returns whether a text ends in a key of a tracker and its hyphen, such as `ENG-` or `gh-`.
fn ends_in_key(before: &[char]) -> bool {
    let key = before.iter().rev().skip(1);
    key.take_while(|c| c.is_ascii_alphanumeric() || **c == '_')
        .last()
        .is_some_and(char::is_ascii_alphabetic)
}

/// Returns whether a text ends where an address names what it is about.
fn is_address(before: &[char]) -> bool {
    [
        "/issues/",
        "/issue/",
        "/pull/",
        "/pulls/",
        "/discussions/",
        "/commit/",
    ]
    .iter()
    .any(|part| {
        let from = before.len().saturating_sub(part.len());
        before.get(from..).is_some_and(|end| starts_with(end, part))
    })
}

fn starts_with(text: &[char], part: &str) -> bool {
    text.len() >= part.len()
        && part
            .chars()
            .zip(text)
            .all(|(wanted, found)| found.eq_ignore_ascii_case(&wanted))
}

/// Cuts a text after `chars_max` characters and counts the rest.
fn cut(text: &str, chars_max: usize) -> (&str, usize) {
    match text.char_indices().nth(chars_max) {
        None => (text, 0),
        Some((at, _)) => {
            let (kept, rest) = text.split_at(at);
            (kept, rest.chars().count())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marker;

    fn shown(text: &str) -> String {
        text.replace(BREAK, "|")
    }

    #[test]
    fn what_a_tracker_would_act_on_is_broken() {
        for (text, expected) in [
            ("ask @ada or @acme/team", "ask @|ada or @|acme/team"),
            ("fixes #12, closes GH-12", "fixes #|12, closes GH-|12"),
            ("resolves acme/web#12", "resolves acme/web#|12"),
            ("see ENG-12 and eng2-3", "see ENG-|12 and eng2-|3"),
            ("from 2026-11-26 on", "from 2026-11-26 on"),
            (
                "https://github.com/a/b/issues/12",
                "https://github.com/a/b/issues/|12",
            ),
            (
                "https://github.com/a/b/Pull/12",
                "https://github.com/a/b/Pull/|12",
            ),
            ("<!-- symphony:change=a -->", "<|!-- symphony:change=a -->"),
            ("a <b>c</b> < d", "a <|b>c<|/b> < d"),
            ("![x](http://e/?q)", "!|[x](http://e/?q)"),
            ("/symphony cancel", "/|symphony cancel"),
            ("/Symphony cancel", "/|Symphony cancel"),
            ("a\u{202e}b\u{0}c\r\nd\te", "abc\nd\te"),
            ("# Title, `x`, **y**", "# Title, `x`, **y**"),
        ] {
            assert_eq!(shown(&neutral(text)), expected, "{text}");
        }
    }

    #[test]
    fn each_line_of_a_quote_is_in_the_quote() {
        assert_eq!(agent_text("a\n\nb\n```\nc\n"), "> a\n>\n> b\n> ```\n> c");
        assert_eq!(agent_text(" \n"), "");
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let long = "ä".repeat(QUOTE_CHARS_MAX + 5);
        let quote = agent_text(&long);
        assert!(
            quote.ends_with("\n\n_5 more characters are not shown._"),
            "{quote}"
        );
        assert_eq!(quote.matches('ä').count(), QUOTE_CHARS_MAX);
        assert_eq!(shortened("äöü", 3), "äöü");
        assert_eq!(shortened("äöüß", 3), "äö…");
    }

    #[test]
    fn a_line_has_no_breaks() {
        assert_eq!(shown(&agent_line(" Ask\n@ada  now ", 100)), "Ask @|ada now");
        assert_eq!(agent_line("one two three", 8), "one two…");
    }

    #[test]
    fn a_quoted_marker_claims_nothing() {
        let copied = marker::with("text", &crate::change::ChangeId::new("a-1"));
        assert_eq!(marker::find(&agent_text(&copied)), None);
        assert_eq!(marker::find(&neutral(&copied)), None);
    }
}

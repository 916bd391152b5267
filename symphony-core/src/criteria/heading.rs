//! What a heading of acceptance criteria may look like.

use crate::contract::markdown::folded;

/// The names of the heading; case, emphasis and surrounding text are ignored.
const TITLES: [&str; 3] = [
    "acceptance criteria",
    "acceptance criterion",
    "acceptance-criteria",
];
/// What a line contains that may be meant as such a heading.
const NEARLY: [&str; 2] = ["acceptance criteri", "acceptance-criteri"];
/// Most words of a line that may be meant as a heading: a longer one is a sentence.
const NEAR_WORDS_MAX: usize = 10;

/// Returns whether a title names the acceptance criteria: numbers, marks and emoji before it, and remarks in brackets
/// after it are ignored.
pub(super) fn names_criteria(title: &str) -> bool {
    let title = folded(title);
    let title = without_remarks(without_number(without_marks(&title)));
    TITLES.contains(&title)
}

/// Returns whether a line outside of a list counts as a heading: it is bold as a whole, or has only the expected name,
/// plain or in italics.
pub(super) fn is_label(content: &str) -> bool {
    let plain = content.trim_end_matches(':');
    is_within(plain, "**") || is_within(plain, "__") || names_criteria(content)
}

/// Returns whether a line that does not count as such a heading may be meant as one.
pub(super) fn may_name_criteria(content: &str) -> bool {
    let lower = folded(content);
    let is_short = content.split_whitespace().count() <= NEAR_WORDS_MAX;
    let is_sentence = content.ends_with(['.', '!', '?', ',', ';']);
    is_short && !is_sentence && NEARLY.iter().any(|words| lower.contains(words))
}

fn is_within(content: &str, mark: &str) -> bool {
    let inner = content
        .strip_prefix(mark)
        .and_then(|rest| rest.strip_suffix(mark));
    inner.is_some_and(|inner| !inner.is_empty() && !inner.contains(mark))
}

/// Strips emoji, their names (`:memo:`) and other marks at the beginning.
fn without_marks(title: &str) -> &str {
    let title = title.trim_start_matches(|c: char| !c.is_alphanumeric());
    let named = title.split_once(": ").filter(|(name, _)| {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+');
        name.chars().all(is_part)
    });
    named.map_or(title, |(_, rest)| without_marks(rest))
}

/// Strips a number at the beginning, such as `3.`, `2.1`, `b)` or `Step 4:`.
fn without_number(title: &str) -> &str {
    let Some((first, rest)) = title.split_once(' ') else {
        return title;
    };
    let number = first.trim_end_matches(['.', ')', ':']);
    let has_mark = number.len() < first.len();
    let is_number = number.starts_with(|c: char| c.is_ascii_digit())
        && number.chars().all(|c| c.is_ascii_digit() || c == '.');
    let is_letter = has_mark && number.chars().count() == 1;
    if is_number || is_letter {
        without_marks(rest)
    } else {
        title
    }
}

/// Strips marks and remarks in brackets at the end.
fn without_remarks(title: &str) -> &str {
    let title = title.trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, ')' | ']'));
    let open = match title.chars().next_back() {
        Some(')') => '(',
        Some(']') => '[',
        _ => return title,
    };
    match title.rsplit_once(open) {
        Some((before, _)) => without_remarks(before),
        None => title,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_titles_are_recognised() {
        for title in [
            "Acceptance Criteria",
            "acceptance criteria:",
            "Acceptance criterion",
            "Acceptance-Criteria",
            "**Acceptance criteria**",
            "**Acceptance criteria**:",
            "**Acceptance criteria** (must have)",
            "*Acceptance criteria*",
            "_Acceptance criteria_",
            "Acceptance Criteria (must have)",
            "Acceptance Criteria (must have) [draft]:",
            "3. Acceptance criteria",
            "3.1 Acceptance criteria",
            "2) Acceptance criteria",
            "B. Acceptance criteria",
            "✅ Acceptance criteria",
            "Acceptance criteria ✅",
            ":white_check_mark: Acceptance criteria",
            "4. ✅ Acceptance   criteria (v2)",
        ] {
            assert!(names_criteria(title), "{title}");
            assert!(may_name_criteria(title), "{title}");
        }
    }

    #[test]
    fn other_titles_are_not_recognised_and_near_ones_are_known() {
        for (title, near) in [
            ("Acceptance criteria for whom", true),
            ("Acceptance criteria - must have", true),
            ("<h2>Acceptance criteria</h2>", true),
            ("h2. Acceptance criteria", true),
            ("Acceptance criteria for whom?", false),
            ("The acceptance criteria are below.", false),
            (
                "what follows are the acceptance criteria that a person has agreed on with us",
                false,
            ),
            ("Acceptance", false),
            ("Acceptance test", false),
            ("Criteria", false),
            ("", false),
            ("()", false),
            ("3.", false),
        ] {
            let found = (names_criteria(title), may_name_criteria(title));
            assert_eq!(found, (false, near), "{title}");
        }
    }

    #[test]
    fn labels_are_bold_or_have_the_name() {
        for (line, expected) in [
            ("**Out of scope**", true),
            ("__Out of scope__:", true),
            ("**a** and **b**", false),
            ("*Out of scope*", false),
            ("*Acceptance criteria*", true),
            ("Acceptance criteria", true),
            ("Acceptance criteria:", true),
            ("Out of scope:", false),
        ] {
            assert_eq!(is_label(line), expected, "{line}");
        }
    }
}

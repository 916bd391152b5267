//! The words that changed between two lines.

use similar::{Algorithm, DiffTag, capture_diff_slices};

/// Most steps that all comparisons of one page may take, in pairs of words: about a tenth of a second.
const STEPS_MAX: usize = 20_000_000;

/// Longest line whose words are compared, in words.
const WORDS_MAX: usize = 400;

/// A part of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part<'a> {
    pub(super) text: &'a str,
    pub(super) is_changed: bool,
}

/// How much is left to compare: a diff may have thousands of long lines.
#[derive(Debug)]
pub(super) struct Comparer {
    steps: usize,
}

impl Default for Comparer {
    fn default() -> Self {
        Self { steps: STEPS_MAX }
    }
}

impl Comparer {
    /// Compares two lines; none where they have too little in common for marks to help.
    pub(super) fn parts<'a>(
        &mut self,
        old: &'a str,
        new: &'a str,
    ) -> Option<(Vec<Part<'a>>, Vec<Part<'a>>)> {
        let (left, right) = (words(old)?, words(new)?);
        self.steps = self.steps.checked_sub(left.len() * right.len())?;
        let operations = capture_diff_slices(Algorithm::Myers, &left, &right);
        let common = |words: &[&str]| words.iter().filter(|word| !word.trim().is_empty()).count();
        let mut kept = 0;
        let (mut left_parts, mut right_parts) = (Vec::new(), Vec::new());
        for operation in &operations {
            let is_changed = operation.tag() != DiffTag::Equal;
            let old_words = left.get(operation.old_range()).unwrap_or_default();
            let new_words = right.get(operation.new_range()).unwrap_or_default();
            if !is_changed {
                kept += common(old_words);
            }
            extend(&mut left_parts, old, old_words, is_changed);
            extend(&mut right_parts, new, new_words, is_changed);
        }
        // fewer than a third of the words in common: another line, not a changed one
        let most = common(&left).max(common(&right));
        (kept * 3 >= most && kept > 0).then_some((left_parts, right_parts))
    }
}

/// Adds neighbouring words as one part of the line they are slices of.
fn extend<'a>(parts: &mut Vec<Part<'a>>, line: &'a str, words: &[&str], is_changed: bool) {
    let before: usize = parts.iter().map(|part| part.text.len()).sum();
    let length: usize = words.iter().map(|word| word.len()).sum();
    if let Some(text) = line
        .get(before..before + length)
        .filter(|text| !text.is_empty())
    {
        parts.push(Part { text, is_changed });
    }
}

/// Splits a line into words, runs of spaces and single other characters; none if there are too many.
fn words(line: &str) -> Option<Vec<&str>> {
    let kind = |c: char| {
        if c.is_alphanumeric() || c == '_' {
            1
        } else if c.is_whitespace() {
            2
        } else {
            0
        }
    };
    let mut words = Vec::new();
    let mut start = 0;
    let mut before = 0;
    for (at, character) in line.char_indices() {
        let now = kind(character);
        if at > start && (now == 0 || now != before) {
            words.push(line.get(start..at)?);
            start = at;
        }
        before = now;
        if words.len() >= WORDS_MAX {
            return None;
        }
    }
    words.extend(line.get(start..).filter(|rest| !rest.is_empty()));
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(parts: &[Part<'_>]) -> String {
        let part = |part: &Part<'_>| {
            if part.is_changed {
                format!("[{}]", part.text)
            } else {
                part.text.to_owned()
            }
        };
        parts.iter().map(part).collect()
    }

    #[test]
    fn changed_words_are_marked() {
        for (old, new, expected) in [
            (
                "let a = 1;",
                "let b = 1;",
                Some(("let [a] = 1;", "let [b] = 1;")),
            ),
            ("f(x)", "f(x, y)", Some(("f(x)", "f(x[, y])"))),
            (
                "größe = 1",
                "größe = 2",
                Some(("größe = [1]", "größe = [2]")),
            ),
            ("a b c d", "w x y z", None),
            ("", "a", None),
        ] {
            let found = Comparer::default().parts(old, new);
            let found = found.map(|(left, right)| (marked(&left), marked(&right)));
            let expected = expected.map(|(left, right)| (left.to_owned(), right.to_owned()));
            assert_eq!(found, expected, "{old} → {new}");
        }
    }

    #[test]
    fn too_much_is_not_compared() {
        let long = "a ".repeat(WORDS_MAX);
        assert_eq!(Comparer::default().parts(&long, &long), None);
        assert_eq!(Comparer { steps: 3 }.parts("a b", "a c"), None);
    }

    proptest::proptest! {
        #[test]
        fn parts_make_up_their_lines(old in "[ab _.é]{0,30}", new in "\\PC{0,30}|[ab _.é]{0,30}") {
            if let Some((left, right)) = Comparer::default().parts(&old, &new) {
                let text = |parts: &[Part<'_>]| parts.iter().map(|part| part.text).collect::<String>();
                proptest::prop_assert_eq!(text(&left), old.as_str());
                proptest::prop_assert_eq!(text(&right), new.as_str());
            }
        }
    }
}

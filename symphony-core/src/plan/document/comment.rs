//! HTML comments in markdown.

const OPENING: &str = "<!--";
const CLOSING: &str = "-->";
/// Longest run of backquotes that counts as inline code.
const CODE_RUN_MAX: usize = 32;

/// Whether an unclosed comment hides the rest of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unclosed {
    /// Yes, when it begins the line: that is how markdown has it.
    HidesWhenFirst,
    /// Yes, wherever it begins: something closes it further on.
    Hides,
}

/// Returns the rest of a line after the end of the comment that it is in.
pub(super) fn after_comment(line: &str) -> Option<&str> {
    line.split_once(CLOSING).map(|(_, rest)| rest)
}

/// Returns where a text closes a comment for the last time.
pub(super) fn last_closing(markdown: &str) -> Option<usize> {
    markdown.rfind(CLOSING)
}

/// Returns whether a comment begins on a line and continues after it. Inline code is ignored. Linear.
pub(super) fn leaves_open(line: &str, unclosed: Unclosed) -> bool {
    let mut has_no_end = [false; CODE_RUN_MAX + 1];
    let mut rest = line;
    let mut is_first = true;
    loop {
        let Some(at) = rest.find(['`', '<', '\\']) else {
            return false;
        };
        is_first &= rest.get(..at).unwrap_or("").trim().is_empty();
        rest = rest.get(at..).unwrap_or("");
        if let Some(comment) = rest.strip_prefix(OPENING) {
            // `<!-->` is a whole comment: its end may share the two hyphens
            match rest.get(2..).and_then(after_comment) {
                Some(after) => rest = after,
                None if unclosed == Unclosed::Hides || is_first => return true,
                None => rest = comment,
            }
        } else if rest.starts_with('`') {
            rest = after_code(rest, &mut has_no_end);
        } else {
            let mut chars = rest.chars();
            if chars.next() == Some('\\') {
                chars.next();
            }
            rest = chars.as_str();
        }
        is_first = false;
    }
}

/// Returns what follows the inline code that a text begins with, or its backquotes when nothing closes them.
fn after_code<'a>(text: &'a str, has_no_end: &mut [bool; CODE_RUN_MAX + 1]) -> &'a str {
    let inside = text.trim_start_matches('`');
    let length = text.len() - inside.len();
    // A length without an end is not searched for again, so that the whole stays linear.
    if has_no_end.get(length).copied().unwrap_or(true) {
        return inside;
    }
    let mut rest = inside;
    while let Some(at) = rest.find('`') {
        let run = rest.get(at..).unwrap_or("");
        let after = run.trim_start_matches('`');
        if run.len() - after.len() == length {
            return after;
        }
        rest = after;
    }
    if let Some(known) = has_no_end.get_mut(length) {
        *known = true;
    }
    inside
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_told_from_what_looks_like_one() {
        use Unclosed::{Hides, HidesWhenFirst};
        for (line, unclosed, expected) in [
            ("<!--", HidesWhenFirst, true),
            ("  <!-- old", HidesWhenFirst, true),
            ("old: <!-- plan", HidesWhenFirst, false),
            ("old: <!-- plan", Hides, true),
            ("<!-- a --> b", Hides, false),
            ("<!-- a --> <!-- b", Hides, true),
            ("<!--> b", Hides, false),
            ("<!---> b", Hides, false),
            ("write `<!--` first", Hides, false),
            ("write ``a ` <!--`` first", Hides, false),
            ("write ` <!--", Hides, true),
            ("write \\<!-- first", Hides, false),
            ("a < b", Hides, false),
            ("", Hides, false),
        ] {
            assert_eq!(leaves_open(line, unclosed), expected, "{line}");
        }
    }

    #[test]
    fn a_line_of_backquotes_is_read_in_linear_time() {
        let runs: String = (1..2_000).map(|n| "`".repeat(n) + " ").collect();
        assert!(!leaves_open(&runs, Unclosed::Hides));
    }
}

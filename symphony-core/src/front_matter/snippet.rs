//! A problem with the line it is about, as a compiler would show it.

use std::fmt::Write as _;

use super::problem::Problem;

/// Longest part of a source line that is shown, in characters.
const LINE_CHARS_MAX: usize = 100;

/// Characters shown before the column when a line is cut.
const LEAD_CHARS: usize = 30;

impl Problem {
    /// Renders the problem with the line it is about, as plain text of several lines:
    ///
    /// ```text
    /// error: tools: found the number 7, expected a list of texts
    ///  --> profiles/worker.md:4:8
    ///   |
    /// 4 | tools: 7
    ///   |        ^
    /// ```
    ///
    /// `source` is the text of the file; control characters of it are shown escaped, a long line is cut.
    pub fn snippet(&self, source: &str) -> String {
        let position = self.position;
        let number = position.line.to_string();
        let margin = " ".repeat(number.len());
        let mut out = format!(
            "error: {}\n{margin}--> {}:{position}\n",
            self.message(),
            self.file
        );
        let text = source.strip_prefix('\u{feff}').unwrap_or(source);
        if let Some(line) = text.lines().nth(position.line.saturating_sub(1)) {
            let (shown, caret) = window(line, position.column);
            let pad = " ".repeat(caret);
            // Writing to a String cannot fail.
            let _ = write!(out, "{margin} |\n{number} | {shown}\n{margin} | {pad}^\n");
        }
        out
    }
}

/// Returns the part of a line around a column, and the number of characters before the caret.
fn window(line: &str, column: usize) -> (String, usize) {
    let column = column.saturating_sub(1);
    let start = if line.chars().nth(LINE_CHARS_MAX).is_some() && column > LEAD_CHARS {
        column - LEAD_CHARS
    } else {
        0
    };
    let mut shown = String::new();
    let mut caret = 0;
    for (index, c) in line.chars().enumerate().skip(start).take(LINE_CHARS_MAX) {
        if index == column {
            caret = shown.chars().count();
        }
        if c == '\t' {
            shown.push(' ');
        } else if c.is_control() {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    if column >= start + LINE_CHARS_MAX || line.chars().nth(column).is_none() {
        caret = shown.chars().count();
    }
    (shown, caret)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front_matter::{Position, ProblemKind};

    fn at(line: usize, column: usize) -> Problem {
        Problem {
            file: "f.md".to_owned(),
            position: Position { line, column },
            field: Some("a".to_owned()),
            kind: ProblemKind::Empty,
        }
    }

    #[test]
    fn the_line_and_a_caret() {
        let source = "\u{feff}---\r\na:\t\u{1b}x\r\n";
        assert_eq!(
            at(2, 4).snippet(source),
            "error: a: the front matter is empty\n --> f.md:2:4\n  |\n2 | a: \\u{1b}x\n  |    ^\n"
        );
        assert_eq!(
            at(2, 99).snippet(source),
            "error: a: the front matter is empty\n --> f.md:2:99\n  |\n2 | a: \\u{1b}x\n  |           ^\n"
        );
        assert_eq!(
            at(9, 1).snippet(source),
            "error: a: the front matter is empty\n --> f.md:9:1\n"
        );
    }

    #[test]
    fn a_long_line_is_cut_round_the_column() {
        let source = format!("{}b{}", "a".repeat(500), "c".repeat(500));
        let snippet = at(1, 501).snippet(&source);
        let lines: Vec<&str> = snippet.lines().collect();
        assert_eq!(lines[3].chars().count(), "1 | ".len() + LINE_CHARS_MAX);
        let caret = lines[4].find('^').unwrap();
        assert_eq!(lines[3].chars().nth(caret), Some('b'));
    }
}

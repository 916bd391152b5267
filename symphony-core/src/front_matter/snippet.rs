//! A problem with the line it is about, as a compiler would show it.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};

use super::problem::Problem;

/// Widest output, in columns: a longer line is cut round the caret.
const WIDTH_MAX: usize = 110;

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
        let text = source.strip_prefix('\u{feff}').unwrap_or(source);
        let message = self.message();
        let title = Level::ERROR.primary_title(message.as_str());
        let file = self.file.as_str();
        let report = if let Some(span) = self.span_in(text) {
            let place = Snippet::source(text).path(file);
            title.element(place.annotation(AnnotationKind::Primary.span(span)))
        } else {
            let place = Origin::path(file).line(self.position.line);
            title.element(place.char_column(self.position.column))
        };
        let rendered = Renderer::plain().term_width(WIDTH_MAX).render(&[report]);
        format!("{rendered}\n")
    }

    /// Returns the bytes of the character that the problem is about; the end of its line if that is shorter.
    fn span_in(&self, text: &str) -> Option<Range<usize>> {
        let line = text.lines().nth(self.position.line.checked_sub(1)?)?;
        let column = self.position.column.saturating_sub(1);
        let begin = line.as_ptr().addr() - text.as_ptr().addr();
        let (at, length) = match line.char_indices().nth(column) {
            Some((at, found)) => (at, found.len_utf8()),
            None => (line.len(), 0),
        };
        Some(begin + at..begin + at + length)
    }
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
            "error: a: the front matter is empty\n --> f.md:2:4\n  |\n2 | a:    ␛x\n  |       ^\n"
        );
        assert_eq!(
            at(2, 99).snippet(source),
            "error: a: the front matter is empty\n --> f.md:2:6\n  |\n2 | a:    ␛x\n  |         ^\n"
        );
        assert_eq!(
            at(9, 1).snippet(source),
            "error: a: the front matter is empty\n--> f.md:9:1\n"
        );
    }

    #[test]
    fn a_long_line_is_cut_round_the_column() {
        let source = format!("{}b{}", "a".repeat(500), "c".repeat(500));
        let snippet = at(1, 501).snippet(&source);
        let lines: Vec<&str> = snippet.lines().collect();
        assert!(lines[3].chars().count() <= WIDTH_MAX);
        let caret = lines[4].find('^').unwrap();
        assert_eq!(lines[3].chars().nth(caret), Some('b'));
    }
}

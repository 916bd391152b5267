//! Tables that fit the terminal.

use comfy_table::{CellAlignment, ContentArrangement, Table as Grid, presets};
use owo_colors::OwoColorize as _;

use super::line::one_line;
use super::tone::{Tone, painted, unmarked};

/// Lines of a header. A terminal that is so narrow that it is wrapped has the rest in plain.
const HEADER_LINES: usize = 1;

/// A table: a header and rows of as many cells.
#[derive(Debug, Clone)]
pub struct Table {
    header: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    right_aligned: Vec<usize>,
}

impl Table {
    /// Makes an empty table.
    pub fn new<const N: usize>(header: [&'static str; N]) -> Self {
        Self {
            header: header.into(),
            rows: Vec::new(),
            right_aligned: Vec::new(),
        }
    }

    /// Aligns a column of numbers to the right.
    #[must_use]
    pub fn right(mut self, column: usize) -> Self {
        self.right_aligned.push(column);
        self
    }

    /// Adds a row; its texts become harmless lines, and the words of a state get their colour.
    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        let cells = cells.into_iter().enumerate();
        let cells = cells.map(|(index, cell)| {
            let cell = unmarked(&one_line(&cell));
            let column = self.header.get(index).copied().unwrap_or_default();
            match Tone::of_cell(column, &cell) {
                Some(tone) => tone.marked(&cell),
                None => cell,
            }
        });
        self.rows.push(cells.collect());
    }

    /// Says whether there is no row.
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Renders it; with a width, long cells are wrapped to fit, without one every row is one line.
    pub fn render(&self, width: Option<u16>) -> String {
        let mut grid = Grid::new();
        grid.load_style(presets::NOTHING)
            .set_header(self.header.clone())
            .add_rows(self.rows.clone());
        match width {
            Some(width) => grid
                .set_content_arrangement(ContentArrangement::Dynamic)
                .set_width(width),
            None => grid.set_content_arrangement(ContentArrangement::Disabled),
        };
        for (index, column) in grid.column_iter_mut().enumerate() {
            column.set_padding((0, 2));
            if self.right_aligned.contains(&index) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let mut text = String::new();
        for (index, line) in grid.lines().enumerate() {
            let line = line.trim_end();
            if index < HEADER_LINES {
                text.push_str(&line.dimmed().to_string());
            } else {
                text.push_str(&painted(line));
            }
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    fn table() -> Table {
        let mut table = Table::new(["ID", "TITLE", "N"]).right(2);
        table.row([
            "A-1".into(),
            "A title\nof two lines and many words".into(),
            "1".into(),
        ]);
        table.row(["A-20".into(), "\u{1b}[31mred".into(), "200".into()]);
        table
    }

    #[test]
    fn without_a_width_every_row_is_one_line() {
        insta::assert_snapshot!(plain(&table().render(None)), @"
        ID    TITLE                                  N
        A-1   A title of two lines and many words    1
        A-20  ␛[31mred                             200
        ");
    }

    #[test]
    fn a_width_is_kept() {
        let text = plain(&table().render(Some(30)));
        assert!(
            text.lines().all(|line| line.chars().count() <= 30),
            "{text}"
        );
    }

    #[test]
    fn the_words_of_a_state_are_coloured_and_columns_stay_aligned() {
        let mut table = Table::new(["ID", "STATUS", "TITLE"]);
        table.row(["A-1".into(), "failed".into(), "one".into()]);
        table.row(["A-2".into(), "todo".into(), "failed".into()]);
        let text = table.render(None);
        assert!(text.contains("\u{1b}[31mfailed\u{1b}[39m  one"), "{text:?}");
        assert!(text.contains("todo    failed"), "{text:?}");
    }
}

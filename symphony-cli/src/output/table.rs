//! Tables that fit the terminal.

use comfy_table::{CellAlignment, ContentArrangement, Table as Grid, presets};

use super::text::one_line;

/// A table: a header and rows of as many cells.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    header: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    right_aligned: Vec<usize>,
}

impl Table {
    /// Makes an empty table.
    pub(crate) fn new<const N: usize>(header: [&'static str; N]) -> Self {
        Self {
            header: header.into(),
            rows: Vec::new(),
            right_aligned: Vec::new(),
        }
    }

    /// Aligns a column of numbers to the right.
    pub(crate) fn right(mut self, column: usize) -> Self {
        self.right_aligned.push(column);
        self
    }

    /// Adds a row; its texts become harmless lines.
    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        let cells = cells.into_iter();
        self.rows
            .push(cells.map(|cell| one_line(&cell).into_owned()).collect());
    }

    /// Says whether there is no row.
    pub(crate) const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Renders it; with a width, long cells are wrapped to fit, without one every row is one line.
    pub(crate) fn render(&self, width: Option<u16>) -> String {
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
        for line in grid.lines() {
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        insta::assert_snapshot!(table().render(None), @"
        ID    TITLE                                  N
        A-1   A title of two lines and many words    1
        A-20  ␛[31mred                             200
        ");
    }

    #[test]
    fn a_width_is_kept() {
        let text = table().render(Some(30));
        assert!(
            text.lines().all(|line| line.chars().count() <= 30),
            "{text}"
        );
    }
}

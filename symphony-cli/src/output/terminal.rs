//! The terminal that standard output is: its size, its colours, and how much of it a text takes.

use std::io;

use anstream::{AutoStream, ColorChoice};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The size of a terminal, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) rows: u16,
    pub(super) columns: u16,
}

/// Returns the size of the terminal; none when standard output is no terminal, or one that does not say its size.
pub(super) fn size() -> Option<Size> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    (size.ws_row > 0 && size.ws_col > 0).then_some(Size {
        rows: size.ws_row,
        columns: size.ws_col,
    })
}

/// Says whether the terminal can take back what it shows: one without a name, or a dumb one, cannot.
pub(super) fn is_movable() -> bool {
    std::env::var_os("TERM").is_some_and(|name| !name.is_empty() && name != "dumb")
}

/// Takes the colours out of a text where standard output shows none.
pub(super) fn coloured(text: String) -> String {
    match AutoStream::choice(&io::stdout()) {
        ColorChoice::Never => plain(&text),
        _ => text,
    }
}

/// Returns how many rows a line takes: a long one is wrapped.
pub(super) fn height(line: &str, columns: u16) -> usize {
    plain(line)
        .width()
        .div_ceil(usize::from(columns.max(1)))
        .max(1)
}

/// Returns as much of a line without colours as fits into one row.
pub(super) fn cut(line: &str, columns: u16) -> &str {
    let mut room = usize::from(columns);
    let over = line.char_indices().find(|(_, c)| {
        let width = c.width().unwrap_or_default();
        let fits = width <= room;
        room = room.saturating_sub(width);
        !fits
    });
    over.map_or(line, |(end, _)| line.split_at(end).0)
}

fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_take_two_columns_and_colours_none() {
        for (line, expected) in [
            ("", 1),
            ("0123456789", 1),
            ("0123456789x", 2),
            ("계획실행계획", 2),
            ("계획실행계", 1),
            ("\u{1b}[31m0123456789\u{1b}[0m", 1),
        ] {
            assert_eq!(height(line, 10), expected, "{line:?}");
        }
    }

    #[test]
    fn a_line_is_cut_before_a_character_that_does_not_fit() {
        for (line, expected) in [("abc", "abc"), ("abcdef", "abcde"), ("계획실행", "계획")] {
            assert_eq!(cut(line, 5), expected);
        }
    }
}

//! The quotes and list items that a line of markdown is in.

/// Most containers that are tracked at once. Blank lines are matched against each of them, so a bound keeps the search
/// linear; no one nests quotes and lists that deep.
const CONTAINERS_MAX: usize = 100;
/// Columns from which on indented text is code.
pub(super) const CODE_INDENT: usize = 4;

/// A block that holds other blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Container {
    /// A quote: each of its lines begins with `>`.
    Quote,
    /// A list item: each of its lines is indented by as many columns.
    Item(usize),
}

/// A position in a line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    line: &'a str,
    at: usize,
    column: usize,
}

impl<'a> Cursor<'a> {
    pub(super) const fn new(line: &'a str) -> Self {
        Self {
            line,
            at: 0,
            column: 0,
        }
    }

    /// Returns how many bytes of the line are before the cursor.
    pub(super) const fn bytes(&self) -> usize {
        self.at
    }

    /// Returns the rest of the line.
    pub(super) fn rest(&self) -> &'a str {
        self.line.get(self.at..).unwrap_or("")
    }

    pub(super) fn is_blank(&self) -> bool {
        self.rest().trim().is_empty()
    }

    /// Returns the width of the white space at the cursor, in columns; a tab advances to the next multiple of four.
    pub(super) fn indent(&self) -> usize {
        let mut ahead = *self;
        while ahead.step_over_space() {}
        ahead.column - self.column
    }

    fn step_over_space(&mut self) -> bool {
        let width = match self.line.as_bytes().get(self.at) {
            Some(b' ') => 1,
            Some(b'\t') => 4 - self.column % 4,
            _ => return false,
        };
        self.at += 1;
        self.column += width;
        true
    }

    fn skip_columns(&mut self, columns: usize) {
        let end = self.column + columns;
        while self.column < end && self.step_over_space() {}
    }

    fn skip_bytes(&mut self, bytes: usize) {
        self.at += bytes;
        self.column += bytes;
    }

    /// Takes the `>` of a quote and the space after it.
    fn take_quote(&mut self) -> bool {
        let mut ahead = *self;
        ahead.skip_columns(CODE_INDENT - 1);
        if !ahead.rest().starts_with('>') {
            return false;
        }
        ahead.skip_bytes(1);
        ahead.skip_columns(1);
        *self = ahead;
        true
    }

    /// Takes the marker of a list item and the white space after it; returns the width of both.
    fn take_item(&mut self) -> Option<usize> {
        let mut ahead = *self;
        ahead.skip_columns(CODE_INDENT - 1);
        let marker = marker_bytes(ahead.rest())?;
        ahead.skip_bytes(marker);
        let width = ahead.column - self.column;
        let space = ahead.indent();
        if ahead.is_blank() || space > CODE_INDENT {
            *self = ahead;
            return Some(width + 1);
        }
        ahead.skip_columns(space);
        *self = ahead;
        Some(width + space)
    }
}

/// Returns the length of a list item's marker (`-`, `12.`, `3)`), which white space or the line's end follows.
fn marker_bytes(text: &str) -> Option<usize> {
    const DIGITS_MAX: usize = 9;
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let mark = text.as_bytes().get(digits)?;
    let is_marker = match digits {
        0 => matches!(mark, b'-' | b'+' | b'*'),
        1..=DIGITS_MAX => matches!(mark, b'.' | b')'),
        _ => false,
    };
    let after = text.as_bytes().get(digits + 1);
    let is_apart = after.is_none_or(u8::is_ascii_whitespace);
    (is_marker && is_apart).then_some(digits + 1)
}

/// The containers that are open, from the outermost on.
#[derive(Debug, Default)]
pub(super) struct Containers(Vec<Container>);

impl Containers {
    /// Skips the prefixes of the containers that a line continues; returns their number.
    pub(super) fn continued_by(&self, cursor: &mut Cursor<'_>) -> usize {
        let mut open = self.0.iter();
        let ended = open.position(|container| match container {
            Container::Quote => !cursor.take_quote(),
            Container::Item(_) if cursor.is_blank() => false,
            Container::Item(columns) if cursor.indent() >= *columns => {
                cursor.skip_columns(*columns);
                false
            }
            Container::Item(_) => true,
        });
        ended.unwrap_or(self.0.len())
    }

    /// Opens the containers that begin at the cursor, and moves over their markers.
    pub(super) fn open(&mut self, cursor: &mut Cursor<'_>) {
        while self.0.len() < CONTAINERS_MAX && cursor.indent() < CODE_INDENT {
            let container = if cursor.take_quote() {
                Container::Quote
            } else if let Some(width) = cursor.take_item() {
                Container::Item(width)
            } else {
                return;
            };
            self.0.push(container);
        }
    }

    /// Returns whether a container begins at the cursor.
    pub(super) fn begin_at(mut cursor: Cursor<'_>) -> bool {
        cursor.indent() < CODE_INDENT && (cursor.take_quote() || cursor.take_item().is_some())
    }

    /// Ends all but the outer ones.
    pub(super) fn close_after(&mut self, kept: usize) {
        self.0.truncate(kept);
    }

    pub(super) const fn depth(&self) -> usize {
        self.0.len()
    }
}

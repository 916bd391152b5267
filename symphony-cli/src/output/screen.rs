//! The alternate screen of a terminal, for what is redrawn again and again.

use std::io::{self, IsTerminal as _};
use std::time::Duration;

use symphony_view::text::{View, one_line};

use super::stream::Output;
use super::terminal::{self, Size};

/// The alternate screen, without a cursor: what was on the terminal comes back at the end.
const OPEN: &str = "\u{1b}[?1049h\u{1b}[?25l";
const CLOSE: &str = "\u{1b}[?25h\u{1b}[?1049l";
/// To the first place.
const HOME: &str = "\u{1b}[H";
/// Removes what is right of the cursor, so that a shorter line leaves nothing of the longer one before it.
const CLEAR_LINE: &str = "\u{1b}[K";
/// Removes what is below the cursor.
const CLEAR_BELOW: &str = "\u{1b}[J";
/// The size of a terminal that does not say it.
const SIZE_UNKNOWN: Size = Size {
    rows: 24,
    columns: 80,
};

/// A screen that is redrawn; the terminal is as it was when this is dropped.
#[derive(Debug)]
pub(crate) struct Screen {
    out: Output,
}

impl Screen {
    /// Opens it; none when standard output is no terminal that can be redrawn, or JSON is wanted.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub(crate) fn open(out: Output) -> anyhow::Result<Option<Self>> {
        if out.is_json() || !io::stdout().is_terminal() || !terminal::is_movable() {
            return Ok(None);
        }
        out.write_raw(OPEN.as_bytes())?;
        Ok(Some(Self { out }))
    }

    /// Draws a view, cut to the height of the terminal.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub(crate) fn draw<T: View>(&mut self, view: &T, interval: Duration) -> anyhow::Result<()> {
        let size = size();
        let text = self.out.text_of(view, Some(size.columns));
        let foot = format!("Every {}s; Ctrl-C ends it.", interval.as_secs());
        let frame = frame(&text, &foot, size);
        self.out.write_raw(frame.as_bytes())
    }

    /// Says in the last line why there is nothing new; the frame above stays.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub(crate) fn draw_problem(&mut self, problem: &str) -> anyhow::Result<()> {
        let Size { rows, columns } = size();
        let problem = one_line(problem);
        let line = terminal::cut(&problem, columns);
        let text = format!("\u{1b}[{rows};1H{line}{CLEAR_LINE}");
        self.out.write_raw(text.as_bytes())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // a terminal that is gone needs no restoring
        let _unwritten = self.out.write_raw(CLOSE.as_bytes());
    }
}

fn size() -> Size {
    terminal::size().unwrap_or(SIZE_UNKNOWN)
}

/// Returns a frame: the lines that fit above a last one, which says how many do not.
fn frame(text: &str, foot: &str, size: Size) -> String {
    let room = usize::from(size.rows).saturating_sub(1);
    let mut frame = String::from(HOME);
    let mut taken = 0;
    let mut shown = 0;
    for line in text.lines() {
        let height = terminal::height(line, size.columns);
        if taken + height > room {
            break;
        }
        taken += height;
        shown += 1;
        frame.push_str(line);
        frame.push_str(CLEAR_LINE);
        frame.push_str("\r\n");
    }
    frame.push_str(CLEAR_BELOW);
    let hidden = text.lines().count() - shown;
    let last = match hidden {
        0 => foot.to_owned(),
        1 => format!("1 line more. {foot}"),
        hidden => format!("{hidden} lines more. {foot}"),
    };
    let last = terminal::cut(&last, size.columns);
    frame.push_str(&format!("\u{1b}[{};1H{last}", size.rows));
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, rows: u16, columns: u16) -> String {
        let frame = frame(text, "foot", Size { rows, columns });
        anstream::adapter::strip_str(&frame).to_string()
    }

    #[test]
    fn a_frame_is_never_higher_than_the_screen() {
        assert_eq!(shown("a\nb\n", 3, 20), "a\r\nb\r\nfoot");
        assert_eq!(shown("a\nb\nc\nd\n", 3, 20), "a\r\nb\r\n2 lines more. foot");
        assert_eq!(shown("0123456789\nb\nc\n", 3, 5), "0123456789\r\n2 lin");
        assert_eq!(shown("", 1, 10), "foot");
    }
}

//! Standard output and standard error of a command.

use std::io::{self, IsTerminal as _, Write as _};

use owo_colors::OwoColorize as _;
use serde::Serialize;
use symphony_runner::output::neutralised;
use symphony_view::text::{Clock, Document, Page, View, one_line};

use super::pager::{self, Paging};
use super::terminal::{self, is_movable};
use crate::failure::Context as _;

/// What fails when standard output cannot be written.
const WRITE: &str = "write the answer";
/// How much of a long document is written at once.
const BUFFER_BYTES: usize = 64 * 1024;
/// Narrowest width that tables are fitted to: below it they are unreadable either way.
const WIDTH_MIN: u16 = 40;

/// Where a command's answer goes, and in which form.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    json: bool,
    quiet: bool,
    paging: Paging,
}

impl Output {
    /// Makes the output of a command.
    pub(crate) const fn new(json: bool, quiet: bool, paging: Paging) -> Self {
        Self {
            json,
            quiet,
            paging,
        }
    }

    /// Says whether answers are JSON.
    pub(crate) const fn is_json(self) -> bool {
        self.json
    }

    /// Says whether only the answer is wanted.
    pub(crate) const fn is_quiet(self) -> bool {
        self.quiet
    }

    /// Says whether someone watches: progress may move.
    pub(crate) fn is_watched(self) -> bool {
        !self.json && !self.quiet && io::stderr().is_terminal() && is_movable()
    }

    /// Answers with a view: a JSON document, or text.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub(crate) fn answer<T: View>(self, view: &T) -> anyhow::Result<()> {
        if self.json {
            return self.json(view);
        }
        self.write(&text_of(view, terminal_width()))
    }

    /// Answers with a view that a person reads through: on a terminal that is too small for it, in a pager.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub(crate) fn answer_long<T: View>(self, view: &T) -> anyhow::Result<()> {
        if self.json {
            return self.json(view);
        }
        self.write_long(&text_of(view, terminal_width()))
    }

    /// Writes a text that a person reads through.
    ///
    /// # Errors
    /// When standard output cannot be written.
    fn write_long(self, text: &str) -> anyhow::Result<()> {
        let mut long = self.long();
        long.write(text)?;
        long.finish()
    }

    /// Says whether a long answer may go through a pager.
    pub(super) fn may_scroll(self) -> bool {
        self.paging == Paging::Auto && pager::is_of_use()
    }

    /// Returns the text of a view as a terminal of a width shows it, colours included where they are on.
    #[expect(clippy::unused_self, reason = "the form of a view is the output's")]
    pub(crate) fn text_of<T: View>(self, view: &T, width: Option<u16>) -> String {
        terminal::coloured(text_of(view, width))
    }

    /// Answers with what a command did: a JSON document, or a sentence that `--quiet` leaves out.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub(crate) fn done<T: Serialize>(self, view: &T, sentence: &str) -> anyhow::Result<()> {
        if self.json {
            return self.json(view);
        }
        if self.quiet {
            Ok(())
        } else {
            self.write(&format!("{}\n", one_line(sentence)))
        }
    }

    /// Answers with a JSON document, asked for or not: for commands that programs read.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub(crate) fn json<T: Serialize>(self, view: &T) -> anyhow::Result<()> {
        self.document(&Document::of(view))
    }

    /// Answers with a JSON document that is written while it is made, so that its size needs no memory. What was written stays when
    /// it cannot be finished.
    ///
    /// # Errors
    /// When standard output cannot be written, or the document cannot be made.
    #[expect(clippy::unused_self, reason = "all writing goes through the output")]
    pub(crate) fn json_as_it_comes<T: Serialize>(self, view: &T) -> anyhow::Result<()> {
        // JSON has no escape sequences that a filter of colours could take out.
        let mut stdout = io::BufWriter::with_capacity(BUFFER_BYTES, io::stdout().lock());
        serde_json::to_writer_pretty(&mut stdout, &Document::of(view))
            .map_err(io::Error::from)
            .and_then(|()| stdout.write_all(b"\n"))
            .and_then(|()| stdout.flush())
            .context(WRITE)
    }

    /// Writes one object of a stream as one line.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub(crate) fn event<T: Serialize>(self, event: &T) -> anyhow::Result<()> {
        self.write(&format!("{}\n", self.event_line(event)?))
    }

    /// Returns one object of a stream as a line, without its end.
    ///
    /// # Errors
    /// When the object cannot be written as JSON.
    #[expect(clippy::unused_self, reason = "the form of objects is the output's")]
    pub(crate) fn event_line<T: Serialize>(self, event: &T) -> anyhow::Result<String> {
        Ok(serde_json::to_string(&Document::of(event))?)
    }

    /// Writes a document whose whole form another page of the specification fixes, without a version of ours.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub(crate) fn document<T: Serialize>(self, document: &T) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(document)?;
        self.write(&format!("{text}\n"))
    }

    /// Writes a text for programs (completions, a schema, raw logs) unchanged.
    ///
    /// # Errors
    /// When standard output cannot be written.
    #[expect(clippy::unused_self, reason = "all writing goes through the output")]
    pub(crate) fn write(self, text: &str) -> anyhow::Result<()> {
        let mut stdout = anstream::stdout().lock();
        let written = stdout.write_all(text.as_bytes());
        written.and_then(|()| stdout.flush()).context(WRITE)
    }

    /// Writes a text whose form is fixed, byte for byte; on a terminal its control characters are made visible.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub(crate) fn write_exact(self, text: &str) -> anyhow::Result<()> {
        if io::stdout().is_terminal() {
            self.write(&neutralised(text))
        } else {
            self.write_raw(text.as_bytes())
        }
    }

    /// Writes bytes unchanged, without the filter of colours.
    ///
    /// # Errors
    /// When standard output cannot be written.
    #[expect(clippy::unused_self, reason = "all writing goes through the output")]
    pub(crate) fn write_raw(self, bytes: &[u8]) -> anyhow::Result<()> {
        let mut stdout = io::stdout().lock();
        let written = stdout.write_all(bytes);
        written.and_then(|()| stdout.flush()).context(WRITE)
    }

    /// Warns a person on standard error, with `--quiet` too.
    #[expect(clippy::unused_self, reason = "all writing goes through the output")]
    pub(crate) fn warn(self, text: &str) {
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let first = one_line(lines.next().unwrap_or_default());
        let mut line = format!("{} {first}\n", "warning:".yellow().bold());
        for more in lines {
            line.push_str(&format!("  {}\n", one_line(more)));
        }
        // when standard error is closed, no one can read a message
        let _unwritten = anstream::stderr().lock().write_all(line.as_bytes());
    }

    /// Tells a person something beside the answer, on standard error; nothing with `--quiet`.
    pub(crate) fn note(self, text: &str) {
        if !self.quiet {
            let line = format!("{}\n", one_line(text));
            // when standard error is closed, no one can read a message
            let _unwritten = anstream::stderr().lock().write_all(line.as_bytes());
        }
    }
}

/// Returns the width of the terminal that standard output is; none when it is not one.
fn terminal_width() -> Option<u16> {
    if !io::stdout().is_terminal() {
        return None;
    }
    terminal::size().map(|size| size.columns.max(WIDTH_MIN))
}

/// Writes a view as a page.
fn text_of<T: View>(view: &T, width: Option<u16>) -> String {
    let mut page = Page::new(width, Clock::system());
    view.write(&mut page);
    page.into_text()
}

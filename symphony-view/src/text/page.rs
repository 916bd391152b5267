//! A page of text under construction.

use owo_colors::OwoColorize as _;
use symphony_core::Timestamp;
use symphony_runner::output::neutralised;

use super::line::{one_line, wrapped};
use super::table::Table;
use super::time::Clock;
use super::tone::painted_diff;

/// Text for a person. What is added is neutralised here, so that views may pass stored texts as they are.
#[derive(Debug)]
pub struct Page {
    text: String,
    width: Option<u16>,
    clock: Clock,
}

impl Page {
    /// Begins a page for a terminal of a width; none: lines are not wrapped.
    pub const fn new(width: Option<u16>, clock: Clock) -> Self {
        Self {
            text: String::new(),
            width,
            clock,
        }
    }

    /// Returns the time that ages are counted from.
    pub const fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns what times are shown against.
    pub const fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Adds one line.
    pub fn line(&mut self, text: &str) {
        self.text.push_str(&one_line(text));
        self.text.push('\n');
    }

    /// Adds a text; each line of it but the first is indented, and so is what does not fit the terminal's width.
    pub fn hanging(&mut self, indent: usize, text: &str) {
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        self.wrapped_line(indent, lines.next().unwrap_or_default());
        for line in lines {
            self.wrapped_line(indent, &format!("{:indent$}{line}", ""));
        }
    }

    fn wrapped_line(&mut self, indent: usize, line: &str) {
        let line = one_line(line);
        match self.width {
            Some(width) => self
                .text
                .push_str(&wrapped(&line, usize::from(width), indent)),
            None => self.text.push_str(&line),
        }
        self.text.push('\n');
    }

    /// Adds an empty line, unless the page begins here or the last line is empty.
    pub fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// Adds a heading after an empty line.
    pub fn heading(&mut self, text: &str) {
        self.gap();
        self.text.push_str(&format!("{}\n", one_line(text).bold()));
    }

    /// Adds a named value; nothing when the value is empty.
    pub fn field(&mut self, name: &str, value: &str) {
        if !value.is_empty() {
            self.text
                .push_str(&format!("{:<14}{}\n", one_line(name), one_line(value)));
        }
    }

    /// Adds a text of several lines, each indented.
    pub fn block(&mut self, text: &str) {
        for line in neutralised(text.trim_end()).lines() {
            if !line.is_empty() {
                self.text.push_str("  ");
                self.text.push_str(line);
            }
            self.text.push('\n');
        }
    }

    /// Adds a text as it is, apart from control characters.
    pub fn verbatim(&mut self, text: &str) {
        self.text.push_str(&neutralised(text));
        if !text.is_empty() && !text.ends_with('\n') {
            self.text.push('\n');
        }
    }

    /// Adds a diff.
    pub fn diff(&mut self, text: &str) {
        for line in neutralised(text).lines() {
            self.text.push_str(&painted_diff(line));
            self.text.push('\n');
        }
    }

    /// Adds a table.
    pub fn table(&mut self, table: &Table) {
        self.text.push_str(&table.render(self.width));
    }

    /// Returns the text.
    pub fn into_text(self) -> String {
        self.text
    }
}

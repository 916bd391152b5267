//! The log of the service: lines of `key=value`, to a file and to whoever watches (section 13.1).

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use symphony_core::Timestamp;

/// Size at which the file is begun again; the part before is kept beside it.
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Longest value, in characters.
const VALUE_CHARS_MAX: usize = 500;

/// How much a line matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Something went on as it should.
    Info,
    /// Something is wrong, and the service goes on.
    Warning,
}

/// A line before it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    level: LogLevel,
    text: String,
    event: &'static str,
    /// What was added, shortened, in its order.
    values: Vec<(&'static str, String)>,
}

/// Which ticket and session a line is about.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct About<'a> {
    pub(crate) id: &'a str,
    pub(crate) identifier: &'a str,
    pub(crate) session: Option<&'a str>,
}

impl LogLine {
    /// Begins a line with what happened, in a word or two.
    pub(crate) fn new(level: LogLevel, event: &'static str) -> Self {
        let word = match level {
            LogLevel::Info => "info",
            LogLevel::Warning => "warning",
        };
        let line = Self {
            level,
            text: format!("level={word}"),
            event,
            values: Vec::new(),
        };
        line.with("event", event)
    }

    pub(crate) fn info(event: &'static str) -> Self {
        Self::new(LogLevel::Info, event)
    }

    pub(crate) fn warning(event: &'static str) -> Self {
        Self::new(LogLevel::Warning, event)
    }

    /// Adds a value. What could be taken for another value, or for another line, is quoted.
    pub(crate) fn with(mut self, key: &'static str, value: &str) -> Self {
        let short: String = value.chars().take(VALUE_CHARS_MAX).collect();
        let is_plain =
            |c: char| !c.is_whitespace() && !c.is_control() && !matches!(c, '"' | '=' | '\\');
        let written = if !short.is_empty() && short.chars().all(is_plain) {
            write!(self.text, " {key}={short}")
        } else {
            write!(self.text, " {key}={short:?}")
        };
        written.expect("writing to a string cannot fail");
        self.values.push((key, short));
        self
    }

    pub(crate) fn about(self, about: About<'_>) -> Self {
        let line = self
            .with("issue_id", about.id)
            .with("issue_identifier", about.identifier);
        match about.session {
            Some(session) => line.with("session_id", session),
            None => line,
        }
    }

    /// Returns how much it matters.
    pub fn level(&self) -> LogLevel {
        self.level
    }

    /// Returns what happened, in a word or two.
    pub(super) fn event(&self) -> &'static str {
        self.event
    }

    /// Returns a value that was added, shortened.
    pub(super) fn value(&self, key: &str) -> Option<&str> {
        let found = self.values.iter().find(|(name, _)| *name == key);
        found.map(|(_, value)| value.as_str())
    }

    /// Returns the line as a person reads it. It may hold what trackers and agents wrote: whoever prints it cleans it.
    pub fn sentence(&self) -> String {
        super::sentence::sentence(self)
    }

    /// Returns the line, without its time.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// The log.
pub struct Log {
    path: PathBuf,
    file: Option<File>,
    bytes: u64,
    /// Whether it was reported that the file cannot be written.
    is_reported: bool,
    watcher: Box<dyn FnMut(&LogLine)>,
}

impl std::fmt::Debug for Log {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Log")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl Log {
    /// Makes a log whose file is opened with the first line: its folder may not exist before. A file that cannot be opened
    /// is reported to the watcher, and opened again later.
    pub fn new(path: PathBuf, watcher: Box<dyn FnMut(&LogLine)>) -> Self {
        Self {
            path,
            file: None,
            bytes: 0,
            is_reported: false,
            watcher,
        }
    }

    fn open_file(&mut self) {
        let mut options = OpenOptions::new();
        options.append(true).create(true).mode(0o600);
        let opened = options.open(&self.path);
        match opened.and_then(|file| Ok((file.metadata()?.len(), file))) {
            Ok((bytes, file)) => {
                self.bytes = bytes;
                self.file = Some(file);
                self.is_reported = false;
            }
            Err(error) => self.report(&error),
        }
    }

    /// Says once that the file cannot be written, as long as that lasts.
    fn report(&mut self, error: &std::io::Error) {
        self.file = None;
        if !std::mem::replace(&mut self.is_reported, true) {
            let line = LogLine::warning("log_failed")
                .with("path", &self.path.display().to_string())
                .with("error", &error.to_string());
            (self.watcher)(&line);
        }
    }

    /// Writes a line. A log that cannot be written ends nothing.
    pub(crate) fn write(&mut self, line: &LogLine) {
        (self.watcher)(line);
        if self.bytes > FILE_BYTES_MAX {
            let _kept = fs::rename(&self.path, self.path.with_extension("old.log"));
            self.file = None;
        }
        if self.file.is_none() {
            self.open_file();
        }
        let text = format!("{} {}\n", Timestamp::now(), line.text());
        if let Some(file) = &mut self.file {
            match file.write_all(text.as_bytes()) {
                Ok(()) => self.bytes += u64::try_from(text.len()).unwrap_or(0),
                Err(error) => self.report(&error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;

    #[test]
    fn values_cannot_be_taken_for_other_values_or_lines() {
        let about = About {
            id: "i-1",
            identifier: "ABC-1",
            session: Some("t-u"),
        };
        let line = LogLine::info("session_started")
            .about(about)
            .with("error", "a=b\nlevel=info \"x\"")
            .with("empty", "");
        assert_eq!(
            line.text(),
            "level=info event=session_started issue_id=i-1 issue_identifier=ABC-1 session_id=t-u \
             error=\"a=b\\nlevel=info \\\"x\\\"\" empty=\"\""
        );
        let long = LogLine::info("x").with("k", &"y".repeat(10_000));
        assert!(long.text().len() < 600);
    }

    #[test]
    fn a_log_that_cannot_be_written_is_reported_once_and_ends_nothing() {
        let seen = Rc::new(RefCell::new(Vec::new()));
        let kept = Rc::clone(&seen);
        let watcher =
            Box::new(move |line: &LogLine| kept.borrow_mut().push(line.text().to_owned()));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("later/service.log");
        let mut log = Log::new(path.clone(), watcher);
        log.write(&LogLine::info("a"));
        log.write(&LogLine::info("b"));
        let failed = |seen: &[String]| seen.iter().filter(|l| l.contains("log_failed")).count();
        assert_eq!((failed(&seen.borrow()), seen.borrow().len()), (1, 3));
        fs::create_dir(folder.path().join("later")).unwrap();
        log.write(&LogLine::info("c"));
        assert!(
            fs::read_to_string(&path)
                .unwrap()
                .ends_with(" level=info event=c\n")
        );
    }
}

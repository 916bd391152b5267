//! The formatted log of a run, and the end of it in memory.

use std::borrow::Cow;
use std::sync::Arc;

use symphony_core::Timestamp;
use symphony_workspace::Redactor;

use crate::output::{CappedLog, Tail};

/// A log whose lines have the time of day, and no secrets.
#[derive(Debug)]
pub(super) struct RunLog {
    file: CappedLog,
    tail: Tail,
    clock: Clock,
    redactor: Option<Arc<Redactor>>,
}

impl RunLog {
    pub(super) fn new(file: CappedLog, tail: Tail, redactor: Option<Arc<Redactor>>) -> Self {
        Self {
            file,
            tail,
            clock: Clock::default(),
            redactor,
        }
    }

    /// Writes a line, without its secrets.
    pub(super) fn line(&mut self, line: &mut String, now: Timestamp) {
        // Redacted again, because the escapes of the stream are only resolved now.
        redact_string(self.redactor.as_deref(), line);
        self.tail.push(line.as_bytes());
        self.tail.push(b"\n");
        let time = self.clock.text(now);
        let parts = [time, " ", line.as_str(), "\n"];
        let _a_full_disk_ends_no_agent = parts
            .iter()
            .try_for_each(|part| self.file.write(part.as_bytes()));
    }

    /// Returns the end of the log.
    pub(super) fn tail(&self) -> &Tail {
        &self.tail
    }

    pub(super) fn flush(&mut self) {
        let _a_full_disk_ends_no_agent = self.file.flush();
    }
}

/// Removes secret values from a text.
pub(super) fn redact_string(redactor: Option<&Redactor>, text: &mut String) {
    let clean = redactor.map(|redactor| redactor.redact_text(text));
    if let Some(Cow::Owned(clean)) = clean {
        *text = clean;
    }
}

/// The time of day for a log line, formatted once per second.
#[derive(Debug, Default)]
struct Clock {
    second: Option<i64>,
    text: String,
}

impl Clock {
    fn text(&mut self, now: Timestamp) -> &str {
        let second = Some(now.as_second());
        if self.second != second {
            self.second = second;
            self.text = now.strftime("%H:%M:%S").to_string();
        }
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_day_is_that_of_the_second() {
        let mut clock = Clock::default();
        for (time, told) in [
            ("2026-06-01T09:59:58.001Z", "09:59:58"),
            ("2026-06-01T09:59:58.999Z", "09:59:58"),
            ("2026-06-01T09:59:59Z", "09:59:59"),
            ("2026-06-02T09:59:59Z", "09:59:59"),
            // The clock was set back.
            ("2026-06-01T08:00:00Z", "08:00:00"),
        ] {
            assert_eq!(clock.text(time.parse().unwrap()), told, "{time}");
        }
    }
}

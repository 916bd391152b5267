//! What a worker has reported so far: the events of its file, folded as they come.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use serde_json::Value;
use symphony_core::Timestamp;

use crate::attempt::{AttemptEvent, EventKind, Usage};

/// Events that are shown of a worker.
const RECENT_MAX: usize = 20;
/// Most bytes that are read at once. What is longer is read at the next look.
const READ_BYTES_MAX: u64 = 1024 * 1024;
/// Longest line that is an event; the worker writes shorter ones.
const LINE_BYTES_MAX: usize = 256 * 1024;

/// What a worker has reported.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Progress {
    offset: u64,
    partial: Vec<u8>,
    /// The last session.
    pub(crate) session: Option<String>,
    /// The process of the app-server.
    pub(crate) pid: Option<i32>,
    /// Turns that it began.
    pub(crate) turns: u32,
    /// What it used.
    pub(crate) usage: Usage,
    /// Limits of rates.
    pub(crate) rate_limits: Option<Value>,
    /// The last event that had one of these, the newest last.
    pub(crate) recent: VecDeque<Reported>,
    /// When something was reported last.
    pub(crate) last_at: Option<Timestamp>,
}

/// An event as people see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reported {
    pub(crate) at: Timestamp,
    pub(crate) event: EventKind,
    pub(crate) message: String,
}

impl Progress {
    /// Reads what is new in a file and returns it. A file that is not there has nothing.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn read(&mut self, path: &Path) -> io::Result<Vec<AttemptEvent>> {
        let mut file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        if file.metadata()?.len() < self.offset {
            // the worker began a new file, because the old one was long
            self.offset = 0;
            self.partial.clear();
        }
        file.seek(SeekFrom::Start(self.offset))?;
        let mut bytes = Vec::new();
        file.take(READ_BYTES_MAX).read_to_end(&mut bytes)?;
        self.offset += u64::try_from(bytes.len()).unwrap_or(0);
        Ok(self.take(&bytes))
    }

    fn take(&mut self, bytes: &[u8]) -> Vec<AttemptEvent> {
        let mut found = Vec::new();
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (line, after) = rest.split_at(end);
            self.partial.extend_from_slice(line);
            rest = after.get(1..).unwrap_or_default();
            let line = std::mem::take(&mut self.partial);
            if let Ok(event) = serde_json::from_slice::<AttemptEvent>(&line) {
                self.fold(&event);
                found.push(event);
            }
        }
        if self.partial.len() + rest.len() <= LINE_BYTES_MAX {
            self.partial.extend_from_slice(rest);
        }
        found
    }

    fn fold(&mut self, event: &AttemptEvent) {
        self.session = event.session_id().or_else(|| self.session.take());
        self.pid = event.pid.or(self.pid);
        self.turns = self.turns.max(event.turn_count);
        if let Some(usage) = event.usage {
            // absolute totals never shrink: a late message has no say
            self.usage = Usage {
                input_tokens: self.usage.input_tokens.max(usage.input_tokens),
                output_tokens: self.usage.output_tokens.max(usage.output_tokens),
                total_tokens: self.usage.total_tokens.max(usage.total_tokens),
            };
        }
        if event.rate_limits.is_some() {
            self.rate_limits.clone_from(&event.rate_limits);
        }
        self.last_at = Some(event.at);
        if self.recent.len() == RECENT_MAX {
            self.recent.pop_front();
        }
        self.recent.push_back(Reported {
            at: event.at,
            event: event.event,
            message: event.message.clone(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn line(ms: i64, total: u64, turns: u32) -> String {
        let event = AttemptEvent {
            event: EventKind::Notification,
            at: Timestamp::from_millisecond(ms).unwrap(),
            pid: Some(7),
            thread_id: Some("t".to_owned()),
            turn_id: Some(format!("u{turns}")),
            turn_count: turns,
            usage: Some(Usage {
                input_tokens: total,
                output_tokens: 1,
                total_tokens: total + 1,
            }),
            rate_limits: None,
            message: format!("m{ms}"),
        };
        format!("{}\n", serde_json::to_string(&event).unwrap())
    }

    #[test]
    fn events_are_folded_whatever_the_pieces_are() {
        let text = format!(
            "{}rubbish\n{}{}",
            line(1, 10, 1),
            line(2, 30, 2),
            line(3, 20, 2)
        );
        for piece in [1, 7, 64, text.len()] {
            let mut progress = Progress::default();
            let mut count = 0;
            for bytes in text.as_bytes().chunks(piece) {
                count += progress.take(bytes).len();
            }
            assert_eq!(count, 3);
            assert_eq!(progress.session.as_deref(), Some("t-u2"));
            // absolute totals, so nothing is counted twice and nothing shrinks
            assert_eq!(progress.usage.total_tokens, 31);
            assert_eq!((progress.turns, progress.recent.len()), (2, 3));
            assert_eq!(progress.last_at, Timestamp::from_millisecond(3).ok());
        }
    }

    #[test]
    fn a_file_is_read_from_where_it_ended_and_again_when_it_was_begun_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        let mut progress = Progress::default();
        assert_eq!(progress.read(&path).unwrap(), []);
        fs::write(&path, line(1, 10, 1)).unwrap();
        assert_eq!(progress.read(&path).unwrap().len(), 1);
        assert_eq!(progress.read(&path).unwrap().len(), 0);
        fs::write(&path, "").unwrap();
        assert_eq!(progress.read(&path).unwrap().len(), 0);
        fs::write(&path, line(2, 11, 1)).unwrap();
        assert_eq!(progress.read(&path).unwrap().len(), 1);
        assert_eq!(progress.usage.total_tokens, 12);
    }

    #[test]
    fn a_flood_without_a_line_break_is_not_kept() {
        let mut progress = Progress::default();
        for _ in 0..100 {
            progress.take(&vec![b'x'; 100_000]);
        }
        assert!(progress.partial.len() <= LINE_BYTES_MAX);
        let number = progress.recent.len();
        progress.take(format!("\n{}", line(1, 1, 1)).as_bytes());
        assert_eq!(progress.recent.len(), number + 1);
    }
}

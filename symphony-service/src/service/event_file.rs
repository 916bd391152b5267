//! The file of a worker's events: bounded, and complete for whoever reads only its newest part.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use serde_json::Value;

use crate::attempt::{AttemptEvent, Usage};

/// Size at which the file is begun again; the part before is kept beside it.
const FILE_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Longest message of an event, in characters.
const MESSAGE_CHARS_MAX: usize = 2000;

/// The file of a worker's events.
#[derive(Debug)]
pub(crate) struct EventFile {
    path: PathBuf,
    file: Option<File>,
    bytes: u64,
    usage: Option<Usage>,
    rate_limits: Option<Value>,
    turns: u32,
    /// Whether the next event repeats what is known, because it is the first of a file.
    is_first: bool,
}

impl EventFile {
    /// Begins the file. A worker whose file cannot be written works on: people see less of it.
    pub(crate) fn create(path: PathBuf) -> Self {
        let mut file = Self {
            path,
            file: None,
            bytes: 0,
            usage: None,
            rate_limits: None,
            turns: 0,
            is_first: true,
        };
        file.begin();
        file
    }

    fn begin(&mut self) {
        let mut options = OpenOptions::new();
        options.append(true).create(true).mode(0o600);
        self.file = options.open(&self.path).ok();
        self.bytes = self
            .file
            .as_ref()
            .and_then(|file| file.metadata().ok())
            .map_or(0, |meta| meta.len());
        self.is_first = true;
    }

    /// Appends an event.
    pub(crate) fn write(&mut self, mut event: AttemptEvent) {
        self.turns = self.turns.max(event.turn_count);
        event.turn_count = self.turns;
        self.usage = event.usage.or(self.usage);
        if event.rate_limits.is_some() {
            self.rate_limits.clone_from(&event.rate_limits);
        }
        if self.bytes > FILE_BYTES_MAX {
            // A rename alone would leave a reader with the old file open; readers open it at each look, and see that it is
            // shorter.
            let _kept = fs::rename(&self.path, self.path.with_extension("old.jsonl"));
            self.begin();
        }
        if std::mem::take(&mut self.is_first) {
            event.usage = self.usage;
            event.rate_limits.clone_from(&self.rate_limits);
        }
        event.message = one_line(&event.message);
        let Ok(mut line) = serde_json::to_vec(&event) else {
            return;
        };
        line.push(b'\n');
        self.bytes += u64::try_from(line.len()).unwrap_or(0);
        if let Some(file) = &mut self.file {
            // a full disk ends no agent
            let _unwritten = file.write_all(&line);
        }
    }
}

fn one_line(text: &str) -> String {
    let clean = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    clean.take(MESSAGE_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attempt::EventKind;
    use crate::service::progress::Progress;
    use serde_json::json;
    use symphony_core::Timestamp;

    fn event(message: &str) -> AttemptEvent {
        AttemptEvent {
            event: EventKind::Notification,
            at: Timestamp::UNIX_EPOCH,
            pid: None,
            thread_id: None,
            turn_id: None,
            turn_count: 0,
            usage: None,
            rate_limits: None,
            message: message.to_owned(),
        }
    }

    #[test]
    fn a_long_session_keeps_its_totals_and_its_file_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        let mut file = EventFile::create(path.clone());
        file.write(AttemptEvent {
            usage: Some(Usage {
                input_tokens: 3,
                output_tokens: 4,
                total_tokens: 7,
            }),
            rate_limits: Some(json!({"primary": 1})),
            turn_count: 2,
            ..event("first")
        });
        let long = format!("a\nb{}", "x".repeat(5000));
        for _ in 0..5000 {
            file.write(event(&long));
        }
        assert!(fs::metadata(&path).unwrap().len() < FILE_BYTES_MAX + 10_000);
        let mut progress = Progress::default();
        while !progress.read(&path).unwrap().is_empty() {}
        assert_eq!(progress.usage.total_tokens, 7);
        assert_eq!(progress.rate_limits, Some(json!({"primary": 1})));
        assert_eq!(progress.turns, 2);
        assert!(
            progress
                .recent
                .iter()
                .all(|one| !one.message.contains('\n'))
        );
    }

    #[test]
    fn a_file_that_cannot_be_written_ends_nothing() {
        let mut file = EventFile::create("/nonexistent/events.jsonl".into());
        file.write(event("x"));
    }
}

//! Parts of a run's log, drawn line by line.

use std::path::PathBuf;

use maud::Markup;
use symphony_core::Timestamp;
use symphony_core::id::RunId;
use symphony_core::run::Run;
use symphony_runner::output::{LastLine, LogReader, ReadPart};
use symphony_runner::paths::RunPaths;
use symphony_runner::session::Session;
use symphony_view::LogDay;

use crate::render::log::log_line_at;
use crate::server::Failure;

/// Bytes of a log that are drawn at once.
const PART_BYTES: usize = 128 * 1024;

/// Some lines of a log.
#[derive(Debug, Default)]
pub(crate) struct LogPart {
    /// The logical offset of the first line.
    pub(crate) start: u64,
    /// The logical offset behind the last line.
    pub(crate) next: u64,
    /// The lines, each a whole element.
    pub(crate) lines: Vec<Markup>,
}

/// The log of a run, and how to read it.
#[derive(Debug, Clone)]
pub(crate) struct RunLog {
    run: RunId,
    started_at: Timestamp,
    pub(crate) path: PathBuf,
}

impl RunLog {
    pub(crate) fn of(session: &Session, run: &Run) -> Result<Self, Failure> {
        let project = session.store.project(&run.project)?;
        Ok(Self {
            run: run.id.clone(),
            started_at: run.started_at,
            path: RunPaths::new(&project.root, &run.id).log(),
        })
    }

    fn read(
        &self,
        read: impl FnOnce(&LogReader) -> std::io::Result<ReadPart>,
    ) -> Result<LogPart, Failure> {
        let failed =
            |error: std::io::Error| Failure::Internal(format!("the log cannot be read: {error}"));
        let Some(reader) = LogReader::open(&self.path).map_err(failed)? else {
            return Ok(LogPart::default());
        };
        let part = read(&reader).map_err(failed)?;
        let mut day = self.day_of(&reader, &part).map_err(failed)?;
        let lines = part.lines.iter().zip(&part.offsets).map(|(line, offset)| {
            let text = String::from_utf8_lossy(line);
            log_line_at(&day.parsed(&self.run, &text), *offset)
        });
        Ok(LogPart {
            lines: lines.collect(),
            start: part.start,
            next: part.next,
        })
    }

    /// Returns the day on which a part begins. At the end of a log it follows from the time at which the file was last written; further up
    /// it is the first day of the run, since the lines say the time of the day only.
    fn day_of(&self, reader: &LogReader, part: &ReadPart) -> std::io::Result<LogDay> {
        let start = LogDay::starting(self.started_at);
        let left = reader.written().saturating_sub(part.next);
        if part.start == 0 || left >= PART_BYTES as u64 {
            return Ok(start);
        }
        let mut read = start.clone();
        for line in &part.lines {
            read.parsed(&self.run, &String::from_utf8_lossy(line));
        }
        let end = reader.changed_at()?;
        Ok(LogDay::ending(self.started_at, &read, end))
    }

    /// Reads what comes after an offset.
    pub(crate) fn after(&self, offset: u64, last: LastLine) -> Result<LogPart, Failure> {
        self.read(|reader| reader.after(offset, PART_BYTES, last))
    }
}

const fn last_line(run: &Run) -> LastLine {
    if run.status.is_live() {
        LastLine::MayGrow
    } else {
        LastLine::IsWhole
    }
}

/// Reads the end of a run's log.
pub(crate) fn tail_of(session: &Session, run: &Run) -> Result<LogPart, Failure> {
    RunLog::of(session, run)?.read(|reader| reader.tail(PART_BYTES, last_line(run)))
}

/// Reads the lines of a run's log from one on, to which somebody has a link.
pub(crate) fn lines_from(session: &Session, run: &Run, offset: u64) -> Result<LogPart, Failure> {
    RunLog::of(session, run)?.after(offset, last_line(run))
}

/// Reads the lines of a run's log before an offset.
pub(crate) fn lines_before(session: &Session, run: &Run, offset: u64) -> Result<LogPart, Failure> {
    RunLog::of(session, run)?.read(|reader| reader.before(offset, PART_BYTES))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn the_end_of_a_long_log_is_on_the_day_on_which_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let early = "08:00:00 [text] begun\n".repeat(PART_BYTES / 10);
        std::fs::write(&path, format!("{early}09:30:00 [text] three days later\n")).unwrap();
        let written: Timestamp = "2026-03-04T09:30:01Z".parse().unwrap();
        let since_epoch = u64::try_from(written.as_millisecond()).unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_millis(since_epoch))
            .unwrap();

        let log = RunLog {
            run: RunId::parse("r1").unwrap(),
            started_at: "2026-03-01T08:00:00Z".parse().unwrap(),
            path,
        };
        let drawn = |part: LogPart| part.lines.last().unwrap().0.clone();
        let tail = log
            .read(|reader| reader.tail(PART_BYTES, LastLine::IsWhole))
            .unwrap();
        let after = log.after(tail.start, LastLine::IsWhole).unwrap();
        for last in [drawn(tail), drawn(after)] {
            assert!(last.contains("2026-03-04T09:30:00"), "{last}");
        }
        let first = drawn(log.after(0, LastLine::IsWhole).unwrap());
        assert!(first.contains("2026-03-01T08:00:00"), "{first}");
    }
}

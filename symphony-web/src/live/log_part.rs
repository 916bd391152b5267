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
        let mut day = LogDay::starting(self.started_at);
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

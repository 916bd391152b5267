//! `symphony runs logs`.

use std::time::Duration;

use clap::Args;
use symphony_core::id::RunId;
use symphony_core::run::Run;
use symphony_runner::output::{LastLine, LogReader, neutralised};
use symphony_runner::paths::RunPaths;
use symphony_store::Store;
use symphony_view::LogDay;
use symphony_view::text::painted_log;

use super::find::find_run;
use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};
use crate::value::RunReference;

/// Time between two looks at a log that is followed.
const LOOK: Duration = Duration::from_millis(200);

/// The same for a log that comes from another host: it comes every five seconds.
const LOOK_ELSEWHERE: Duration = Duration::from_secs(1);
/// Pieces of such a log that are read at once.
const PIECES: u32 = 16;

/// What `runs logs` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony runs logs SYM-1 -f")]
pub(crate) struct LogsArgs {
    /// The run's id or the beginning or end of it, or an issue to select its newest run
    #[arg(value_name = "RUN|ISSUE")]
    run: RunReference,
    /// Keep printing until the run ends
    #[arg(short, long)]
    follow: bool,
    /// Print the agent's own output unchanged
    #[arg(long)]
    raw: bool,
}

impl LogsArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let session = app.session()?;
        let run = find_run(&session.store, &self.run).context("show the log")?;
        let project = session.store.project(&run.project)?;
        let paths = RunPaths::new(&project.root, &run.id);
        let is_elsewhere = run.pool.is_some() && self.open(&paths)?.is_none();
        if is_elsewhere {
            return self
                .print_sent(app, &session.store, &run)
                .context("show the log");
        }
        self.print(app, &session.store, &run, &paths)
            .context("show the log")
    }

    /// Prints what the host of a run has sent of its log.
    fn print_sent(&self, app: &App, store: &Store, run: &Run) -> anyhow::Result<()> {
        if self.raw {
            let host = run.host.as_ref().map_or("its host", |host| host.as_str());
            let message = format!("the agent's own output of run {} is only on {host}", run.id);
            return Err(Stop::new(Exit::NotFound, message)
                .hint("without `--raw` the log that was sent from there is shown")
                .into());
        }
        let mut day = LogDay::starting(run.started_at);
        let mut sent = SentLog::default();
        loop {
            let live = self.follow && store.run_status(&run.id)?.is_live();
            let last = if live {
                LastLine::MayGrow
            } else {
                LastLine::IsWhole
            };
            let lines = sent.next_lines(store, &run.id, last)?;
            self.write(app, &self.shown(app, &run.id, &lines, &mut day)?)?;
            if !live {
                break;
            }
            std::thread::sleep(LOOK_ELSEWHERE);
        }
        if run.status.is_live() || sent.next > 0 {
            return Ok(());
        }
        Err(no_log(run))
    }

    fn print(&self, app: &App, store: &Store, run: &Run, paths: &RunPaths) -> anyhow::Result<()> {
        let mut day = LogDay::starting(run.started_at);
        let mut offset = 0;
        let has_file = loop {
            // asked before reading: what was written before the end is read after it
            let live = self.follow && store.run_status(&run.id)?.is_live();
            let reader = self.open(paths)?;
            if let Some(reader) = &reader {
                let last = if live {
                    LastLine::MayGrow
                } else {
                    LastLine::IsWhole
                };
                // a log is bounded, and a pager wants all of it
                let part = reader.after(offset, usize::MAX, last)?;
                offset = part.next;
                self.write(app, &self.shown(app, &run.id, &part.lines, &mut day)?)?;
            }
            if !live {
                break reader.is_some();
            }
            std::thread::sleep(LOOK);
        };
        if run.status.is_live() || has_file {
            return Ok(());
        }
        Err(no_log(run))
    }

    fn open(&self, paths: &RunPaths) -> anyhow::Result<Option<LogReader>> {
        let (path, opened) = if self.raw {
            (paths.stream(), LogReader::open_stream(&paths.stream()))
        } else {
            (paths.log(), LogReader::open(&paths.log()))
        };
        opened.with_context(|| format!("read {}", path.display()))
    }

    /// Writes lines: bytes for programs as they are, a whole log for a person in a pager.
    fn write(&self, app: &App, shown: &[u8]) -> anyhow::Result<()> {
        if self.raw || app.out.is_json() {
            return app.out.write_raw(shown);
        }
        let text = String::from_utf8_lossy(shown);
        if self.follow {
            app.out.write(&text)
        } else {
            app.out.write_long(&text)
        }
    }

    /// Returns lines as they are printed.
    fn shown(
        &self,
        app: &App,
        run: &RunId,
        lines: &[Vec<u8>],
        day: &mut LogDay,
    ) -> anyhow::Result<Vec<u8>> {
        let mut shown = Vec::new();
        for line in lines {
            if self.raw {
                shown.extend_from_slice(line);
            } else {
                let text = String::from_utf8_lossy(line);
                if app.out.is_json() {
                    shown.extend(app.out.event_line(&day.parsed(run, &text))?.into_bytes());
                } else {
                    shown.extend_from_slice(painted_log(&neutralised(&text)).as_bytes());
                }
            }
            shown.push(b'\n');
        }
        Ok(shown)
    }
}

fn no_log(run: &Run) -> anyhow::Error {
    let message = format!("run {} no longer has a log", run.id);
    Stop::new(Exit::NotFound, message)
        .hint("logs are kept for `log_retention_days`; a run that ended before its agent started, or in which a person works, has none")
        .into()
}

/// A log that comes in pieces from another host.
#[derive(Debug, Default)]
struct SentLog {
    /// How many bytes of it were read.
    next: u64,
    /// The beginning of a line whose end has not come yet.
    begun: Vec<u8>,
}

impl SentLog {
    /// Returns the lines that have come since the last call.
    fn next_lines(
        &mut self,
        store: &Store,
        run: &RunId,
        last: LastLine,
    ) -> anyhow::Result<Vec<Vec<u8>>> {
        let mut lines = Vec::new();
        loop {
            let pieces = store.run_log(run, self.next, PIECES)?;
            if pieces.is_empty() {
                break;
            }
            for piece in pieces {
                let known = usize::try_from(self.next.saturating_sub(piece.seq)).unwrap_or(0);
                let new = piece.bytes.get(known..).unwrap_or_default();
                self.next = piece.seq + piece.bytes.len() as u64;
                self.take_in(new, &mut lines);
            }
        }
        if last == LastLine::IsWhole && !self.begun.is_empty() {
            lines.push(std::mem::take(&mut self.begun));
        }
        Ok(lines)
    }

    fn take_in(&mut self, bytes: &[u8], lines: &mut Vec<Vec<u8>>) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            match part.strip_suffix(b"\n") {
                Some(end) => {
                    self.begun.extend_from_slice(end);
                    lines.push(std::mem::take(&mut self.begun));
                }
                None => self.begun.extend_from_slice(part),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_may_end_in_another_piece_than_it_begins_in() {
        let (mut sent, mut lines) = (SentLog::default(), Vec::new());
        for piece in ["one\ntw", "", "o", "\n\nthr"] {
            sent.take_in(piece.as_bytes(), &mut lines);
        }
        assert_eq!(lines, [&b"one"[..], b"two", b""]);
        assert_eq!(sent.begun, b"thr");
    }
}

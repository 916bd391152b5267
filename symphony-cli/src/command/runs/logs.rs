//! `symphony runs logs`.

use std::num::NonZeroUsize;
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
use super::sent_log::SentLog;
use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};
use crate::output::{LongAnswer, Wanted};
use crate::value::RunReference;

/// Time between two reads of a log that is followed.
const LOOK: Duration = Duration::from_millis(200);

/// The same for a log that comes from another host: it comes every five seconds.
const LOOK_ELSEWHERE: Duration = Duration::from_secs(1);
/// How much of a log is read and written at once.
const PART_BYTES: usize = 256 * 1024;

/// What `runs logs` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony runs logs SYM-1 -f --tail 20")]
pub(crate) struct LogsArgs {
    /// The run's id, or the beginning or end of that id; or an issue, to select its newest run
    #[arg(value_name = "RUN|ISSUE")]
    run: RunReference,
    /// Keep printing until the run ends
    #[arg(short, long)]
    follow: bool,
    /// Print only this many lines from the end, without reading the rest of the log
    #[arg(short = 'n', long, value_name = "LINES")]
    tail: Option<NonZeroUsize>,
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
        let mut is_first = true;
        loop {
            let (last, is_over) = self.look(store, run)?;
            let mut lines = sent.next_lines(store, &run.id, last)?;
            if is_first && let Some(tail) = self.tail {
                lines.drain(..lines.len().saturating_sub(tail.get()));
            }
            is_first = false;
            self.write(app, &self.shown(app, &run.id, &lines, &mut day)?, None)?;
            if is_over {
                break;
            }
            std::thread::sleep(LOOK_ELSEWHERE);
        }
        if run.status.is_live() || sent.has_begun() {
            return Ok(());
        }
        Err(no_log(run))
    }

    /// Says what to read, and whether that is all. Has to be asked before reading: what was written before the end is read after it.
    fn look(&self, store: &Store, run: &Run) -> anyhow::Result<(LastLine, bool)> {
        if self.follow && store.run_status(&run.id)?.is_live() {
            Ok((LastLine::MayGrow, false))
        } else {
            Ok((LastLine::IsWhole, true))
        }
    }

    fn print(&self, app: &App, store: &Store, run: &Run, paths: &RunPaths) -> anyhow::Result<()> {
        let mut begun: Option<(u64, LogDay)> = None;
        let has_file = loop {
            let (last, is_over) = self.look(store, run)?;
            let reader = self.open(paths)?;
            if let Some(reader) = &reader {
                let from = match begun.take() {
                    Some(from) => from,
                    None => self.begin(app, run, reader)?,
                };
                begun = Some(self.print_from(app, run, reader, from, last)?);
            }
            if is_over {
                break reader.is_some();
            }
            std::thread::sleep(LOOK);
        };
        if run.status.is_live() || has_file {
            return Ok(());
        }
        Err(no_log(run))
    }

    /// Returns where to begin, and on which day that was.
    fn begin(&self, app: &App, run: &Run, reader: &LogReader) -> anyhow::Result<(u64, LogDay)> {
        let start = LogDay::starting(run.started_at);
        let Some(lines) = self.tail else {
            return Ok((0, start));
        };
        let offset = reader.begin_of_last(lines)?;
        if self.raw || !app.out.is_json() {
            return Ok((offset, start));
        }
        let (mut day, mut next) = (start, offset);
        loop {
            let part = reader.whole_after(next, PART_BYTES, LastLine::IsWhole)?;
            if part.lines.is_empty() {
                break;
            }
            for line in &part.lines {
                day.parsed(&run.id, &String::from_utf8_lossy(line));
            }
            next = part.next;
        }
        let end = reader.changed_at()?;
        Ok((offset, LogDay::ending(run.started_at, &day, end)))
    }

    /// Prints everything from a place on, in parts, and returns where the next look begins.
    fn print_from(
        &self,
        app: &App,
        run: &Run,
        reader: &LogReader,
        (mut offset, mut day): (u64, LogDay),
        last: LastLine,
    ) -> anyhow::Result<(u64, LogDay)> {
        let is_paged = !(self.raw || self.follow || app.out.is_json());
        let mut long = is_paged.then(|| app.out.long());
        loop {
            let part = reader.whole_after(offset, PART_BYTES, last)?;
            offset = part.next;
            let shown = self.shown(app, &run.id, &part.lines, &mut day)?;
            let wanted = self.write(app, &shown, long.as_mut())?;
            if part.lines.is_empty() || wanted == Wanted::Enough {
                break;
            }
        }
        if let Some(long) = long {
            long.finish()?;
        }
        Ok((offset, day))
    }

    fn open(&self, paths: &RunPaths) -> anyhow::Result<Option<LogReader>> {
        let (path, opened) = if self.raw {
            (paths.stream(), LogReader::open_stream(&paths.stream()))
        } else {
            (paths.log(), LogReader::open(&paths.log()))
        };
        opened.with_context(|| format!("read {}", path.display()))
    }

    /// Writes lines: unchanged bytes for programs, and for a person in a pager if there is one.
    fn write(
        &self,
        app: &App,
        shown: &[u8],
        long: Option<&mut LongAnswer>,
    ) -> anyhow::Result<Wanted> {
        if self.raw || app.out.is_json() {
            app.out.write_raw(shown)?;
            return Ok(Wanted::More);
        }
        let text = String::from_utf8_lossy(shown);
        if let Some(long) = long {
            return long.write(&text);
        }
        app.out.write(&text)?;
        Ok(Wanted::More)
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
        .hint("Symphony keeps logs for `log_retention_days` days; a run that ended before its agent started, or in which a person works, has none")
        .into()
}

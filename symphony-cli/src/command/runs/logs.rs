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
        self.print(app, &session.store, &run, &paths)
            .context("show the log")
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
        let message = format!("run {} no longer has a log", run.id);
        Err(Stop::new(Exit::NotFound, message)
            .hint("logs are kept for `log_retention_days`; a run that ended before its agent started, or in which a person works, has none")
            .into())
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

//! `symphony runs logs`.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::id::RunId;
use symphony_core::run::Run;
use symphony_runner::output::neutralised;
use symphony_runner::paths::RunPaths;
use symphony_store::Store;
use symphony_view::text::painted_log;

use super::find::find_run;
use super::follow::{Follower, LOOK};
use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};
use crate::value::RunReference;

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

/// A line of a log.
#[derive(Debug, Serialize)]
struct LogLine<'a> {
    run: &'a RunId,
    /// When; none for lines that do not say it.
    at: Option<Timestamp>,
    /// What kind of event: `text`, `tool_use` …
    kind: Option<&'a str>,
    text: &'a str,
}

impl LogsArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let session = app.session()?;
        let run = find_run(&session.store, &self.run).context("show the log")?;
        let project = session.store.project(&run.project)?;
        let paths = RunPaths::new(&project.root, &run.id);
        let path = if self.raw {
            paths.stream()
        } else {
            paths.log()
        };
        self.print(app, &session.store, &run, path)
            .context("show the log")
    }

    fn print(&self, app: &App, store: &Store, run: &Run, path: PathBuf) -> anyhow::Result<()> {
        let mut follower = Follower::new(path);
        let mut day = Day {
            last: run.started_at,
        };
        loop {
            // asked before reading: what was written before the end is read after it
            let live = self.follow && store.run_status(&run.id)?.is_live();
            let lines = follower.read(!live)?;
            self.write(app, &self.shown(app, &run.id, &lines, &mut day)?)?;
            if !live {
                break;
            }
            std::thread::sleep(LOOK);
        }
        if run.status.is_live() || follower.has_file() {
            return Ok(());
        }
        let message = format!("run {} no longer has a log", run.id);
        Err(Stop::new(Exit::NotFound, message)
            .hint("logs are kept for `log_retention_days`; a run that ended before its agent started has none")
            .into())
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
        day: &mut Day,
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

/// The day that the times of a log are on: a line says the time of the day only.
#[derive(Debug)]
struct Day {
    /// The time of the line before, at first that of the run's start.
    last: Timestamp,
}

impl Day {
    /// Splits a line of the formatted log: time of the day, `[kind]`, text.
    fn parsed<'a>(&mut self, run: &'a RunId, line: &'a str) -> LogLine<'a> {
        self.split(run, line).unwrap_or(LogLine {
            run,
            at: None,
            kind: None,
            text: line,
        })
    }

    fn split<'a>(&mut self, run: &'a RunId, line: &'a str) -> Option<LogLine<'a>> {
        let (time, rest) = line.split_once(' ')?;
        let (kind, text) = rest.strip_prefix('[')?.split_once(']')?;
        self.last = on_day_of(self.last, time)?;
        Some(LogLine {
            run,
            at: Some(self.last),
            kind: Some(kind),
            text: text.trim_start(),
        })
    }
}

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Returns the time of day (`HH:MM:SS`) nearest to another time: at midnight the next day begins.
fn on_day_of(near: Timestamp, time: &str) -> Option<Timestamp> {
    let mut parts = time.split(':').map(|part| part.parse::<i64>().ok());
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    let of_day = (hours * 60 + minutes) * 60_000 + seconds * 1000;
    let near = near.as_millisecond();
    let mut ms = near - near.rem_euclid(DAY_MS) + of_day;
    if ms + DAY_MS / 2 < near {
        ms += DAY_MS;
    }
    Timestamp::from_millisecond(ms).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_log_is_time_kind_and_text() {
        let run = RunId::parse("r-1").unwrap();
        let last = "2026-01-31T23:59:58.5Z".parse().unwrap();
        let mut day = Day { last };
        let mut parts = |line| {
            let line = day.parsed(&run, line);
            let at = line.at.map(|at| at.to_string());
            (at, line.kind.map(str::to_owned), line.text.to_owned())
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            parts("23:59:59 [tool_use] Bash {}"),
            (
                some("2026-01-31T23:59:59.000Z"),
                some("tool_use"),
                "Bash {}".to_owned()
            )
        );
        assert_eq!(
            parts("00:00:01 [text] [x] y"),
            (
                some("2026-02-01T00:00:01.000Z"),
                some("text"),
                "[x] y".to_owned()
            )
        );
        assert_eq!(
            parts("[omitted] 5 bytes"),
            (None, None, "[omitted] 5 bytes".to_owned())
        );
        assert_eq!(parts(""), (None, None, String::new()));
    }
}

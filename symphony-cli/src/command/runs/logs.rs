//! `symphony runs logs`.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use serde::Serialize;
use symphony_core::id::RunId;
use symphony_core::run::Run;
use symphony_runner::output::neutralised;
use symphony_runner::paths::RunPaths;
use symphony_store::Store;

use super::find::find_run;
use super::follow::Follower;
use crate::app::App;
use crate::failure::{Exit, Stop};
use crate::value::RunReference;

/// What `runs logs` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony runs logs SYM-1 -f")]
pub(crate) struct LogsArgs {
    /// The run's id, or the beginning or end of it, or an issue for its newest run
    #[arg(value_name = "RUN|ISSUE")]
    run: RunReference,
    /// Go on until the run is over
    #[arg(short, long)]
    follow: bool,
    /// Print the agent's own output, as it came
    #[arg(long)]
    raw: bool,
}

/// A line of a log.
#[derive(Debug, Serialize)]
struct LogLine<'a> {
    run: &'a RunId,
    /// When, as the log says.
    at: Option<&'a str>,
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
        let mut printed = false;
        loop {
            // asked before reading: what was written before the end is read after it
            let live = self.follow && store.run_status(&run.id)?.is_live();
            let lines = follower.read(!live)?;
            printed |= !lines.is_empty();
            self.print_lines(app, &run.id, &lines)?;
            if !live {
                break;
            }
            std::thread::sleep(super::follow::LOOK);
        }
        if printed || run.status.is_live() || follower.has_file() {
            return Ok(());
        }
        let message = format!("run {} has no log any more", run.id);
        Err(Stop::new(Exit::NotFound, message)
            .hint("logs are kept for `log_retention_days`, and a run that did not get as far as its agent has none")
            .into())
    }

    fn print_lines(&self, app: &App, run: &RunId, lines: &[Vec<u8>]) -> anyhow::Result<()> {
        for line in lines {
            if self.raw {
                app.out.write_raw(line)?;
                app.out.write_raw(b"\n")?;
                continue;
            }
            let text = String::from_utf8_lossy(line);
            if app.out.is_json() {
                app.out.event(&parsed(run, &text))?;
            } else {
                app.out.write(&format!("{}\n", neutralised(&text)))?;
            }
        }
        Ok(())
    }
}

/// Splits a line of the formatted log: time, `[kind]`, text.
fn parsed<'a>(run: &'a RunId, line: &'a str) -> LogLine<'a> {
    let whole = LogLine {
        run,
        at: None,
        kind: None,
        text: line,
    };
    let Some((at, rest)) = line.split_once(' ') else {
        return whole;
    };
    let Some((kind, text)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) else {
        return whole;
    };
    LogLine {
        at: Some(at),
        kind: Some(kind),
        text: text.trim_start(),
        ..whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_log_is_time_kind_and_text() {
        let run = RunId::parse("r-1").unwrap();
        let parts = |line| {
            let line = parsed(&run, line);
            (
                line.at.map(str::to_owned),
                line.kind.map(str::to_owned),
                line.text.to_owned(),
            )
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            parts("2026-01-01T00:00:00Z [tool_use] Bash {}"),
            (
                some("2026-01-01T00:00:00Z"),
                some("tool_use"),
                "Bash {}".to_owned()
            )
        );
        assert_eq!(
            parts("[omitted] 5 bytes"),
            (None, None, "[omitted] 5 bytes".to_owned())
        );
        assert_eq!(parts(""), (None, None, String::new()));
    }
}

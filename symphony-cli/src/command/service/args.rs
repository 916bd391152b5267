//! The options of the service, and what both of its commands begin with.

use std::path::{Path, PathBuf};

use clap::Args;
use symphony_service::service::{
    FileFault, Log, LogLevel, LogLine, Service, ServiceError, ServicePlace, Start,
};

use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};

/// The file that is meant where none is named.
const DEFAULT_FILE: &str = "WORKFLOW.md";

/// What `run` takes for a `WORKFLOW.md`.
#[derive(Debug, Args)]
pub(crate) struct WorkflowArgs {
    /// Run openai/symphony's WORKFLOW.md instead of projects [default file: ./WORKFLOW.md]
    #[arg(long, value_name = "PATH", num_args = 0..=1, default_missing_value = DEFAULT_FILE, conflicts_with_all = ["until_idle", "interval"])]
    pub(crate) workflow: Option<PathBuf>,
    /// With --workflow: serve its page and API on this port of 127.0.0.1; 0 takes a free one [default: the file's `server.port`]
    #[arg(long, value_name = "PORT", requires = "workflow")]
    pub(crate) port: Option<u16>,
}

/// What `tick` takes for a `WORKFLOW.md`.
#[derive(Debug, Args)]
pub(crate) struct WorkflowTickArgs {
    /// Do one step of openai/symphony's WORKFLOW.md instead of projects [default file: ./WORKFLOW.md]
    #[arg(long, value_name = "PATH", num_args = 0..=1, default_missing_value = DEFAULT_FILE, conflicts_with_all = ["wait", "dry_run"])]
    pub(crate) workflow: Option<PathBuf>,
}

/// Opens the service of a file.
///
/// # Errors
/// When another one works with the file, or the file cannot be used.
pub(super) fn open(app: &App, workflow: &Path, start: Start) -> anyhow::Result<Service> {
    let executable = std::env::current_exe().context("find symphony's own program")?;
    let surroundings = &app.surroundings;
    let place = ServicePlace::new(
        executable,
        &surroundings.current,
        workflow,
        surroundings.environment.clone(),
    );
    let place = place.map_err(|error| stop_of(&error))?;
    let out = app.out;
    let watcher = move |line: &LogLine| match line.level() {
        LogLevel::Info if out.is_quiet() => {}
        LogLevel::Info => out.note(&line.sentence()),
        // the log has every problem, and a tick reports those that it ends with
        LogLevel::Warning if start == Start::Tick => {}
        LogLevel::Warning => out.warn(&line.sentence()),
    };
    let log = Log::new(place.log(), Box::new(watcher));
    Service::open(place, start, log).map_err(|error| stop_of(&error).into())
}

/// Turns a fault of the service into an exit code and a hint.
pub(super) fn stop_of(error: &ServiceError) -> Stop {
    let text = match std::error::Error::source(error) {
        Some(source) if !error.to_string().contains(&source.to_string()) => {
            format!("{error}: {source}")
        }
        _ => error.to_string(),
    };
    match error {
        ServiceError::Busy { .. } => {
            Stop::new(Exit::Busy, text).hint("stop the other process first, or let it do the work")
        }
        ServiceError::File {
            fault: FileFault::Workflow(fault),
            workflow,
        } if fault.class() == "missing_workflow_file" => {
            Stop::new(Exit::NotFound, text).hint(format!(
                "name the file with `--workflow PATH`; Symphony looked for it at {}",
                workflow.display()
            ))
        }
        ServiceError::File { workflow, .. } => Stop::new(Exit::Failed, text)
            .hint(format!("correct {}, then start again", workflow.display())),
        ServiceError::Port { .. } => {
            Stop::new(Exit::Failed, text).hint("use `--port 0` for a free port")
        }
        _ => Stop::new(Exit::Failed, text),
    }
}

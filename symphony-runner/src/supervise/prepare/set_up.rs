//! The set-up command of a worktree (`npm ci`): once, before the first agent works there (spec: lifecycle, "Worktree").

use symphony_workspace::{Failpoint, Worktree};

use crate::error::RunnerError;
use crate::paths::write_private;
use crate::process::Supervision;
use crate::supervise::Job;
use crate::supervise::command::{CommandCall, run_command};

/// Lines of a failed set-up's output that its error quotes.
const SETUP_LINES_MAX: usize = 10;

/// A file in the worktree's own git folder that says that its set-up command has passed: it goes with the worktree.
const SET_UP_FILE: &str = "symphony-set-up";

/// Runs the project's set-up command in a worktree, once: again only when it failed, or was cut off.
pub(super) async fn set_up(
    job: &Job<'_>,
    supervision: &Supervision,
    worktree: &Worktree,
) -> Result<(), RunnerError> {
    let settings = &job.config.worktree;
    let Some(line) = &settings.setup else {
        return Ok(());
    };
    let passed = worktree.place().git_dir.join(SET_UP_FILE);
    if passed.exists() {
        return Ok(());
    }
    let limit = settings.setup_timeout_ms;
    let call = CommandCall {
        executable: &job.installation.executable,
        line,
        limit,
        environment: job.command_environment(),
        directory: worktree.path(),
        input: None,
        log: job.paths.setup_log(),
    };
    let outcome = run_command(supervision, call).await?;
    Failpoint::PrepareSetUp.reach();
    if outcome.passed() {
        return write_private(&passed, &line.to_string());
    }
    let last = outcome
        .output
        .lines()
        .rev()
        .take(SETUP_LINES_MAX)
        .collect::<Vec<_>>();
    let last: Vec<&str> = last.into_iter().rev().collect();
    Err(RunnerError::Setup {
        command: line.to_string(),
        what: format!("{}\n{}", outcome.how(limit), last.join("\n")),
    })
}

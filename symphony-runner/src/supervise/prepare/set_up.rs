//! The project's set-up command, in a new worktree.

use symphony_workspace::Worktree;

use crate::error::RunnerError;
use crate::process::Supervision;
use crate::supervise::Job;
use crate::supervise::command::{CommandCall, run_command};

/// Lines of a failed set-up's output that its error quotes.
const SETUP_LINES_MAX: usize = 10;

/// Runs the project's set-up command in a new worktree. When it fails the worktree is made anew next time.
pub(super) async fn set_up(
    job: &Job<'_>,
    supervision: &Supervision,
    worktree: &Worktree,
) -> Result<(), RunnerError> {
    let settings = &job.config.worktree;
    let Some(line) = &settings.setup else {
        return Ok(());
    };
    let limit = settings.setup_timeout_ms;
    let call = CommandCall {
        executable: &job.installation.executable,
        line,
        limit,
        environment: job.command_environment(),
        directory: worktree.path(),
        log: job.paths.setup_log(),
    };
    let outcome = run_command(supervision, call).await?;
    if outcome.passed() {
        return Ok(());
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

//! The set-up command in the worktree of a run.

use symphony_core::gates::{CheckoutState, RedOnBase, SetUpFault, base_red_text, set_up_fault};
use symphony_core::pull_request::SET_UP_GATE;
use symphony_core::watchdog::Step;
use symphony_workspace::{Repository, Worktree};

use crate::error::RunnerError;
use crate::output::last_chars;
use crate::process::Supervision;
use crate::redaction::redactor_for;
use crate::supervise::{Job, SetUp, is_due};

/// Lines of a failed set-up's output that its error quotes.
const SETUP_LINES_MAX: usize = 10;
/// Characters of them.
const SETUP_CHARS_MAX: usize = 4_000;

/// Runs the project's set-up command in a worktree that is not set up yet.
pub(super) async fn set_up(
    job: &Job<'_>,
    supervision: &Supervision,
    repository: &Repository,
    worktree: &Worktree,
) -> Result<(), RunnerError> {
    let settings = &job.config.worktree;
    if !is_due(settings, worktree) {
        return Ok(());
    }
    let environment = job.command_environment(worktree.path());
    let head = repository.head(worktree)?;
    let redactor = redactor_for(repository, &head, &environment)?;
    let set_up = SetUp {
        executable: &job.installation.executable,
        settings,
        environment,
        redactor,
        worktree,
        log: job.paths.setup_log(),
    };
    job.steps
        .enter_commands(Step::SetUp, settings.setup_timeout_ms);
    let ran = set_up.run(supervision).await?;
    job.steps.enter(Step::Prepare);
    let (Some(outcome), Some(line)) = (ran.filter(|outcome| !outcome.passed()), &settings.setup)
    else {
        return Ok(());
    };
    let last = outcome
        .output
        .lines()
        .rev()
        .take(SETUP_LINES_MAX)
        .collect::<Vec<_>>();
    let last: Vec<&str> = last.into_iter().rev().collect();
    let how = outcome.how(settings.setup_timeout_ms);
    let labels = job.issue.as_ref().map_or(&[][..], |issue| &issue.labels);
    let base = repository.base()?;
    let checkout = if repository.tree_of(&head)? == repository.tree_of(&base.commit)? {
        CheckoutState::AsBase
    } else {
        CheckoutState::Changed
    };
    if set_up_fault(&job.run.target, labels, checkout) == SetUpFault::Base {
        let red = RedOnBase {
            name: SET_UP_GATE,
            command: &line.to_string(),
            exit_code: outcome.exit.code.filter(|_| !outcome.timed_out),
            output: &outcome.output,
        };
        let text = base_red_text(base.branch.as_str(), base.commit.as_str(), &[red]);
        return Err(RunnerError::SetupOnBase { text });
    }
    Err(RunnerError::Setup {
        command: line.to_string(),
        what: format!("{how}\n{}", last_chars(&last.join("\n"), SETUP_CHARS_MAX)),
    })
}

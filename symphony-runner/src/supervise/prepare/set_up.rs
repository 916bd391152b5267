//! The set-up command in the worktree of a run.

use symphony_core::config::CommandLine;
use symphony_core::gates::{
    RedOnBase, SetUpFault, SetUpOnBase, base_red_text, may_hold_for_set_up, set_up_fault,
};
use symphony_core::listing::list_few;
use symphony_core::pull_request::{SET_UP_GATE, VerifiedGate};
use symphony_core::watchdog::Step;
use symphony_workspace::{CommitId, Failpoint, Repository, Worktree};

use crate::error::RunnerError;
use crate::gates::{CheckoutRequest, GateCheckout};
use crate::output::last_chars;
use crate::process::Supervision;
use crate::redaction::redactor_for;
use crate::supervise::{CommandOutcome, Job, SetUp, is_due};

/// Lines of a failed set-up's output that its error quotes.
const SETUP_LINES_MAX: usize = 10;
/// Characters of them.
const SETUP_CHARS_MAX: usize = 4_000;
/// Files that a note to the agent names.
const LEFT_NAMED_MAX: usize = 10;

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
        repository,
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
    let failed = Failed {
        job,
        repository,
        head: &head,
        outcome: &outcome,
        line,
    };
    let labels = job.issue.as_ref().map_or(&[][..], |issue| &issue.labels);
    let (on_base, text) = failed.on_base(supervision, labels).await?;
    if set_up_fault(&job.run.target, labels, on_base) == SetUpFault::Base {
        return Err(RunnerError::SetupOnBase { text });
    }
    let last = outcome.output.lines().rev().take(SETUP_LINES_MAX);
    let last: Vec<&str> = last.collect::<Vec<_>>().into_iter().rev().collect();
    let how = outcome.how(settings.setup_timeout_ms);
    Err(RunnerError::Setup {
        command: line.to_string(),
        what: format!("{how}\n{}", last_chars(&last.join("\n"), SETUP_CHARS_MAX)),
    })
}

/// Tells the agent what the set-up command left that is not part of its change; none when there is nothing.
pub(super) fn set_up_note(
    repository: &Repository,
    worktree: &Worktree,
) -> Result<Option<String>, RunnerError> {
    let left = repository.left_by_set_up(worktree)?;
    if left.is_empty() {
        return Ok(None);
    }
    let names = list_few(left.iter().map(String::as_str), LEFT_NAMED_MAX);
    Ok(Some(format!(
        "The set-up command of this project changed or made files that git does not ignore: {names}. They are not part of your change: \
         leave them uncommitted (`git add` your own files by name). A pull request does not wait for them."
    )))
}

/// A set-up command that failed in the worktree of a run.
struct Failed<'a> {
    job: &'a Job<'a>,
    repository: &'a Repository,
    head: &'a CommitId,
    outcome: &'a CommandOutcome,
    line: &'a CommandLine,
}

impl Failed<'_> {
    /// Finds out how the command comes out on the base; the text says what is red there. Where the worktree has work of its own,
    /// a program that is missing on this machine looks like a set-up that the work broke: only the base tells them apart.
    async fn on_base(
        &self,
        supervision: &Supervision,
        labels: &[String],
    ) -> Result<(SetUpOnBase, String), RunnerError> {
        let base = self.repository.base()?;
        let line = self.line.to_string();
        let text = |exit_code, output: &str| {
            let red = RedOnBase {
                name: SET_UP_GATE,
                command: &line,
                exit_code,
                output,
            };
            base_red_text(base.branch.as_str(), base.commit.as_str(), &[red])
        };
        if self.repository.tree_of(self.head)? == self.repository.tree_of(&base.commit)? {
            let exit_code = self.outcome.exit.code.filter(|_| !self.outcome.timed_out);
            return Ok((SetUpOnBase::Fails, text(exit_code, &self.outcome.output)));
        }
        if !may_hold_for_set_up(&self.job.run.target, labels) {
            return Ok((SetUpOnBase::NotTried, String::new()));
        }
        Ok(match self.try_on(&base.commit, supervision).await? {
            Some(result) if !result.passed => {
                (SetUpOnBase::Fails, text(result.exit_code, &result.output))
            }
            _ => (SetUpOnBase::Passes, String::new()),
        })
    }

    /// Runs the command in a pristine checkout of the base.
    async fn try_on(
        &self,
        base: &CommitId,
        supervision: &Supervision,
    ) -> Result<Option<VerifiedGate>, RunnerError> {
        let job = self.job;
        let logs = job.paths.set_up_on_base();
        std::fs::create_dir_all(&logs)
            .map_err(|error| RunnerError::io("make the folder", &logs, error))?;
        job.steps.enter(Step::Checkout);
        let request = CheckoutRequest {
            installation: job.installation,
            config: &job.config,
            repository: self.repository,
            id: &job.run.id,
            logs,
            steps: &job.steps,
        };
        let checkout = GateCheckout::make(request, base)?;
        Failpoint::GatesCheckedOut.reach();
        let result = checkout.set_up(supervision).await;
        job.steps.enter(Step::Checkout);
        checkout.remove()?;
        job.steps.enter(Step::Prepare);
        result
    }
}

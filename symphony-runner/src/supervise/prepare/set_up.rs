//! The set-up command in the worktree of a run.

use symphony_core::Timestamp;
use symphony_core::gates::{
    RedOnBase, SetUpFault, SetUpOnBase, base_red_text, may_hold_for_set_up, set_up_fault,
};
use symphony_core::listing::list_few;
use symphony_core::pull_request::{SET_UP_GATE, VerifiedGate};
use symphony_core::watchdog::Step;
use symphony_mcp::IssueWorkspace;
use symphony_workspace::{
    BranchFate, CommitId, Failpoint, Prepared, RemoveRequest, Repository, Worktree,
};

use super::sandbox::command_sandbox;
use crate::error::RunnerError;
use crate::gates::{CheckoutRequest, GateCheckout, naming_setup_log};
use crate::output::last_chars;
use crate::process::Supervision;
use crate::redaction::redactor_for;
use crate::sandbox::{CommandSandbox, CommandsOf};
use crate::supervise::{CommandOutcome, Job, SetUp, is_due};

/// How many lines of a failed set-up's output its error quotes.
const SETUP_LINES_MAX: usize = 10;
/// How many characters these lines may have.
const SETUP_CHARS_MAX: usize = 4_000;
/// How many files a note to the agent names.
const LEFT_NAMED_MAX: usize = 10;

/// Copies the project's configuration files into a worktree. One that cannot be copied does not stop the run.
pub(super) fn copy_config_files(
    repository: &Repository,
    worktree: &Worktree,
) -> Result<(), RunnerError> {
    let copied = repository.copy_config_files(worktree)?;
    for problem in &copied.problems {
        let (path, reason) = (problem.path.display(), &problem.reason);
        tracing::warn!(%path, reason, "a configuration file was not copied into the worktree");
    }
    Ok(())
}

/// A worktree that is to be set up, and how to recreate it.
pub(super) struct SetUpSite<'a> {
    pub(super) job: &'a Job<'a>,
    pub(super) supervision: &'a Supervision,
    pub(super) repository: &'a Repository,
    pub(super) place: &'a IssueWorkspace,
}

impl SetUpSite<'_> {
    /// Runs the project's set-up command in a worktree that has not been set up. If it fails but passes on the base,
    /// the folder may be at fault, for instance because an earlier set-up was interrupted: a folder without work is
    /// recreated, and set up once more.
    ///
    /// # Errors
    /// [`RunnerError::SetupOnBase`] when the command also fails on the base; [`RunnerError::Setup`] when it fails only
    /// here.
    pub(super) async fn set_up(
        &self,
        made: Prepared,
        make: impl AsyncFn() -> Result<Prepared, RunnerError>,
    ) -> Result<Prepared, RunnerError> {
        let Some(failed) = self.run(&made.worktree).await? else {
            return Ok(made);
        };
        // The base first: if the command fails there, too, a new worktree would not help.
        let on_base = self.refuse_on_base().await?;
        if !self.removes_workless(&made) {
            return Err(failed.error(self.job, here(on_base)));
        }
        let fresh = make().await?;
        match self.run(&fresh.worktree).await? {
            None => Ok(fresh),
            Some(failed) => Err(failed.error(self.job, in_new(on_base))),
        }
    }

    /// Runs the command if it is due. Returns it if it failed.
    async fn run(&self, worktree: &Worktree) -> Result<Option<Failed>, RunnerError> {
        let (job, repository) = (self.job, self.repository);
        let settings = &job.config.worktree;
        if !is_due(settings, worktree) {
            return Ok(None);
        }
        let environment = job.command_environment(worktree.path());
        let head = repository.head(worktree)?;
        let redactor = redactor_for(repository, &head, &environment)?;
        // Git of the command works only in a git folder of its own: a sandbox does not show the project's.
        if job.config.sandbox.is_on() {
            repository.give_git_folder(worktree, &[&self.place.base])?;
        }
        let sandbox = command_sandbox(job, repository, worktree, &environment)?;
        let opening = CommandSandbox::open(
            sandbox,
            environment,
            CommandsOf {
                installation: job.installation,
                config: &job.config,
                project: &job.project.root,
                used: &job.network,
            },
        );
        let confined = Box::pin(opening).await?;
        let set_up = SetUp {
            executable: &job.installation.executable,
            settings,
            environment: confined.environment.clone(),
            redactor,
            worktree,
            repository,
            log: job.paths.setup_log(),
            sandbox: &confined.sandbox,
        };
        job.steps
            .enter_commands(Step::SetUp, settings.setup_timeout_ms);
        let ran = set_up.run(self.supervision).await;
        repository.take_git_folder(worktree)?;
        let ran = ran?;
        job.steps.enter(Step::Prepare);
        let failed = ran.filter(|outcome| !outcome.passed());
        Ok(failed.map(|outcome| Failed { outcome }))
    }

    /// Runs a failed command on the base. The same files are not the same folder: an interrupted set-up, or a path that
    /// the command cannot handle, proves nothing about the base. Only a pristine checkout does.
    async fn refuse_on_base(&self) -> Result<SetUpOnBase, RunnerError> {
        let job = self.job;
        let labels = job.issue.as_ref().map_or(&[][..], |issue| &issue.labels);
        let target = &job.run.target;
        if !may_hold_for_set_up(target, labels) {
            return Ok(SetUpOnBase::NotTried);
        }
        let base = self.repository.base()?;
        let tried = self.try_on(&base.commit).await?;
        let red = tried.filter(|result| !result.passed);
        let on_base = match red {
            Some(_) => SetUpOnBase::Fails,
            None => SetUpOnBase::Passes,
        };
        match (set_up_fault(target, labels, on_base), red) {
            (SetUpFault::Base, Some(result)) => {
                let line = job.config.worktree.setup.as_ref();
                let red = RedOnBase {
                    name: SET_UP_GATE,
                    command: &line.map(ToString::to_string).unwrap_or_default(),
                    exit_code: result.exit_code,
                    output: &result.output,
                };
                let text = base_red_text(base.branch.as_str(), base.commit.as_str(), &[red]);
                let text = naming_setup_log(text, &job.project.root, &job.paths.set_up_on_base());
                Err(RunnerError::SetupOnBase { text })
            }
            _ => Ok(on_base),
        }
    }

    /// Removes a worktree without anyone's work, and returns whether it did. In case of doubt it stays, and the failure
    /// counts.
    fn removes_workless(&self, made: &Prepared) -> bool {
        // A judge only reads.
        if self.job.run.target.is_review() {
            return false;
        }
        let request = RemoveRequest {
            key: &self.place.key,
            branch: Some(&self.place.branch),
            base: &self.place.base,
            fate: BranchFate::Keep,
            now: Timestamp::now(),
        };
        let repository = self.repository;
        let removed = repository
            .is_without_work(&made.worktree, &made.base_commit)
            .and_then(|is_without| {
                let removed = is_without.then(|| repository.remove_worktree(&request));
                removed.transpose()
            });
        match removed {
            Ok(None) => false,
            Ok(Some(removed)) => {
                let rescues = &removed.rescues;
                tracing::info!(key = %self.place.key, ?rescues, "the set-up failed only here: recreating the worktree");
                true
            }
            Err(error) => {
                tracing::warn!(key = %self.place.key, %error, "the worktree was not recreated");
                false
            }
        }
    }

    /// Runs the command in a pristine checkout of the base.
    async fn try_on(&self, base: &CommitId) -> Result<Option<VerifiedGate>, RunnerError> {
        let job = self.job;
        let logs = job.paths.set_up_on_base();
        std::fs::create_dir_all(&logs)
            .map_err(|error| RunnerError::io("make the folder", &logs, error))?;
        job.steps.enter(Step::Checkout);
        let request = CheckoutRequest {
            installation: job.installation,
            config: &job.config,
            project: &job.project.id,
            repository: self.repository,
            id: &job.run.id,
            logs,
            steps: &job.steps,
            network: job.network.clone(),
        };
        let checkout = GateCheckout::make(request, base)?;
        Failpoint::GatesCheckedOut.reach();
        let result = checkout.set_up(self.supervision).await;
        job.steps.enter(Step::Checkout);
        checkout.remove()?;
        job.steps.enter(Step::Prepare);
        result
    }
}

/// Describes where a set-up fails that failed in a worktree with work.
const fn here(on_base: SetUpOnBase) -> &'static str {
    match on_base {
        SetUpOnBase::Passes => {
            "\nIt passes in a fresh checkout of the base, so the work or the other files in this worktree cause the \
             failure."
        }
        SetUpOnBase::Fails | SetUpOnBase::NotTried => "",
    }
}

/// Describes where a set-up fails that also failed after a worktree without work was recreated.
const fn in_new(on_base: SetUpOnBase) -> &'static str {
    match on_base {
        SetUpOnBase::Passes => {
            "\nIt passes in a fresh checkout of the base and fails in a new worktree of the issue: check how it uses \
             its path or environment."
        }
        SetUpOnBase::Fails | SetUpOnBase::NotTried => "\nThe worktree had already been recreated.",
    }
}

/// A set-up command that failed in the worktree of a run.
struct Failed {
    outcome: CommandOutcome,
}

impl Failed {
    /// Returns the error of the run: the command, how it ended, the end of its output, and what else is known.
    fn error(&self, job: &Job<'_>, known: &str) -> RunnerError {
        let settings = &job.config.worktree;
        let last = self.outcome.output.lines().rev().take(SETUP_LINES_MAX);
        let last: Vec<&str> = last.collect::<Vec<_>>().into_iter().rev().collect();
        let how = self.outcome.how(settings.setup_timeout_ms);
        let line = settings.setup.as_ref();
        RunnerError::Setup {
            command: line.map(ToString::to_string).unwrap_or_default(),
            what: format!(
                "{how}\n{}{known}",
                last_chars(&last.join("\n"), SETUP_CHARS_MAX)
            ),
        }
    }
}

/// Returns a note for the agent about what the set-up command left that is not part of its change, if anything.
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
        "This project's setup command changed or created files that git does not ignore: {names}. They are not part \
         of your change: leave them uncommitted, and `git add` your own files by name. You can still hand in your work."
    )))
}

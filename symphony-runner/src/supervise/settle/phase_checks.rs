//! The checks of a plan's phase, on a pristine checkout of a commit, or in the project's folder if phases work there.

use std::path::Path;

use symphony_core::config::{CommandLine, Millis};
use symphony_core::plan::state::PhaseWork;
use symphony_core::plan::{CHECK_TIMEOUT_MS_DEFAULT, Check, CheckKind};
use symphony_core::pull_request::VerifiedGate;
use symphony_core::watchdog::Step;
use symphony_mcp::StoreThread;
use symphony_workspace::{CommitId, Repository};

use super::check_deaths::{begin_check, end_check};
use crate::error::RunnerError;
use crate::gates::{CheckoutRequest, GateCheckout};
use crate::process::Supervision;
use crate::redaction::redactor_of_environment;
use crate::supervise::{CommandCall, Company, Job, run_command, until_cancelled};
use symphony_core::pull_request::SET_UP_GATE;

/// The result of the checks of a phase.
pub(super) enum Checked {
    /// All passed.
    Green,
    /// One failed.
    Red(PhaseWork),
    /// A person ended the run meanwhile. All processes of the checks have ended.
    Ended,
}

/// Runs checks on a commit until one fails.
pub(super) async fn check_commit(
    job: &Job<'_>,
    store: &StoreThread,
    supervision: &Supervision,
    repository: &Repository,
    commit: &CommitId,
    checks: &[Check],
) -> Result<Checked, RunnerError> {
    let request = CheckoutRequest {
        installation: job.installation,
        config: &job.config,
        project: &job.project.id,
        repository,
        id: &job.run.id,
        logs: job.paths.dir.clone(),
        steps: &job.steps,
        network: job.network.clone(),
    };
    job.steps.enter(Step::Checkout);
    let checkout = GateCheckout::make(request, commit)?;
    let looking = first_red(job, &checkout, supervision, checks);
    let checked = unless_ended(job, store, supervision, looking).await;
    job.steps.enter(Step::Settle);
    checkout.remove()?;
    checked
}

/// Waits for the first failing check, unless a person ends the run before. Then the processes of the checks are ended,
/// too.
async fn unless_ended(
    job: &Job<'_>,
    store: &StoreThread,
    supervision: &Supervision,
    first_red: impl Future<Output = Result<Option<PhaseWork>, RunnerError>>,
) -> Result<Checked, RunnerError> {
    let Some(red) = until_cancelled(job, store, first_red).await else {
        supervision.end_rest().await?;
        return Ok(Checked::Ended);
    };
    Ok(red?.map_or(Checked::Green, Checked::Red))
}

async fn first_red(
    job: &Job<'_>,
    checkout: &GateCheckout<'_>,
    supervision: &Supervision,
    checks: &[Check],
) -> Result<Option<PhaseWork>, RunnerError> {
    // Checks that need no set-up come first, because they are cheap.
    if let Some(red) = missing_file(checkout.path(), checks) {
        checkout.require_in_place()?;
        return Ok(Some(red));
    }
    let mut is_set_up = false;
    for (name, command, limit) in commands(checks) {
        if !is_set_up
            && let Some(result) = checkout.set_up(supervision).await?
            && let Some(red) = red(SET_UP_GATE, &result)
        {
            return Ok(Some(red));
        }
        is_set_up = true;
        if let Some(deadly) = begin_check(job, name)? {
            return Ok(Some(deadly));
        }
        let result = checkout.run(supervision, name, command, limit).await?;
        end_check(job)?;
        if let Some(red) = red(name, &result) {
            return Ok(Some(red));
        }
    }
    Ok(None)
}

/// Runs checks in the project's folder, where phases without worktrees work, until one fails.
pub(super) async fn check_in_place(
    job: &Job<'_>,
    store: &StoreThread,
    supervision: &Supervision,
    checks: &[Check],
) -> Result<Checked, RunnerError> {
    let looking = first_red_in_place(job, supervision, checks);
    let checked = unless_ended(job, store, supervision, looking).await;
    job.steps.enter(Step::Settle);
    checked
}

async fn first_red_in_place(
    job: &Job<'_>,
    supervision: &Supervision,
    checks: &[Check],
) -> Result<Option<PhaseWork>, RunnerError> {
    let root = &job.project.root;
    if let Some(red) = missing_file(root, checks) {
        return Ok(Some(red));
    }
    for (number, (name, command, limit)) in commands(checks).enumerate() {
        let environment = job.command_environment(root);
        let call = CommandCall {
            executable: &job.installation.executable,
            line: command,
            limit,
            redactor: redactor_of_environment(&environment)?,
            environment,
            directory: root,
            input: None,
            log: job.paths.dir.join(format!("check-{number}.log")),
            live: None,
            company: Company::Alone,
            remark: None,
            // Phases work in the project's folder only where nothing is confined.
            sandbox: None,
        };
        job.steps.enter_commands(Step::Gates, limit);
        if let Some(deadly) = begin_check(job, name)? {
            return Ok(Some(deadly));
        }
        let result = run_command(supervision, call).await;
        end_check(job)?;
        let failure = match result {
            Ok(outcome) if outcome.passed() => continue,
            Ok(outcome) => format!("{}\n[{}]", outcome.output, outcome.how(limit)),
            Err(RunnerError::Process(error)) => format!("`{command}` could not be run: {error}"),
            Err(error) => return Err(error),
        };
        return Ok(Some(PhaseWork::CheckFailed {
            check: name.to_owned(),
            output: failure,
        }));
    }
    Ok(None)
}

fn commands(checks: &[Check]) -> impl Iterator<Item = (&str, &CommandLine, Millis)> {
    checks.iter().filter_map(|check| match &check.kind {
        CheckKind::Command {
            command,
            timeout_ms,
        } => {
            let limit = Millis::new(timeout_ms.unwrap_or(CHECK_TIMEOUT_MS_DEFAULT));
            Some((check.name.as_str(), command, limit))
        }
        CheckKind::File { .. } => None,
    })
}

fn missing_file(folder: &Path, checks: &[Check]) -> Option<PhaseWork> {
    checks.iter().find_map(|check| match &check.kind {
        CheckKind::File { file } if !folder.join(file).exists() => Some(PhaseWork::CheckFailed {
            check: check.name.clone(),
            output: format!(
                "`{file}` does not exist in what the phase committed; a file that git ignores does not count"
            ),
        }),
        _ => None,
    })
}

fn red(name: &str, result: &VerifiedGate) -> Option<PhaseWork> {
    if result.passed {
        return None;
    }
    // For a command without an exit code, the last line of the output already describes how it ended.
    let how = result.exit_code.map(|code| format!("\n[exit code {code}]"));
    Some(PhaseWork::CheckFailed {
        check: name.to_owned(),
        output: format!("{}{}", result.output.trim_end(), how.unwrap_or_default()),
    })
}

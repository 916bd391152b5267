//! What a run comes to whose preparation failed.

use symphony_core::exit_handling::{ExitFault, is_unprepared};
use symphony_core::failure::ErrorClass;
use symphony_core::run::AttemptsOf;
use symphony_mcp::StoreThread;
use symphony_store::StoreError;

use super::Job;
use super::outcome::AgentOutcome;
use super::space::when_there_is_space;
use crate::error::RunnerError;

/// Returns the outcome of a run whose preparation failed. A failure of git, the machine or the way to the database proves nothing about
/// its issue.
///
/// # Errors
/// When earlier runs cannot be read, for another reason than a database that is away.
pub(super) async fn not_prepared(
    job: &Job<'_>,
    store: &StoreThread,
    error: &RunnerError,
) -> Result<AgentOutcome, RunnerError> {
    let mut outcome = AgentOutcome::not_started(error);
    let class = outcome.error.as_ref().map(|error| error.class);
    if class.is_some_and(|class| may_be_of_the_machine(error, class))
        && let Some(of) = job.run.target.attempts_of(&job.run.agent)
        && uses_no_attempt(job, store, error, of).await?
        && let Some(error) = &mut outcome.error
    {
        error.class = ErrorClass::NotPrepared;
    }
    Ok(outcome)
}

/// Returns whether such a failure uses no attempt. Only where git or the database's server refused, earlier runs are counted: a database
/// that is away has failed the preparation, and is not needed to say so.
async fn uses_no_attempt(
    job: &Job<'_>,
    store: &StoreThread,
    error: &RunnerError,
    of: AttemptsOf,
) -> Result<bool, RunnerError> {
    let fault = fault_of(error);
    if fault != ExitFault::Refused {
        return Ok(is_unprepared(fault, 1));
    }
    let before = when_there_is_space(job, store, "the run ends", move |store| {
        store.unprepared_before(&of)
    });
    Ok(is_unprepared(fault, before.await?.saturating_add(1)))
}

/// Whose a failure is. A statement that the server could not carry out may be one that this issue alone needs, so it counts in the end.
fn fault_of(error: &RunnerError) -> ExitFault {
    match error {
        RunnerError::Store(StoreError::Overtaxed(_)) => ExitFault::Refused,
        error => error.exit_fault(),
    }
}

/// Whether the machine, or git, may be the reason of a failure, and not the task. [`fault_of`] says whose it is.
fn may_be_of_the_machine(error: &RunnerError, class: ErrorClass) -> bool {
    match error {
        RunnerError::Workspace(_) => class == ErrorClass::WorktreeFailed,
        RunnerError::Io { .. } | RunnerError::Store(_) => class == ErrorClass::SpawnFailed,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use symphony_workspace::{NoAnswer, WorkspaceError};

    use super::*;

    /// Returns whether a run that failed so uses no attempt, as the first one of an issue.
    fn is_of_no_one(error: &RunnerError) -> bool {
        let outcome = AgentOutcome::not_started(error);
        may_be_of_the_machine(error, outcome.error.unwrap().class)
            && is_unprepared(fault_of(error), 1)
    }

    #[test]
    fn a_machine_or_a_database_that_is_away_uses_no_attempt() {
        let denied = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
        let away = StoreError::NoAnswer {
            address: "postgres://db.example/symphony".to_owned(),
            reason: "no route to host".to_owned(),
        };
        let silent = WorkspaceError::RemoteSilent {
            name: "hub".to_owned(),
            call: "git fetch".to_owned(),
            why: NoAnswer::Unreachable,
            detail: "nothing came or went".to_owned(),
        };
        for (error, expected) in [
            (RunnerError::io("make the folder", "a", denied), true),
            (away.into(), true),
            (silent.into(), true),
            // a rule that forbids the run holds for the next one, too
            (RunnerError::refused("it is not allowed"), false),
        ] {
            assert_eq!(is_of_no_one(&error), expected, "{error}");
        }
    }
}

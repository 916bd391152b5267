//! Whether anything that Symphony and the person share with the agent changed during the run.
//!
//! An agent that helps itself (`git config user.email …`) writes into a file that the user's git also reads; one that
//! writes Symphony's configuration decides its own gates; one that deletes a branch may delete a person's.

use std::io::ErrorKind;

use symphony_core::left_behind::LeftKind;
use symphony_workspace::Repository;

use super::note::note;
use crate::error::RunnerError;
use crate::paths::write_private;
use crate::repository::open_repository;
use crate::shared_state::SharedState;
use crate::supervise::Job;
use crate::supervise::outcome::AgentOutcome;

/// Records the shared state before the agent, or the first gate, is started.
pub(crate) fn record_settings(job: &Job<'_>, repository: &Repository) -> Result<(), RunnerError> {
    let state = SharedState::at_start(job.installation, &job.project, repository)?;
    let text = serde_json::to_string(&state).expect("a state has string keys only");
    write_private(&job.paths.shared_state(), &text)
}

/// Records what changed since the dispatch. A person may have changed it, so nothing is undone.
pub(crate) fn note_settings(job: &Job<'_>, outcome: &mut AgentOutcome) -> Result<(), RunnerError> {
    let Some(before) = recorded_state(job)? else {
        return Ok(());
    };
    let repository = open_repository(&job.project, &job.config)?;
    let changes = before.changes(job.installation, &job.project, &repository)?;
    note(LeftKind::Setting, changes.settings, outcome);
    note(LeftKind::Configuration, changes.configuration, outcome);
    note(LeftKind::Ref, changes.refs, outcome);
    Ok(())
}

/// Reads what was recorded at dispatch; `None` when the run did not get as far as its agent.
pub(super) fn recorded_state(job: &Job<'_>) -> Result<Option<SharedState>, RunnerError> {
    let path = job.paths.shared_state();
    match symphony_workspace::read_own_text(&path) {
        Ok(text) => {
            let state = serde_json::from_str(&text);
            Ok(Some(state.unwrap_or_else(|_| SharedState::spoilt())))
        }
        Err(error) => match error.kind() {
            ErrorKind::NotFound => Ok(None),
            // Anything else in its place is a damaged record.
            ErrorKind::InvalidInput | ErrorKind::InvalidData => Ok(Some(SharedState::spoilt())),
            _ => Err(RunnerError::io("read", path, error)),
        },
    }
}

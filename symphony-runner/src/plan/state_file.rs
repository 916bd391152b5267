//! `.symphony-state.json`: a view of the plan that changed last, for people and scripts (spec: plan, "State file").

use std::io::ErrorKind;
use std::path::Path;

use symphony_core::id::PlanId;
use symphony_core::plan::state_file::{MANAGED_BY, STATE_FILE, StateFile, StateHeader};
use symphony_core::pull_request::{PullRequest, PullRequestOf};
use symphony_store::{PlanRecord, Project, Store};
use symphony_workspace::write_whole;

use super::lock::plans_folder;
use super::refusal::PlanRunRefusal;
use crate::error::RunnerError;

/// Writes the state file of a plan from the database, atomically. Writers take a lock, and each reads the plan again
/// under it: an older state never replaces a newer one.
///
/// # Errors
/// When the plan cannot be read, or the file cannot be written.
pub fn write_state_file(
    store: &mut Store,
    project: &Project,
    plan: &PlanId,
) -> Result<(), RunnerError> {
    let folder = plans_folder(project);
    std::fs::create_dir_all(&folder)
        .map_err(|error| RunnerError::io("make the folder", &folder, error))?;
    let turn = folder.join("state-file.lock");
    let lock = std::fs::File::create(&turn)
        .and_then(|file| file.lock().map(|()| file))
        .map_err(|error| RunnerError::io("lock", &turn, error))?;
    let record = store.plan(plan)?;
    let written = match refuse_foreign(&project.root) {
        Ok(()) => write(&project.root, &record),
        // A skill began with a file of its own meanwhile: the plan goes on without a state file.
        Err(error @ RunnerError::Plan(PlanRunRefusal::ForeignStateFile(_))) => {
            tracing::warn!(%error, "the plan's state file is not written");
            Ok(())
        }
        Err(error) => Err(error),
    };
    drop(lock);
    written
}

/// Updates the state file after a change of a plan's pull request: a verdict or a merge moves the plan while no process
/// may be driving it. If the file cannot be written, the change is still made.
pub fn show_plan_of(store: &mut Store, pr: &PullRequest) {
    let PullRequestOf::Plan(plan) = &pr.of else {
        return;
    };
    let written = match store.project(&pr.project) {
        Ok(project) => write_state_file(store, &project, plan),
        Err(error) => Err(error.into()),
    };
    if let Err(error) = written {
        tracing::warn!(%error, "the next change of plan {plan} writes its state file");
    }
}

fn write(root: &Path, record: &PlanRecord) -> Result<(), RunnerError> {
    let path = root.join(STATE_FILE);
    let failed = |error| RunnerError::io("write", &path, error);
    let header = StateHeader {
        managed_by: Some(MANAGED_BY.to_owned()),
        plan_path: record.path.clone(),
        retry_policy: record.options.retry_policy,
    };
    let state = StateFile::from_state(header, record.document.clone(), &record.state);
    let text = state
        .render()
        .map_err(|error| failed(std::io::Error::other(error)))?;
    write_whole(&path, text).map_err(failed)
}

/// Refuses to begin if a skill keeps a state of its own: its file would be overwritten.
pub(super) fn refuse_foreign(root: &Path) -> Result<(), RunnerError> {
    let path = root.join(STATE_FILE);
    let text = match symphony_workspace::read_own_text(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(RunnerError::io("read", &path, error)),
    };
    let is_ours = serde_json::from_str::<serde_json::Value>(&text)
        .is_ok_and(|value| value.get("managedBy").is_some_and(|by| by == MANAGED_BY));
    if is_ours {
        return Ok(());
    }
    Err(PlanRunRefusal::ForeignStateFile(path).into())
}

//! What a tick knows about the gates of its projects on their bases.

use symphony_core::Timestamp;
use symphony_core::gates::retry_when_changed;
use symphony_core::hold::HoldScope;
use symphony_core::id::ProjectId;
use symphony_core::tick::{Candidate, Snapshot};
use symphony_store::Store;

use super::observed::Observed;
use crate::error::RunnerError;
use crate::gates::{base_gates, untried};
use crate::repository::BaseProblem;

/// Adds what is known about gates on the bases of projects, where they hold a project or a waiting issue depends on
/// them. A hold whose base, gates or set-up have changed since is due at once.
///
/// A project without waiting issues is skipped, and so is one that is on hold because of its base: that problem is
/// reported where it is found. Returns the problems of the others.
pub(super) fn look_at_base_gates(
    store: &Store,
    observed: &mut Observed,
    now: Timestamp,
) -> Vec<String> {
    let mut problems = Vec::new();
    for (id, (project, config)) in &observed.projects {
        let Some(config) = config else {
            continue;
        };
        let snapshot = &mut observed.snapshot;
        let view = snapshot.projects.get(id);
        if view.is_none_or(|view| view.no_base.is_some()) {
            continue;
        }
        let failed = |what: &str, error: RunnerError| {
            let why = match &error {
                RunnerError::Workspace(error) => BaseProblem::of(project, error).to_string(),
                error => error.to_string(),
            };
            format!("project {id}: {what}: {why}")
        };
        let scope = HoldScope::Gates(id.clone());
        let mut holds = snapshot.holds.iter_mut();
        let mut hold = holds.find(|hold| hold.scope == scope);
        if hold.is_some() || waits(id, &snapshot.candidates, |c| !c.repairs.is_empty()) {
            match base_gates(store, project, config, hold.as_deref()) {
                Ok(known) => {
                    if let Some(hold) = &mut hold {
                        retry_when_changed(hold, &known, now);
                    }
                    if let Some(view) = snapshot.projects.get_mut(id) {
                        view.base_gates = Some(known);
                    }
                }
                Err(error) => problems.push(failed("its base was not checked", error)),
            }
        }
        if hold.is_none() && waits(id, &snapshot.candidates, |c| c.repairs.is_empty()) {
            match untried(store, project, config) {
                Ok(names) => note_untried(snapshot, id, names),
                Err(error) => problems.push(failed(
                    "it is not known which of its gates have been tried",
                    error,
                )),
            }
        }
    }
    problems
}

fn note_untried(snapshot: &mut Snapshot, project: &ProjectId, names: Vec<String>) {
    if let Some(view) = snapshot.projects.get_mut(project) {
        view.untried_gates = names;
    }
}

/// Returns whether an issue of a kind waits in a project.
fn waits(project: &ProjectId, candidates: &[Candidate], is_kind: fn(&Candidate) -> bool) -> bool {
    let mut of_project = candidates.iter().filter(|c| c.project == *project);
    of_project.any(is_kind)
}

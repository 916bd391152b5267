//! The list of what a run left, in the record of the run.

use serde_json::json;
use symphony_core::left_behind::{LEFT_BEHIND, LEFT_NAMED_MAX, LeftBehind, LeftKind};

use crate::supervise::outcome::AgentOutcome;

/// Adds names to the list of what the run left.
pub(super) fn note(kind: LeftKind, mut changed: Vec<String>, outcome: &mut AgentOutcome) {
    if changed.is_empty() {
        return;
    }
    changed.truncate(LEFT_NAMED_MAX);
    let changed = changed.into_iter().map(|path| LeftBehind { kind, path });
    add(changed.collect(), outcome);
}

/// Adds entries to the list of what the run left.
pub(super) fn add(left: Vec<LeftBehind>, outcome: &mut AgentOutcome) {
    let noted = outcome.metadata.remove(LEFT_BEHIND);
    let noted: Vec<LeftBehind> = noted
        .and_then(|noted| serde_json::from_value(noted).ok())
        .unwrap_or_default();
    let left: Vec<LeftBehind> = noted.into_iter().chain(left).collect();
    outcome.metadata.insert(LEFT_BEHIND.to_owned(), json!(left));
}

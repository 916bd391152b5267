//! Steps of an arrival that a death cut short.
//!
//! The steps are carried out one by one, by the same functions that commands use; the base follows after them. Without a note of what
//! was under way, a step that was carried out would look like an edit of ours: an edit that people then take back at the tracker would be
//! sent to it again. So the note is written before the steps, and whoever finds it brings the base in line with what was carried out.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use symphony_core::config::TrackerSettings;

use crate::arrival::Step;
use crate::base::Base;
use crate::labels;

/// What is being taken over from the tracker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taking {
    /// The base once all steps are carried out.
    pub base: Base,
    /// The steps, in their order.
    pub steps: Vec<Step>,
    /// The last entry of the log before them.
    pub since: i64,
}

/// What the log says of the steps: how many of the entries since then are the tracker's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Carried {
    /// Edits.
    pub edits: usize,
    /// Moves.
    pub moves: usize,
}

/// Returns the base after those steps that were carried out: on their fields both sides agreed, whatever was edited since.
pub fn resume(settings: &TrackerSettings, before: &Base, taking: &Taking, done: Carried) -> Base {
    let mut base = before.clone();
    let after = &taking.base;
    let edits = taking.steps.iter().filter(|step| is_edit(step));
    for step in edits.take(done.edits) {
        match step {
            Step::SetTitle { .. } => {
                base.remote.title.clone_from(&after.remote.title);
                base.local.title.clone_from(&after.local.title);
            }
            Step::SetDescription { .. } => {
                base.remote.body.clone_from(&after.remote.body);
                base.local.description.clone_from(&after.local.description);
            }
            Step::SetLabels { add, remove } => {
                let add: BTreeSet<String> = add.iter().cloned().collect();
                let remove: BTreeSet<String> = remove.iter().cloned().collect();
                base.remote.labels = labels::changed(&base.remote.labels, &add, &remove);
                base.local.labels = labels::changed(&base.local.labels, &add, &remove);
            }
            Step::SetPriority { .. } => {
                base.remote.priority = after.remote.priority;
                base.local.priority = after.local.priority;
                take_labels(settings, &mut base, after, settings.priorities.values());
            }
            _ => {}
        }
    }
    let moves = taking.steps.iter().filter(|step| is_move(step)).count();
    if moves > 0 && done.moves >= moves {
        base.remote.state.clone_from(&after.remote.state);
        base.local.status = after.local.status;
        base.local.status_label = after.local.status_label;
        base.filter = after.filter;
        take_labels(settings, &mut base, after, settings.states.values());
    }
    base
}

/// Takes over which of the labels that mean something the tracker had.
fn take_labels<'a>(
    settings: &TrackerSettings,
    base: &mut Base,
    after: &Base,
    among: impl Iterator<Item = &'a String> + Clone,
) {
    if !labels::have_meaning(settings) {
        return;
    }
    let add = labels::present(&after.remote.labels, among.clone());
    let mut remove = labels::present(&base.remote.labels, among);
    remove.retain(|label| !labels::has(&add, label));
    base.remote.labels = labels::changed(&base.remote.labels, &add, &remove);
}

const fn is_edit(step: &Step) -> bool {
    matches!(
        step,
        Step::SetTitle { .. }
            | Step::SetDescription { .. }
            | Step::SetLabels { .. }
            | Step::SetPriority { .. }
            | Step::AddDependency { .. }
            | Step::RemoveDependency { .. }
    )
}

const fn is_move(step: &Step) -> bool {
    matches!(step, Step::Close { .. } | Step::Reopen | Step::Move { .. })
}

//! What a changed plan file changes.

use std::collections::BTreeMap;

use crate::plan::document::Plan;
use crate::plan::phase::Phase;

/// The differences of two plans, as ids in the order of the plan that has them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlanChanges {
    /// Phases that only the new plan has.
    pub added: Vec<String>,
    /// Phases that only the old plan has.
    pub removed: Vec<String>,
    /// Phases that differ in any field.
    pub changed: Vec<String>,
}

impl PlanChanges {
    /// Returns whether the plans have the same phases. Their order and advisory fields are ignored.
    pub const fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

/// Compares the active plan with the current file.
pub fn compare_plans(old: &Plan, new: &Plan) -> PlanChanges {
    let (before, now) = (by_id(old), by_id(new));
    let mut changes = PlanChanges::default();
    for phase in &new.phases {
        match before.get(phase.id.as_str()) {
            None => changes.added.push(phase.id.clone()),
            Some(other) if *other != phase => changes.changed.push(phase.id.clone()),
            Some(_) => {}
        }
    }
    let gone = old
        .phases
        .iter()
        .filter(|phase| !now.contains_key(phase.id.as_str()));
    changes.removed = gone.map(|phase| phase.id.clone()).collect();
    changes
}

fn by_id(plan: &Plan) -> BTreeMap<&str, &Phase> {
    plan.phases
        .iter()
        .map(|phase| (phase.id.as_str(), phase))
        .collect()
}

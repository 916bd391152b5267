//! Relations of a tracker's issue: its parent, and what blocks it.
//!
//! They go one way, from the tracker. A relation becomes one of ours once both ends are linked. Each is a step of its own, since the
//! store refuses those that would close a circle; a refused one is not tried again until it changes at the tracker.

use std::collections::BTreeMap;

use symphony_core::id::IssueId;

use crate::base::{Base, Relations, RemoteFields};
use crate::remote::ExternalId;
use crate::step::Step;

/// Returns the steps that make the relations here those of the tracker, and the relations that Symphony has then.
pub(crate) fn plan(
    remote: &RemoteFields,
    taken: &Relations,
    links: &BTreeMap<ExternalId, IssueId>,
) -> (Vec<Step>, Relations) {
    let mut steps = Vec::new();
    let mut after = taken.clone();
    if remote.parent != taken.parent {
        let linked = remote.parent.as_ref().and_then(|parent| links.get(parent));
        if let Some(parent) = linked {
            steps.push(Step::SetParent {
                parent: parent.clone(),
            });
            after.parent.clone_from(&remote.parent);
        } else if let Some(gone) = after.parent.take() {
            steps.extend(links.get(&gone).map(|parent| Step::ClearParent {
                parent: parent.clone(),
            }));
        }
    }
    for gone in taken.blocked_by.difference(&remote.blocked_by) {
        after.blocked_by.remove(gone);
        steps.extend(
            links
                .get(gone)
                .map(|on| Step::RemoveDependency { on: on.clone() }),
        );
    }
    for new in remote.blocked_by.difference(&taken.blocked_by) {
        if let Some(on) = links.get(new) {
            after.blocked_by.insert(new.clone());
            steps.push(Step::AddDependency { on: on.clone() });
        }
    }
    (steps, after)
}

/// Returns the relations that wait until their other end is linked.
pub fn waiting(base: &Base) -> Vec<&ExternalId> {
    let parent = base.remote.parent.as_ref();
    let parent = parent.filter(|_| base.remote.parent != base.relations.parent);
    let blocked_by = base
        .remote
        .blocked_by
        .difference(&base.relations.blocked_by);
    parent.into_iter().chain(blocked_by).collect()
}

/// Returns the steps for relations that waited until their other end was linked, and the base after them. A run calls it for
/// each base of which [`waiting`] has an issue that was just linked.
pub fn resolve(base: &Base, links: &BTreeMap<ExternalId, IssueId>) -> (Vec<Step>, Base) {
    let (steps, relations) = plan(&base.remote, &base.relations, links);
    let base = Base {
        relations,
        ..base.clone()
    };
    (steps, base)
}

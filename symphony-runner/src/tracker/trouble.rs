//! Which trackers need a person.

use symphony_core::id::ProjectId;
use symphony_core::inbox::{InboxItem, TrackerTrouble, tracker_item};
use symphony_store::Store;
use symphony_tracker::fault::Fault;

use crate::error::RunnerError;

/// After how many failed looks a person hears of an outage: the first ones pass without help.
const TRIES_SHOWN: u32 = 5;

/// Returns what the trackers of a project need a person for.
pub(crate) fn trackers_in_trouble(
    store: &Store,
    project: &ProjectId,
) -> Result<Vec<InboxItem>, RunnerError> {
    let mut items = Vec::new();
    for record in store.trackers(project)? {
        let hold = record.hold.as_ref();
        if let Some(hold) = hold.filter(|hold| needs_a_person(&hold.fault, record.tries)) {
            let reason = hold.fault.to_string();
            let trouble = TrackerTrouble::Held { reason };
            items.push(tracker_item(project, &record.name, &trouble, hold.since));
        }
        if let Some(refused) = store.refused_changes(record.id)? {
            let trouble = TrackerTrouble::Refused {
                count: refused.count,
                last: refused.last,
            };
            items.push(tracker_item(project, &record.name, &trouble, refused.since));
        }
    }
    Ok(items)
}

/// Returns whether a fault does not pass without a person; `tries` looks in a row have failed.
pub(crate) const fn needs_a_person(fault: &Fault, tries: u32) -> bool {
    match fault {
        Fault::NoToken { .. }
        | Fault::Misconfigured { .. }
        | Fault::Moved { .. }
        | Fault::Unauthorised { .. }
        | Fault::Git { .. }
        | Fault::Forbidden { .. }
        | Fault::ReadOnly { .. }
        | Fault::NotFound { .. }
        | Fault::Refused { .. } => true,
        Fault::RateLimited { .. } => false,
        Fault::Unreachable { .. }
        | Fault::Failed { .. }
        | Fault::Unreadable { .. }
        | Fault::Here { .. } => tries >= TRIES_SHOWN,
    }
}

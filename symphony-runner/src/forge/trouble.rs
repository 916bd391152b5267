//! What the forge of a project needs a person for.

use symphony_core::Timestamp;
use symphony_core::id::ProjectId;
use symphony_core::inbox::{ForgeTrouble, InboxItem, forge_item};
use symphony_store::Store;

use crate::error::RunnerError;
use crate::tracker::needs_a_person;

/// Returns what the forge of a project needs a person for. Nothing is read for a project without one but that it has none.
pub(crate) fn forge_in_trouble(
    store: &Store,
    project: &ProjectId,
    now: Timestamp,
) -> Result<Vec<InboxItem>, RunnerError> {
    let Some(record) = store.forge(project)? else {
        return Ok(Vec::new());
    };
    let since = record.looked_at.unwrap_or(now);
    let mut items = Vec::new();
    if let Some(hold) = &record.hold
        && needs_a_person(&hold.fault, record.tries)
    {
        let reason = hold.fault.to_string();
        let trouble = ForgeTrouble::Held { reason };
        items.push(forge_item(project, &record.place, &trouble, hold.since));
    }
    if let Some(reason) = &record.problem {
        let reason = reason.clone();
        let trouble = ForgeTrouble::Base { reason };
        items.push(forge_item(project, &record.place, &trouble, since));
    }
    let mut pulls = store.open_forge_pulls(project)?;
    pulls.extend(store.closed_forge_pulls(project, None)?);
    for mut pull in pulls {
        // what keeps the base back is one item, however many pull requests wait for it
        if pull.problem == record.problem {
            pull.problem = None;
        }
        if let Some(reason) = pull.trouble() {
            let pr = pull.pr;
            let trouble = ForgeTrouble::Pull { pr, reason };
            items.push(forge_item(project, &record.place, &trouble, since));
        }
    }
    Ok(items)
}

//! The trackers of a project.

use symphony_core::outbox::OutboxState;
use symphony_runner::RunnerError;
use symphony_runner::session::Session;
use symphony_runner::tracker::place_of;
use symphony_store::{OutboxChange, Store, StoreError};

use crate::{ChangeView, TrackerHoldView, TrackerView};

/// Most changes of a kind that are shown.
const CHANGES_MAX: u32 = 100;

/// Reads how the trackers of the session's project stand.
///
/// # Errors
/// When the configuration or the database cannot be read.
pub fn trackers(session: &Session) -> Result<Vec<TrackerView>, RunnerError> {
    let (store, project) = (&session.store, &session.project.id);
    let mut views = Vec::new();
    for settings in session.config()?.trackers {
        let record = store.tracker(project, &settings.name)?;
        let mut view = TrackerView {
            place: place_of(&settings),
            name: settings.name,
            issues: 0,
            looked_at: None,
            waiting: Vec::new(),
            refused: Vec::new(),
            hold: None,
        };
        if let Some(record) = record {
            view.issues = store.links_count(record.id)?;
            view.looked_at = record.looked_at;
            view.hold = record.hold.as_ref().map(TrackerHoldView::from);
            let of = |state| store.changes_in(record.id, state, CHANGES_MAX);
            view.waiting = changes(store, of(OutboxState::Waiting)?)?;
            view.refused = changes(store, of(OutboxState::Refused)?)?;
        }
        views.push(view);
    }
    Ok(views)
}

fn changes(store: &Store, changes: Vec<OutboxChange>) -> Result<Vec<ChangeView>, StoreError> {
    let of = |change: OutboxChange| {
        Ok(ChangeView {
            key: store.link(change.link)?.key,
            what: change.outgoing.change.what().to_owned(),
            tries: change.tries,
            problem: change.problem,
        })
    };
    changes.into_iter().map(of).collect()
}

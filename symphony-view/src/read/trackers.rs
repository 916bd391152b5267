//! The trackers of a project.

use symphony_core::outbox::OutboxState;
use symphony_runner::RunnerError;
use symphony_runner::session::Session;
use symphony_runner::tracker::place_of;
use symphony_store::{OutboxChange, Store, StoreError, TrackerRecord};

use crate::{ChangeView, TrackerHoldView, TrackerView};

/// Most changes of a kind that are shown.
const CHANGES_MAX: u32 = 100;

/// Reads the state of the trackers of the session's project.
///
/// # Errors
/// When the configuration or the database cannot be read.
pub fn trackers(session: &Session) -> Result<Vec<TrackerView>, RunnerError> {
    let (store, project) = (&session.store, &session.project.id);
    let mut views = Vec::new();
    let configured = session.config()?.trackers;
    for settings in &configured {
        let record = store.tracker(project, &settings.name)?;
        let place = place_of(settings);
        views.push(view(store, (&settings.name, place), record.as_ref())?);
    }
    // One that was taken out of the configuration is shown while it has issues: its changes wait forever, and nothing else shows that.
    for record in store.trackers(project)? {
        let is_known = configured.iter().any(|known| known.name == record.name);
        if is_known || store.links_count(record.id)? == 0 {
            continue;
        }
        let place = record.place.clone();
        let left = view(store, (&record.name, place), Some(&record))?;
        views.push(TrackerView {
            is_configured: false,
            ..left
        });
    }
    Ok(views)
}

fn view(
    store: &Store,
    (name, place): (&str, String),
    record: Option<&TrackerRecord>,
) -> Result<TrackerView, StoreError> {
    let mut view = TrackerView {
        place,
        name: name.to_owned(),
        issues: 0,
        looked_at: None,
        waiting: Vec::new(),
        refused: Vec::new(),
        hold: None,
        is_configured: true,
    };
    if let Some(record) = record {
        view.issues = store.links_count(record.id)?;
        view.looked_at = record.looked_at;
        view.hold = record.hold.as_ref().map(TrackerHoldView::from);
        let of = |state| store.changes_in(record.id, state, CHANGES_MAX);
        view.waiting = changes(store, of(OutboxState::Waiting)?)?;
        view.refused = changes(store, of(OutboxState::Refused)?)?;
    }
    Ok(view)
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

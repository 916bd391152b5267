//! What waits for a person.

use symphony_core::Timestamp;
use symphony_core::tick::{Snapshot, plan_tick};
use symphony_runner::RunnerError;
use symphony_runner::inbox::inbox as items;
use symphony_runner::session::Session;
use symphony_runner::tick::observe_snapshot;

use crate::{Elsewhere, InboxView};

/// Reads what waits for a person, in all projects of the installation.
///
/// # Errors
/// When the database, a repository or a configuration cannot be read.
pub fn inbox(
    session: &mut Session,
    elsewhere: &Elsewhere,
    now: Timestamp,
) -> Result<Vec<InboxView>, RunnerError> {
    let snapshot = observe_snapshot(&session.installation, &mut session.store, now)?;
    inbox_of(session, &snapshot, elsewhere, now)
}

/// As [`inbox`], of what was observed before.
///
/// # Errors
/// When the database cannot be read.
pub fn inbox_of(
    session: &Session,
    snapshot: &Snapshot,
    elsewhere: &Elsewhere,
    now: Timestamp,
) -> Result<Vec<InboxView>, RunnerError> {
    let schedule = plan_tick(snapshot, now);
    let items = items(&session.store, snapshot, &schedule, now)?.into_iter();
    Ok(items.map(|item| InboxView::new(item, elsewhere)).collect())
}

//! The forge of a project.

use symphony_runner::RunnerError;
use symphony_runner::session::Session;

use crate::{ForgePullView, ForgeView, TrackerHoldView};

/// Reads what is open at the forge of the session's project, and whether it can be asked.
///
/// # Errors
/// When the database cannot be read.
pub fn forge(session: &Session) -> Result<ForgeView, RunnerError> {
    let (store, project) = (&session.store, &session.project.id);
    let record = store.forge(project)?;
    let mut pulls = store.open_forge_pulls(project)?;
    pulls.extend(store.closed_forge_pulls(project, None)?);
    Ok(ForgeView {
        place: record.as_ref().map(|record| record.place.clone()),
        looked_at: record.as_ref().and_then(|record| record.looked_at),
        hold: record
            .as_ref()
            .and_then(|record| record.hold.as_ref().map(TrackerHoldView::from)),
        problem: record.and_then(|record| record.problem),
        pull_requests: pulls.into_iter().map(ForgePullView::from).collect(),
    })
}

//! What runs cost: by day, and split up.

use symphony_core::Timestamp;
use symphony_core::spending::{DAY_MS, Spent, day_number};
use symphony_runner::session::Session;
use symphony_store::{SpentBy, StoreError};

use crate::{SpendingView, SpentFor, SpentOn};

/// Reads what the runs of the session's project cost in the last days (UTC), today included.
///
/// # Errors
/// When the database cannot be read.
pub fn spending(session: &Session, days: u32, now: Timestamp) -> Result<SpendingView, StoreError> {
    let (store, project) = (&session.store, &session.project.id);
    let today = day_number(now);
    let first = today - i64::from(days) + 1;
    let spent = store.spent_by_day(project, first)?;
    let on = |day: i64| {
        let found = spent.iter().find(|(on, _)| *on == day);
        found.map_or_else(Spent::default, |(_, spent)| *spent)
    };
    let split = |by| -> Result<Vec<SpentFor>, StoreError> {
        let rows = store.spent_by(project, by, first)?;
        Ok(rows.into_iter().map(SpentFor::from).collect())
    };
    Ok(SpendingView {
        project: project.clone(),
        days: (first..=today)
            .map(|day| SpentOn {
                day: date(day),
                spent: on(day).into(),
            })
            .collect(),
        agents: split(SpentBy::Agent)?,
        models: split(SpentBy::Model)?,
        issues: split(SpentBy::Issue)?,
    })
}

/// The date of a day since 1970, as `2026-11-25`.
fn date(day: i64) -> String {
    let at = Timestamp::from_millisecond(day.saturating_mul(DAY_MS));
    let text = at.map(|at| at.to_string()).unwrap_or_default();
    text.get(..10).unwrap_or_default().to_owned()
}

//! Why everything that has not ended is not stuck, with the schedule and the inbox that show it.

use std::collections::BTreeMap;

use symphony_core::Timestamp;
use symphony_core::inbox::InboxItem;
use symphony_core::standing::{Item, Observed, Standing, standings};
use symphony_core::tick::{Schedule, Snapshot, plan_tick};
use symphony_store::Store;

use crate::error::RunnerError;
use crate::inbox::inbox;

/// What the next tick would do, what waits for a person, and the status of each open item.
#[derive(Debug)]
pub struct Outlook {
    /// The schedule of the next tick.
    pub schedule: Schedule,
    /// What waits for a person, oldest first.
    pub inbox: Vec<InboxItem>,
    /// The status of each issue, pull request, plan and publication that has not ended.
    pub standings: BTreeMap<Item, Standing>,
}

impl Outlook {
    /// Derives it from what was observed.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn of(store: &mut Store, snapshot: &Snapshot, now: Timestamp) -> Result<Self, RunnerError> {
        let open = store.open_items()?;
        let schedule = plan_tick(snapshot, now);
        let inbox = inbox(store, snapshot, &schedule, now)?;
        let standings = standings(&Observed {
            snapshot,
            schedule: &schedule,
            inbox: &inbox,
            open: &open,
            now,
        });
        Ok(Self {
            schedule,
            inbox,
            standings,
        })
    }
}

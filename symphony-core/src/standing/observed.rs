//! What a moment shows.

use super::open::OpenItems;
use crate::Timestamp;
use crate::inbox::InboxItem;
use crate::tick::{Schedule, Snapshot};

/// The observations at one moment: the database, the schedule of the next tick, and the inbox.
#[derive(Debug, Clone, Copy)]
pub struct Observed<'a> {
    /// What the tick sees.
    pub snapshot: &'a Snapshot,
    /// What it would do.
    pub schedule: &'a Schedule,
    /// What a person finds.
    pub inbox: &'a [InboxItem],
    /// Everything that has not ended.
    pub open: &'a OpenItems,
    /// The current time.
    pub now: Timestamp,
}

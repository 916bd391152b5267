//! What a moment shows.

use super::open::OpenItems;
use crate::Timestamp;
use crate::inbox::InboxItem;
use crate::tick::{Schedule, Snapshot};

/// What a moment shows: the database, the tick that would come next, and the inbox.
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
    /// When.
    pub now: Timestamp,
}

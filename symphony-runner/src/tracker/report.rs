//! What a round did.

use symphony_core::id::IssueId;
use symphony_store::TrackerHold;

/// What a round is asked to do beyond what is due.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SyncWish {
    /// Read everything again, from the beginning.
    pub is_all: bool,
    /// The place was renamed: what is linked with the old name is linked with the new one.
    pub is_moved: bool,
    /// What happens to what the tracker refused.
    pub refused: RefusedWish,
}

/// What is asked for what a tracker refused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RefusedWish {
    /// It stays.
    #[default]
    Keep,
    /// It is sent again.
    Retry,
    /// It is forgotten.
    Forget,
}

/// What a round with one tracker did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SyncReport {
    /// The tracker's name in the configuration.
    pub tracker: String,
    /// Issues that were taken in, with what they are called there.
    pub taken_in: Vec<(IssueId, String)>,
    /// Issues that changed here.
    pub changed: Vec<IssueId>,
    /// Comments that were taken in.
    pub comments: usize,
    /// Changes that the tracker has now.
    pub sent: usize,
    /// Changes that the tracker refused.
    pub refused: usize,
    /// What could not be done, each as a sentence.
    pub problems: Vec<String>,
    /// Why the tracker is not asked for now.
    pub hold: Option<TrackerHold>,
}

impl SyncReport {
    /// Records that an issue changed here.
    pub(super) fn note_changed(&mut self, issue: &IssueId) {
        if !self.changed.contains(issue) {
            self.changed.push(issue.clone());
        }
    }
}

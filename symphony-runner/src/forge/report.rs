//! What a look at a forge did, for whoever asked for it.

use symphony_core::id::PrId;
use symphony_store::TrackerHold;

/// What a look at the forge of a project did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForgeReport {
    /// Where it looked, such as `github:acme/web`.
    pub place: String,
    /// Pull requests that were opened there.
    pub opened: Vec<PrId>,
    /// Base branches that were pushed, after merges here.
    pub bases: Vec<String>,
    /// Branches that were pushed.
    pub pushed: usize,
    /// Reviews and comments that were taken in.
    pub taken: usize,
    /// Pull requests that were merged there, and are recorded as merged now.
    pub merged: Vec<PrId>,
    /// Pull requests that were closed there: no one works on them here any more.
    pub closed: Vec<PrId>,
    /// Pull requests on which the work has stopped, since another commit of theirs was merged there.
    pub stopped: Vec<PrId>,
    /// What could not be done, as sentences.
    pub problems: Vec<String>,
    /// Why it is not asked for now.
    pub hold: Option<TrackerHold>,
}

//! A hold to be placed.

use symphony_core::Timestamp;
use symphony_core::failure::ErrorClass;
use symphony_core::tick::HoldScope;

/// A hold to be placed, or to be extended after a failed probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewHold {
    /// The scope that it covers.
    pub scope: HoldScope,
    /// The class of the error.
    pub class: ErrorClass,
    /// What happened.
    pub reason: String,
    /// When the condition ends, if known.
    pub until: Option<Timestamp>,
    /// The length of the first hold if the end is not known, in milliseconds; it doubles with each failed probe.
    pub first_ms: u64,
    /// For a hold of gates, a digest of what was red on the base.
    pub tried: Option<String>,
}

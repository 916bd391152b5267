//! A hold to be placed.

use symphony_core::Timestamp;
use symphony_core::failure::ErrorClass;
use symphony_core::tick::HoldScope;

/// A hold to be placed, or to be lengthened after a probe that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewHold {
    /// What it covers.
    pub scope: HoldScope,
    /// What class of error.
    pub class: ErrorClass,
    /// What happened.
    pub reason: String,
    /// When the condition ends, if that is known.
    pub until: Option<Timestamp>,
    /// The first hold when it is not known, in milliseconds; doubled with each probe that fails.
    pub first_ms: u64,
    /// A digest of what was red on the base, for a hold of gates.
    pub tried: Option<String>,
}

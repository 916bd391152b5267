//! In whose name a command writes that a person typed.

use std::sync::OnceLock;

use symphony_core::Timestamp;
use symphony_core::asker::Verification;
use symphony_store::Context;

/// What was found of this process: one process has one asker, as it has one parent.
static VERIFICATION: OnceLock<Verification> = OnceLock::new();

/// Notes who started this process, before it writes anything in a person's name. The first note counts.
pub fn note_verification(verification: Verification) {
    let _first = VERIFICATION.get_or_init(|| verification);
}

/// Returns whether a person was seen to start this process.
pub fn verification() -> Verification {
    let unasked = || Verification::Unverified("Symphony did not check who started it".to_owned());
    VERIFICATION.get().cloned().unwrap_or_else(unasked)
}

/// The context of a write by whoever typed the command of this process.
pub fn as_person(now: Timestamp) -> Context {
    Context::person(verification(), now)
}

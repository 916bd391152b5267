//! Who a command that a person typed writes as.

use std::sync::OnceLock;

use symphony_core::Timestamp;
use symphony_core::asker::Verification;
use symphony_core::user::{Attribution, Source, UserName};
use symphony_store::{Actor, Context, Person};

/// What was found out about this process: it has one asker, as it has one parent.
static VERIFICATION: OnceLock<Verification> = OnceLock::new();

/// Records who started this process, before it writes anything as a person. The first record counts.
pub fn note_verification(verification: Verification) {
    let _first = VERIFICATION.get_or_init(|| verification);
}

/// Returns whether a person verifiably started this process.
pub fn verification() -> Verification {
    let unasked = || Verification::Unverified("Symphony did not check who started it".to_owned());
    VERIFICATION.get().cloned().unwrap_or_else(unasked)
}

/// The context of a write by whoever typed this process's command.
pub fn as_person(now: Timestamp) -> Context {
    Context::person(verification(), now)
}

/// The context of a write on the page. Whoever signed in as a user has proved who they are; others are as sure as whoever started this
/// process.
pub fn as_visitor(user: Option<&UserName>, now: Timestamp) -> Context {
    let person = Person {
        verification: user.map_or_else(verification, |_signed_in| Verification::Verified),
        attribution: Attribution {
            source: Some(Source::Web),
            user: user.cloned(),
        },
    };
    Context {
        actor: Actor::Human(person),
        now,
    }
}

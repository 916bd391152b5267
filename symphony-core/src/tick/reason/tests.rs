//! What reasons say.

use super::*;
use crate::id::ProjectId;

#[test]
fn a_hold_of_gates_is_named_in_a_list_without_what_they_say() {
    let held = |scope, why: &str| Reason::Held {
        scope,
        until: Timestamp::MAX,
        why: why.to_owned(),
    };
    let gates = HoldScope::Gates(ProjectId::parse("p").expect("an id"));
    let long = "on `main` at a841eb8: `format` failed: run it with --write to fix.";
    let provider = HoldScope::Provider("scripted".to_owned());
    for (reason, brief, whole) in [
        (
            held(gates, long),
            "project p is on hold until its gates pass on the base",
            "project p is on hold until its gates pass on the base: on `main` at a841eb8: `format` failed: run it with \
             --write to fix",
        ),
        (
            held(provider, "529"),
            "provider scripted is on hold: 529",
            "provider scripted is on hold: 529",
        ),
    ] {
        assert_eq!(
            (reason.brief().as_str(), reason.to_string().as_str()),
            (brief, whole)
        );
    }
}

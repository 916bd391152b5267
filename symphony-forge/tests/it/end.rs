//! What one side's end changes on the other.

use symphony_core::pull_request::PrState;
use symphony_forge::end::{End, plan_end};
use symphony_forge::remote::RemoteState;

use crate::samples::{HEAD, OLD, pull};

#[test]
fn each_pair_of_states_has_its_consequence() {
    let merged = || RemoteState::Merged {
        commit: Some("abc".to_owned()),
        by: None,
    };
    let take = End::TakeMerge {
        commit: Some("abc".to_owned()),
        by: None,
    };
    for (ours, theirs, expected) in [
        (PrState::Open, RemoteState::Open, End::None),
        (PrState::Approved, RemoteState::Open, End::None),
        (PrState::Rejected, RemoteState::Open, End::None),
        (PrState::Merged, RemoteState::Open, End::CloseThere),
        (PrState::Closed, RemoteState::Open, End::CloseThere),
        (PrState::Open, merged(), take.clone()),
        (PrState::Approved, merged(), take),
        (PrState::Rejected, merged(), End::None),
        (PrState::Merged, merged(), End::None),
        (PrState::Open, RemoteState::Closed, End::CloseHere),
        (PrState::Approved, RemoteState::Closed, End::CloseHere),
        (PrState::Closed, RemoteState::Closed, End::None),
    ] {
        let theirs = pull(theirs);
        assert_eq!(plan_end(ours, HEAD, &theirs), expected, "{ours} {theirs:?}");
    }
}

#[test]
fn the_merge_of_another_commit_is_no_merge_of_ours() {
    let theirs = pull(RemoteState::Merged {
        commit: None,
        by: None,
    });
    let expected = End::OtherMerged {
        head: HEAD.to_owned(),
    };
    assert_eq!(plan_end(PrState::Approved, OLD, &theirs), expected);
}

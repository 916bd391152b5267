//! What one side's end changes on the other.

use symphony_core::pull_request::PrState;
use symphony_forge::end::{End, Order, Ours, plan_end, plan_order};
use symphony_forge::remote::{RemotePull, RemoteState};

use crate::samples::pull;

fn theirs(state: &RemoteState, head: &str, base: &str) -> RemotePull {
    RemotePull {
        head: head.to_owned(),
        base_branch: base.to_owned(),
        ..pull(state.clone())
    }
}

const fn ours(state: PrState, pushed: &[String]) -> Ours<'_> {
    Ours {
        state,
        head: "new",
        base: "main",
        pushed,
        is_given_up: false,
    }
}

#[test]
fn an_end_on_one_side_is_one_on_the_other() {
    use PrState::{Approved, Closed, Merged, Open, Rejected};
    let pushed = ["old".to_owned(), "new".to_owned()];
    let merged = RemoteState::Merged {
        commit: Some("m".to_owned()),
        by: None,
    };
    let take = End::TakeMerge {
        commit: Some("m".to_owned()),
        by: None,
    };
    let head = |head: &str| head.to_owned();
    let shelve = |at: &str| End::Shelve { head: head(at) };
    let older = End::OlderMerged { head: head("old") };
    let more = End::MoreMerged { head: head("more") };
    let other = End::OtherBase { base: head("next") };
    for (state, there, at, base, expected) in [
        (Open, &RemoteState::Open, "old", "main", End::None),
        (Rejected, &RemoteState::Open, "new", "main", End::None),
        (Merged, &RemoteState::Open, "new", "main", End::CloseThere),
        (Closed, &RemoteState::Open, "new", "main", End::CloseThere),
        (Open, &RemoteState::Closed, "new", "main", End::CloseHere),
        (Approved, &RemoteState::Closed, "x", "main", End::CloseHere),
        (
            Rejected,
            &RemoteState::Closed,
            "new",
            "main",
            End::CloseHere,
        ),
        (Closed, &RemoteState::Closed, "new", "main", End::None),
        (Merged, &RemoteState::Closed, "new", "main", End::None),
        (Open, &merged, "new", "main", take.clone()),
        (Approved, &merged, "new", "main", take.clone()),
        (Rejected, &merged, "new", "main", take),
        (Merged, &merged, "new", "main", End::None),
        (Open, &merged, "old", "main", older),
        (Open, &merged, "more", "main", more),
        (Open, &merged, "new", "next", other),
        (Rejected, &merged, "old", "main", shelve("old")),
        (Rejected, &merged, "more", "main", shelve("more")),
        (Rejected, &merged, "new", "next", shelve("new")),
    ] {
        let found = plan_end(ours(state, &pushed), &theirs(there, at, base));
        assert_eq!(found, expected, "{state} {there:?} {at} {base}");
    }
    // a commit that was handed in after the merge there needs a pull request of its own
    let found = plan_end(ours(Open, &pushed[..1]), &theirs(&merged, "more", "main"));
    let expected = End::OlderMerged { head: head("more") };
    assert_eq!(found, expected);
    let given_up = Ours {
        is_given_up: true,
        ..ours(Rejected, &pushed)
    };
    let open = theirs(&RemoteState::Open, "new", "main");
    assert_eq!(plan_end(given_up, &open), End::CloseThere);
}

#[test]
fn the_forge_is_asked_to_merge_only_what_was_reviewed_for_the_same_base() {
    let merged = RemoteState::Merged {
        commit: Some("m".to_owned()),
        by: None,
    };
    for (state, head, base, ordered, expected) in [
        (&RemoteState::Open, "new", "main", None, Order::Ask),
        // the answer to an earlier order was that it is merged, and the forge says otherwise now
        (&RemoteState::Open, "new", "main", Some("m"), Order::Ask),
        (
            &RemoteState::Open,
            "new",
            "next",
            None,
            Order::OtherBase {
                base: "next".to_owned(),
            },
        ),
        (
            &RemoteState::Open,
            "old",
            "main",
            None,
            Order::OtherHead {
                head: "old".to_owned(),
            },
        ),
        (&RemoteState::Closed, "new", "main", None, Order::Closed),
        (
            &merged,
            "new",
            "main",
            Some("m"),
            Order::Follow {
                commit: "m".to_owned(),
            },
        ),
        (
            &merged,
            "new",
            "main",
            None,
            Order::Merged {
                commit: Some("m".to_owned()),
                by: None,
            },
        ),
    ] {
        let found = plan_order(
            ours(PrState::Approved, &[]),
            &theirs(state, head, base),
            ordered,
        );
        assert_eq!(found, expected, "{state:?} {head} {base} {ordered:?}");
    }
}

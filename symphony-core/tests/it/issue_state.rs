//! The state machine of an issue under any sequence of events (I11).

use proptest::prelude::*;
use proptest::sample::select;
use symphony_core::issue::{
    Block, BlockedBy, BreakerTarget, IssueEvent, IssueState, IssueStatus, NextPhase, Resolution,
    Review, allowed_moves, apply, human_move,
};

fn states() -> impl Strategy<Value = IssueState> {
    let blocked = (select(BlockedBy::ALL.to_vec()), "[a-z]{0,5}")
        .prop_map(|(by, reason)| IssueState::Blocked(Block { by, reason }));
    prop_oneof![
        6 => select(vec![
            IssueState::Backlog,
            IssueState::Todo,
            IssueState::InProgress,
            IssueState::Review,
            IssueState::Done,
            IssueState::Cancelled,
        ]),
        2 => blocked,
    ]
}

fn events() -> impl Strategy<Value = IssueEvent> {
    let plain = select(vec![
        IssueEvent::Queued,
        IssueEvent::Reopened,
        IssueEvent::Dispatched,
        IssueEvent::PrCreated,
        IssueEvent::PhaseDelivered,
        IssueEvent::PhaseAccepted {
            next: NextPhase::Follows,
        },
        IssueEvent::PhaseAccepted {
            next: NextPhase::None,
        },
        IssueEvent::RunReturned,
        IssueEvent::HandedBack,
        IssueEvent::SubtasksOpened,
        IssueEvent::SubtasksClosed,
        IssueEvent::ReviewRejected,
        IssueEvent::Merged,
        IssueEvent::Finished,
        IssueEvent::ReviewResumed,
        IssueEvent::BreakerOpened {
            to: BreakerTarget::Backlog,
            reason: None,
        },
        IssueEvent::BreakerOpened {
            to: BreakerTarget::Todo,
            reason: None,
        },
        IssueEvent::Shelved,
        IssueEvent::Cancelled,
    ]);
    let told = (0..5, "[a-z]{0,5}").prop_map(|(kind, reason)| match kind {
        0 => IssueEvent::AgentBlocked { reason },
        1 => IssueEvent::CapReached { reason },
        2 => IssueEvent::Closed {
            resolution: Resolution::Done,
            reason,
        },
        3 => IssueEvent::Closed {
            resolution: Resolution::Cancelled,
            reason,
        },
        _ => IssueEvent::Tampered { reason },
    });
    prop_oneof![6 => plain, 1 => told]
}

/// The table of the specification, from and to; what happened in between is the machine's business.
fn in_table(from: IssueStatus, to: IssueStatus) -> bool {
    use IssueStatus::{Backlog, Blocked, Cancelled, Done, InProgress, Review, Todo};
    match (from, to) {
        (Done | Cancelled, to) => to == Todo,
        // `todo` to itself: a circuit breaker that leaves the issue where it is
        (_, Backlog | Cancelled | Todo | Done)
        | (InProgress | Review | Blocked | Backlog, Review)
        | (InProgress | Review | Todo, Blocked)
        | (Todo, InProgress) => true,
        _ => false,
    }
}

proptest! {
    #[test]
    fn every_state_answers_every_event(state in states(), event in events()) {
        match apply(&state, &event) {
            Ok(next) => {
                prop_assert!(in_table(state.status(), next.status()), "{state:?} {event:?} {next:?}");
                prop_assert_eq!(apply(&state, &event), Ok(next));
            }
            Err(error) => {
                prop_assert_eq!(error.from, state.status());
                prop_assert!(error.to_string().contains(state.status().name()));
            }
        }
    }

    #[test]
    fn only_a_human_reopens_what_has_ended(events in proptest::collection::vec(events(), 0..40)) {
        let mut state = IssueState::Backlog;
        for event in events {
            let Ok(next) = apply(&state, &event) else { continue };
            if state.status().is_terminal() {
                prop_assert_eq!(&event, &IssueEvent::Reopened);
                prop_assert_eq!(&next, &IssueState::Todo);
            }
            state = next;
        }
    }

    #[test]
    fn a_human_can_move_an_issue_from_anywhere(state in states(), open in any::<bool>()) {
        // nothing is ever stuck: there is always a way out, and each announced way exists (L1)
        let review = if open { Review::Open } else { Review::None };
        let moves = allowed_moves(&state, review);
        prop_assert!(!moves.is_empty());
        for to in moves {
            let event = human_move(&state, to, review).unwrap();
            prop_assert_eq!(apply(&state, &event).unwrap().status(), to);
        }
    }
}

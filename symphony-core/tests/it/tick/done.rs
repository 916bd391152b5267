//! Proposals that nothing is left to do: who confirms them, and what a moved base does.

use symphony_core::agent::AgentType;
use symphony_core::done::MovedProposal;
use symphony_core::id::PrId;
use symphony_core::tick::{GatesState, ReviewCandidate, ReviewSubject, Snapshot};

use super::support::{issue, live, plan, project, review, snapshot};

fn proposal(is_confirmable: bool) -> ReviewCandidate {
    ReviewCandidate {
        subject: ReviewSubject::Done {
            pr: PrId::new(1),
            is_confirmable,
        },
        has_verdict: is_confirmable,
        ..review(1)
    }
}

fn with(review: ReviewCandidate, auto_done: bool) -> Snapshot {
    let mut snapshot = snapshot();
    let view = snapshot.projects.get_mut(&project("a")).unwrap();
    view.auto_done = auto_done;
    snapshot.reviews.push(review);
    snapshot
}

#[test]
fn a_person_confirms_unless_auto_done_is_on() {
    assert_eq!(
        plan(&with(proposal(true), false)),
        ["wait SYM-1: a judge agrees that nothing is left to do, and a person confirms it"]
    );
    assert_eq!(plan(&with(proposal(true), true)), ["confirm 1 of SYM-1"]);
    // its gates are red, or a point is open
    let red = ReviewCandidate {
        has_verdict: true,
        ..proposal(false)
    };
    assert_eq!(
        plan(&with(red, true)),
        ["wait SYM-1: a judge agrees that nothing is left to do, and a person confirms it"]
    );
}

#[test]
fn gates_and_judge_come_first_whatever_is_configured() {
    let pending = ReviewCandidate {
        gates: GatesState::due(),
        ..proposal(false)
    };
    for auto_done in [false, true] {
        assert_eq!(
            plan(&with(pending.clone(), auto_done)),
            ["start gates SYM-1 #1"]
        );
        assert_eq!(
            plan(&with(proposal(false), auto_done)),
            ["start judge SYM-1 #1"]
        );
    }
}

#[test]
fn nothing_is_confirmed_while_dispatch_is_paused_or_a_run_is_live() {
    let mut paused = with(proposal(true), true);
    paused.paused = true;
    assert!(!plan(&paused).contains(&"confirm 1 of SYM-1".to_owned()));
    let mut judged = with(proposal(true), true);
    judged.live.push(live("r1", Some(1), AgentType::Judge));
    assert!(!plan(&judged).contains(&"confirm 1 of SYM-1".to_owned()));
}

#[test]
fn a_moved_base_sends_a_proposal_back_before_it_is_confirmed_and_after_a_live_run() {
    let mut moved = with(proposal(true), true);
    moved.base.moved.push(MovedProposal {
        project: project("a"),
        issue: issue(1),
        pr: PrId::new(1),
        why: "`main` has moved".into(),
    });
    assert_eq!(
        plan(&moved),
        [
            "return 1 of SYM-1",
            "wait SYM-1: a worker looks again: `main` has moved"
        ]
    );
    moved.live.push(live("r1", Some(1), AgentType::Judge));
    assert!(!plan(&moved).contains(&"return 1 of SYM-1".to_owned()));
}

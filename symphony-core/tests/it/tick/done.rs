//! Proposals that nothing is left to do: who confirms them, and what a moved base does.

use symphony_core::agent::AgentType;
use symphony_core::done::{BaseEffect, BaseNow, MovedProposal, Obstacle};
use symphony_core::id::PrId;
use symphony_core::tick::{GatesState, ReviewCandidate, ReviewSubject, Snapshot};

use super::support::{issue, live, plan, project, review, snapshot};

fn proposal(obstacles: &[Obstacle]) -> ReviewCandidate {
    ReviewCandidate {
        subject: ReviewSubject::Done {
            pr: PrId::new(1),
            obstacles: obstacles.to_vec(),
            base: Some(Box::new(BaseNow {
                name: "main".into(),
                head: "c".into(),
                effect: BaseEffect::Stands,
                gates: Vec::new(),
            })),
        },
        has_verdict: !obstacles.contains(&Obstacle::NotJudged),
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
        plan(&with(proposal(&[]), false)),
        ["wait SYM-1: a judge agrees that nothing is left to do, and a person has to confirm it"]
    );
    assert_eq!(plan(&with(proposal(&[]), true)), ["confirm 1 of SYM-1"]);
    let unverified = proposal(&[Obstacle::NothingVerifies]);
    assert_eq!(
        plan(&with(unverified, true)),
        [
            "wait SYM-1: a judge agrees that nothing is left to do, and a person has to confirm it: no required gate verifies it"
        ]
    );
}

#[test]
fn gates_and_judge_come_first_whatever_is_configured() {
    let pending = ReviewCandidate {
        gates: GatesState::due(),
        ..proposal(&[Obstacle::NotJudged])
    };
    for auto_done in [false, true] {
        assert_eq!(
            plan(&with(pending.clone(), auto_done)),
            ["start gates SYM-1 #1"]
        );
        assert_eq!(
            plan(&with(proposal(&[Obstacle::NotJudged]), auto_done)),
            ["start judge SYM-1 #1"]
        );
    }
}

#[test]
fn nothing_is_confirmed_while_dispatch_is_paused_or_a_run_is_live() {
    let mut paused = with(proposal(&[]), true);
    paused.paused = true;
    assert!(!plan(&paused).contains(&"confirm 1 of SYM-1".to_owned()));
    let mut judged = with(proposal(&[]), true);
    judged.live.push(live("r1", Some(1), AgentType::Judge));
    assert!(!plan(&judged).contains(&"confirm 1 of SYM-1".to_owned()));
}

#[test]
fn a_moved_base_sends_a_proposal_back_before_it_is_confirmed_and_after_a_live_run() {
    let mut moved = with(proposal(&[]), true);
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
            "wait SYM-1: a worker checks it again: `main` has moved"
        ]
    );
    moved.live.push(live("r1", Some(1), AgentType::Judge));
    assert!(!plan(&moved).contains(&"return 1 of SYM-1".to_owned()));
}

#[test]
fn what_was_not_looked_at_on_its_base_is_not_confirmed() {
    let mut unseen = proposal(&[]);
    unseen.subject = ReviewSubject::Done {
        pr: PrId::new(1),
        obstacles: Vec::new(),
        base: None,
    };
    assert!(!plan(&with(unseen, true)).contains(&"confirm 1 of SYM-1".to_owned()));
}

#[test]
fn gates_that_are_too_old_run_again_once_the_judge_has_spoken_or_none_will() {
    let older = || Obstacle::GatesOnOlderBase {
        base: "main".into(),
    };
    for (obstacles, judge_enabled, expected) in [
        (vec![older()], true, "refresh gates of 1 of SYM-1"),
        (
            vec![Obstacle::GatesChanged],
            true,
            "refresh gates of 1 of SYM-1",
        ),
        (
            vec![older(), Obstacle::NotJudged],
            true,
            "start judge SYM-1 #1",
        ),
        (
            vec![older(), Obstacle::NotJudged],
            false,
            "refresh gates of 1 of SYM-1",
        ),
        // a judge first: it may reject
        (
            vec![older(), Obstacle::ChangedSinceVerdict],
            true,
            "refresh verdict of 1 of SYM-1",
        ),
    ] {
        for auto_done in [false, true] {
            let mut snapshot = with(proposal(&obstacles), auto_done);
            let view = snapshot.projects.get_mut(&project("a")).unwrap();
            view.judge_enabled = judge_enabled;
            assert_eq!(plan(&snapshot), [expected], "{obstacles:?}");
        }
    }
    let pending = ReviewCandidate {
        gates: GatesState::due(),
        ..proposal(&[Obstacle::GatesNotRun])
    };
    assert_eq!(plan(&with(pending, true)), ["start gates SYM-1 #1"]);
}

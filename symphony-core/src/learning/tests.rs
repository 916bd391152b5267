//! The life of a learning as tables, and what holds for every state and every set of sources.

use proptest::prelude::*;
use proptest::sample::select;

use super::*;

#[test]
fn sources_settle_a_learning() {
    use LearningState as L;
    use SourceEnd as S;
    for (before, sources, after) in [
        (L::Proposed, &[S::Open][..], L::Proposed),
        (L::Proposed, &[S::Done], L::Accepted),
        (L::Proposed, &[S::Cancelled], L::Dropped),
        (L::Proposed, &[S::Cancelled, S::Open], L::Proposed),
        (L::Proposed, &[S::Cancelled, S::Done], L::Accepted),
        (L::Proposed, &[S::Open, S::Done], L::Accepted),
        (L::Proposed, &[], L::Dropped),
        (L::Dropped, &[S::Open], L::Proposed),
        (L::Dropped, &[S::Done], L::Accepted),
        (L::Accepted, &[S::Open], L::Accepted),
        (L::Accepted, &[S::Cancelled], L::Accepted),
        (L::Retired, &[S::Done], L::Retired),
    ] {
        let found = before.settle(sources.iter().copied());
        assert_eq!(found, after, "{before} {sources:?}");
    }
}

#[test]
fn what_is_known_is_refused_or_seconded() {
    use Known::{Refused, Seconded};
    use LearningState as L;
    use Likeness::{Contained, Equal};
    let source = LearningSource::Issue("SYM-1".parse().unwrap());
    for (state, likeness, of_a_run, of_a_person) in [
        (L::Accepted, Equal, Some(Refused), Some(Refused)),
        (L::Accepted, Contained, Some(Refused), Some(Refused)),
        (L::Proposed, Equal, Some(Seconded), Some(Refused)),
        (L::Proposed, Contained, Some(Seconded), Some(Refused)),
        (L::Dropped, Equal, Some(Seconded), Some(Refused)),
        (L::Dropped, Contained, None, None),
        (L::Retired, Equal, Some(Refused), Some(Refused)),
        (L::Retired, Contained, None, None),
    ] {
        let found = (
            state.meet(likeness, Some(&source)),
            state.meet(likeness, None),
        );
        assert_eq!(found, (of_a_run, of_a_person), "{state} {likeness:?}");
    }
}

#[test]
fn only_what_has_ended_counts_as_ended() {
    let of = |status: &IssueStatus| SourceEnd::from(*status);
    let ended: Vec<_> = IssueStatus::ALL
        .iter()
        .filter(|status| of(status) != SourceEnd::Open)
        .collect();
    assert_eq!(ended, [&IssueStatus::Done, &IssueStatus::Cancelled]);
    assert_eq!(SourceEnd::from(PlanStatus::Completed), SourceEnd::Done);
    assert_eq!(SourceEnd::from(PlanStatus::Aborted), SourceEnd::Cancelled);
    assert_eq!(SourceEnd::from(PlanStatus::Failed), SourceEnd::Open);
}

#[test]
fn a_text_has_a_length_in_characters() {
    assert_eq!(check_pattern_length(&"ß".repeat(600)), Ok(()));
    assert_eq!(
        check_pattern_length(&"ß".repeat(601)).map_err(|error| error.to_string()),
        Err("pattern is 601 characters long; the limit is 600".to_owned())
    );
}

fn ends() -> impl Strategy<Value = Vec<SourceEnd>> {
    let one = select(vec![SourceEnd::Open, SourceEnd::Done, SourceEnd::Cancelled]);
    proptest::collection::vec(one, 0..5)
}

proptest! {
    #[test]
    fn the_order_of_sources_and_a_second_look_change_nothing(
        before in select(LearningState::ALL), ends in ends(),
    ) {
        let after = before.settle(ends.iter().copied());
        prop_assert_eq!(after, before.settle(ends.iter().rev().copied()));
        prop_assert_eq!(after, after.settle(ends.iter().copied()));
        // a move is in the log exactly when there is one
        let id = LearningId::parse("a").unwrap();
        prop_assert_eq!(after.entered_from(before, &id).is_some(), after != before);
    }

    #[test]
    fn other_issues_get_it_only_when_a_source_is_done(
        before in select(vec![LearningState::Proposed, LearningState::Dropped]), ends in ends(),
    ) {
        let accepted = before.settle(ends.iter().copied()) == LearningState::Accepted;
        prop_assert_eq!(accepted, ends.contains(&SourceEnd::Done));
    }
}

//! What is decided about merges made outside, in tables.

use super::*;
use crate::id::{IssueId, PlanId};
use crate::issue::IssueStatus;

fn found(status: IssueStatus, review: Option<(PrState, bool)>) -> BranchCommits {
    BranchCommits {
        project: "demo".parse().unwrap(),
        of: "DEM-1".parse::<IssueId>().unwrap().into(),
        standing: status.into(),
        base: "main".to_owned(),
        commits: vec!["a".repeat(40), "b".repeat(40)],
        review: review.map(|(state, holds_all)| BranchReview {
            pr: PrId::new(3),
            state,
            holds_all,
        }),
    }
}

fn merge(missing: &[Missing]) -> FoundMerge {
    FoundMerge {
        project: "demo".parse().unwrap(),
        of: "DEM-1".parse::<IssueId>().unwrap().into(),
        pr: PrId::new(3),
        base: "main".to_owned(),
        head: "a".repeat(40),
        merge: OutsideMerge {
            commit: "c".repeat(40),
            evidence: Evidence::Tree,
            by: Some("Ada".to_owned()),
        },
        missing: missing.to_vec(),
    }
}

#[test]
fn commits_of_a_branch_are_explained_by_a_whole_pull_request_only() {
    use IssueStatus as S;
    let (nothing, merges) = (vec![], vec![merge(&[])]);
    for (status, review, merges, expected) in [
        // merged by Symphony, or found merged at this very look
        (S::Done, Some((PrState::Merged, true)), &nothing, None),
        (S::Review, Some((PrState::Open, true)), &merges, None),
        (S::Review, Some((PrState::Approved, true)), &merges, None),
        // reopened and worked on again, while the base has what was merged before
        (S::InProgress, Some((PrState::Merged, true)), &nothing, None),
        // more than what was reviewed
        (
            S::Done,
            Some((PrState::Merged, false)),
            &nothing,
            Some(NoticeKind::Beyond),
        ),
        (
            S::Review,
            Some((PrState::Open, false)),
            &merges,
            Some(NoticeKind::Beyond),
        ),
        // less than what was reviewed
        (
            S::Review,
            Some((PrState::Open, true)),
            &nothing,
            Some(NoticeKind::Part),
        ),
        (
            S::Blocked,
            Some((PrState::Approved, true)),
            &nothing,
            Some(NoticeKind::Part),
        ),
        // what was turned down, or no one asked to merge
        (
            S::Todo,
            Some((PrState::Rejected, true)),
            &nothing,
            Some(NoticeKind::TurnedDown),
        ),
        (
            S::Todo,
            Some((PrState::Closed, true)),
            &nothing,
            Some(NoticeKind::TurnedDown),
        ),
        (
            S::InProgress,
            None,
            &nothing,
            Some(NoticeKind::NoPullRequest),
        ),
        (S::Cancelled, None, &nothing, Some(NoticeKind::Cancelled)),
        (
            S::Cancelled,
            Some((PrState::Closed, true)),
            &nothing,
            Some(NoticeKind::Cancelled),
        ),
        // a person declared it done, and merges it by hand
        (S::Done, None, &nothing, None),
        (S::Done, Some((PrState::Closed, true)), &nothing, None),
    ] {
        let found = found(status, review);
        assert_eq!(unexplained(&found, merges), expected, "{status} {review:?}");
    }
}

#[test]
fn commits_of_a_plan_are_explained_once_it_has_ended() {
    use crate::plan::state::PlanStatus as S;
    let plan = |status: S, review| BranchCommits {
        of: PlanId::parse("ship").unwrap().into(),
        standing: status.into(),
        ..found(IssueStatus::Todo, review)
    };
    let rejected = Some((PrState::Rejected, true));
    for (status, review, expected) in [
        (S::Running, None, Some(NoticeKind::NoPullRequest)),
        (S::Paused, None, Some(NoticeKind::NoPullRequest)),
        (
            S::AwaitingUserDecision,
            rejected,
            Some(NoticeKind::TurnedDown),
        ),
        (S::Running, rejected, Some(NoticeKind::TurnedDown)),
        (
            S::Review,
            Some((PrState::Open, true)),
            Some(NoticeKind::Part),
        ),
        // The inbox itself offers to merge the work of an aborted plan.
        (S::Aborted, rejected, None),
        (S::Failed, None, None),
        (S::Completed, Some((PrState::Merged, true)), None),
    ] {
        let found = plan(status, review);
        assert_eq!(unexplained(&found, &[]), expected, "{status} {review:?}");
    }
}

#[test]
fn a_reviewed_merge_needs_no_notice() {
    assert_eq!(BaseNotice::of_merge(&merge(&[])), None);
}

#[test]
fn notices_say_what_happened() {
    let mut texts = Vec::new();
    for missing in [
        vec![Missing::Gates, Missing::Approval],
        vec![Missing::Approval],
    ] {
        texts.extend(BaseNotice::of_merge(&merge(&missing)).map(|notice| notice.text));
    }
    texts.push(BaseNotice::of_live_agent(&merge(&[])).text);
    for (kind, status, review) in [
        (
            NoticeKind::Part,
            IssueStatus::Review,
            Some((PrState::Open, true)),
        ),
        (
            NoticeKind::Beyond,
            IssueStatus::Done,
            Some((PrState::Merged, false)),
        ),
        (
            NoticeKind::TurnedDown,
            IssueStatus::Todo,
            Some((PrState::Rejected, true)),
        ),
        (NoticeKind::NoPullRequest, IssueStatus::Todo, None),
        (NoticeKind::Cancelled, IssueStatus::Cancelled, None),
    ] {
        texts.push(BaseNotice::of_commits(&found(status, review), kind).text);
    }
    insta::assert_snapshot!(texts.join("\n"), @r"
    pull request 3 was merged into main outside Symphony by Ada, without green gates and without approval
    pull request 3 was merged into main outside Symphony by Ada, without approval
    main got the commits of pull request 3 (cccccccc) while its own agent was running, so it does not count as merged
    2 commits of its branch reached main without a merge by Symphony (the newest is aaaaaaaa): a part of pull request 3, which is still open
    2 commits of its branch reached main without a merge by Symphony (the newest is aaaaaaaa): not part of merged pull request 3
    2 commits of its branch reached main without a merge by Symphony (the newest is aaaaaaaa): pull request 3 is rejected
    2 commits of its branch reached main without a merge by Symphony (the newest is aaaaaaaa): there is no pull request
    2 commits of its branch reached main without a merge by Symphony (the newest is aaaaaaaa): the issue is cancelled
    ");
}

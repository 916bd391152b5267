//! What a human reads of what waits.

use super::*;
use crate::done::Obstacle;
use crate::failure::ErrorClass;
use crate::gates::KnownGates;
use crate::review_point::PointNumber;
use crate::tick::{Hold, HoldScope};

fn issue(text: &str) -> IssueId {
    IssueId::parse(text).unwrap()
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn blocked(by: BlockedBy) -> WaitsFor {
    WaitsFor::Blocked(Block {
        by,
        reason: "why (spending.issue.usd)".into(),
    })
}

fn in_review(by: BlockedBy) -> WaitsFor {
    WaitsFor::BlockedInReview(Block {
        by,
        reason: "why (spending.issue.usd)".into(),
    })
}

/// What a human reads of each reason to wait: kind, sentence, usual answer.
#[test]
fn every_reason_has_a_sentence_and_an_answer() {
    let pr = PrId::new(3);
    let counts = AttemptCounts {
        consecutive_failures: 2,
        total_runs: 15,
    };
    let phase = crate::id::PhaseName::parse("qa").unwrap();
    let rows = [
        WaitsFor::Merge { pr },
        WaitsFor::Done(DoneWaits {
            pr,
            reason: "Both sub-tasks are merged.".into(),
            evidence: vec!["pull request 2: the parser".into(), "src/a.rs".into()],
            no_judge: None,
            obstacles: Vec::new(),
        }),
        WaitsFor::Done(DoneWaits {
            pr,
            reason: "It works.".into(),
            evidence: vec!["gate test".into()],
            no_judge: Some("judge_enabled is off".into()),
            obstacles: vec![
                Obstacle::GatesRed {
                    gates: vec!["test".into()],
                },
                Obstacle::NotJudged,
            ],
        }),
        WaitsFor::Done(DoneWaits {
            pr,
            reason: "It works.".into(),
            evidence: vec!["gate test".into()],
            no_judge: Some("3 judges ended without one".into()),
            obstacles: vec![Obstacle::MustPoints {
                points: vec![PointNumber::new(1), PointNumber::new(2)],
            }],
        }),
        WaitsFor::Done(DoneWaits {
            pr,
            reason: "It works.".into(),
            evidence: vec!["gate test".into()],
            no_judge: None,
            obstacles: vec![
                Obstacle::NothingVerifies,
                Obstacle::WorkLeft {
                    left: vec!["refs/symphony/rescue/SYM-1/1".into()],
                },
            ],
        }),
        WaitsFor::MergeRed { pr },
        WaitsFor::Verdict { pr, judges: 0 },
        WaitsFor::Verdict { pr, judges: 3 },
        WaitsFor::PersonsPoints {
            pr: Some(pr),
            points: vec![PointNumber::new(2)],
        },
        WaitsFor::PersonsPoints {
            pr: None,
            points: vec![PointNumber::new(2), PointNumber::new(4)],
        },
        WaitsFor::PhaseVerdict { judges: 0 },
        WaitsFor::PhaseVerdict { judges: 1 },
        WaitsFor::Acceptance,
        blocked(BlockedBy::Agent),
        blocked(BlockedBy::Human),
        blocked(BlockedBy::Cap),
        blocked(BlockedBy::Tampered),
        blocked(BlockedBy::Question),
        blocked(BlockedBy::TakenOver),
        blocked(BlockedBy::HostsLost),
        in_review(BlockedBy::Human),
        in_review(BlockedBy::Cap),
        WaitsFor::Spent { counts, last: None },
        WaitsFor::Spent {
            counts,
            last: Some("agent failed: exit code 1".into()),
        },
        WaitsFor::Stopped {
            reason: "3 runs in a row gave the issue back".into(),
        },
        WaitsFor::CancelledDependencies(vec![issue("A-1"), issue("A-2")]),
        WaitsFor::RemovedDependencies(vec![issue("A-1")]),
        WaitsFor::CancelledSubtasks,
        WaitsFor::Undispatched(Reason::PlanningOff),
        WaitsFor::Undispatched(Reason::ResearchOff),
        WaitsFor::Undispatched(Reason::NoPhase),
        WaitsFor::Undispatched(Reason::UnknownPhase { phase }),
        WaitsFor::Untriaged,
        WaitsFor::Publication {
            pr,
            problem: "no network".into(),
        },
    ];
    let lines: Vec<String> = rows
        .iter()
        .map(|why| {
            let answers = why.answers(&issue("A-9"));
            format!("{}: {} → {}", why.kind(), why.text(), answers.join(" | "))
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_hold_is_one_item_for_as_long_as_it_stands() {
    let hold = |probes, until| Hold {
        tried: None,
        scope: HoldScope::Provider("claude-cli".into()),
        until: at(until),
        placed_at: at(0),
        class: ErrorClass::Overloaded,
        reason: "529".into(),
        probes,
        canary: None,
        trials: Vec::new(),
    };
    let (first, later) = (
        hold_item(&hold(0, 60), at(5), &KnownGates::default(), None),
        hold_item(&hold(2, 240), at(5), &KnownGates::default(), None),
    );
    assert_eq!(first.key, later.key);
    assert_eq!(first.answers, ["symphony doctor", "symphony resume"]);
    assert_eq!(later.text, "provider claude-cli is on hold: 529");
    assert_ne!(
        first.key,
        hold_item(&hold(0, 60), at(6), &KnownGates::default(), None).key,
        "another outage"
    );
}

#[test]
fn the_oldest_comes_first_and_each_once() {
    let item = |id: &str, since| {
        InboxItem::from(WaitingIssue {
            issue: issue(id),
            project: ProjectId::parse("p").unwrap(),
            title: "t".into(),
            since: at(since),
            why: WaitsFor::Acceptance,
        })
    };
    let keys: Vec<String> = in_order(vec![
        item("A-2", 9),
        item("A-1", 9),
        item("A-3", 1),
        item("A-2", 9),
    ])
    .into_iter()
    .map(|item| item.key)
    .collect();
    assert_eq!(
        keys,
        ["review:A-3:1000", "review:A-1:9000", "review:A-2:9000"]
    );
}

#[test]
fn an_issue_that_very_many_wait_for_names_the_first_ones() {
    let waiting = |count| {
        let issues = (1..=count).map(|number| issue(&format!("A-{number}")));
        WaitsFor::Needed(issues.collect()).text()
    };
    assert_eq!(
        [
            waiting(1),
            waiting(NEEDED_BY_MAX),
            waiting(NEEDED_BY_MAX + 1)
        ],
        [
            "it is in the backlog, and A-1 waits for it",
            "it is in the backlog, and A-1, A-2, A-3, A-4, A-5 and 95 more wait for it",
            "it is in the backlog, and A-1, A-2, A-3, A-4, A-5 and more than 95 others wait for it",
        ]
    );
}

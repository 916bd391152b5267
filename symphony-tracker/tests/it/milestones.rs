//! Comments about milestones: what they say, and how often.

use symphony_core::agent::AgentType;
use symphony_core::id::PrId;
use symphony_core::issue::{BlockedBy, IssueEvent, IssueStatus, Resolution};
use symphony_core::log::LogEvent;
use symphony_tracker::change::Change;
use symphony_tracker::milestone::{
    COMMENT_CHARS_MAX, COMMENTS_PER_DAY_MAX, GateLine, GateResult, Milestone, MilestoneKind,
    POINTS_MAX, Written, comment, kind_of, plan,
};

use crate::samples::{at, github};

fn text(milestone: &Milestone) -> String {
    comment(&github(), milestone).replace('\u{200b}', "|")
}

fn blocked(question: &str) -> Milestone {
    Milestone::Blocked {
        by: BlockedBy::Question,
        question: question.into(),
    }
}

fn started() -> Milestone {
    Milestone::Started {
        agent: AgentType::Worker,
    }
}

#[test]
fn milestones_are_found_in_the_log() {
    let moved = |event, to| LogEvent::IssueMoved {
        event,
        from: IssueStatus::InProgress,
        to,
    };
    let reason = String::new;
    let pr = PrId::parse("1").unwrap();
    for (event, expected) in [
        (
            LogEvent::RunClaimed {
                agent: AgentType::Worker,
                attempt: 1,
                interactive: false,
            },
            Some(MilestoneKind::Started {
                agent: AgentType::Worker,
            }),
        ),
        (
            LogEvent::PullRequestOpened {
                pr,
                head: "abc".into(),
            },
            Some(MilestoneKind::Opened {
                pr,
                head: "abc".into(),
            }),
        ),
        (
            moved(IssueEvent::ReviewRejected, IssueStatus::Todo),
            Some(MilestoneKind::Rejected),
        ),
        (
            moved(IssueEvent::Merged, IssueStatus::Done),
            Some(MilestoneKind::Merged),
        ),
        (
            moved(IssueEvent::MergedOutside, IssueStatus::Done),
            Some(MilestoneKind::Merged),
        ),
        (
            moved(
                IssueEvent::AgentBlocked { reason: reason() },
                IssueStatus::Blocked,
            ),
            Some(MilestoneKind::Blocked),
        ),
        (
            moved(
                IssueEvent::CapReached { reason: reason() },
                IssueStatus::Blocked,
            ),
            Some(MilestoneKind::Blocked),
        ),
        (
            moved(IssueEvent::SubtasksOpened, IssueStatus::Blocked),
            None,
        ),
        (
            moved(
                IssueEvent::TakenOver { reason: reason() },
                IssueStatus::Blocked,
            ),
            None,
        ),
        (
            moved(IssueEvent::DoneConfirmed, IssueStatus::Done),
            Some(MilestoneKind::Done),
        ),
        (
            moved(
                IssueEvent::Closed {
                    resolution: Resolution::Cancelled,
                    reason: reason(),
                },
                IssueStatus::Cancelled,
            ),
            Some(MilestoneKind::Cancelled),
        ),
        (moved(IssueEvent::RunReturned, IssueStatus::Todo), None),
        (LogEvent::WorktreePresent {}, None),
    ] {
        assert_eq!(kind_of(&event), expected, "{event:?}");
    }
}

#[test]
fn a_pull_request_shows_its_gates_and_the_lines_to_write() {
    let gate = |name: &str, result| GateLine {
        name: name.into(),
        result,
    };
    let opened = Milestone::Opened {
        title: "Fix #3 for @ada".into(),
        head: "0123456789abcdef0123".into(),
        gates: vec![
            gate("test", GateResult::Passed),
            gate("lint`", GateResult::FailedOptional),
            gate("e2e", GateResult::Waiting),
        ],
    };
    let expected = "A pull request is ready at commit `0123456789ab`:

> Fix #|3 for @|ada

Gates:

- `test`: passed
- `lint'`: failed (not required)
- `e2e`: has not run yet

To decide, write a comment that begins with one of these lines:

```
/symphony approve 0123456789ab
/symphony reject What should change
```";
    assert_eq!(text(&opened), expected);
    let mut settings = github();
    settings.commanders.clear();
    assert!(!comment(&settings, &opened).contains("/symphony"));
}

#[test]
fn each_milestone_is_plain_english_with_quotes() {
    for (milestone, expected) in [
        (started(), "Symphony started a worker on this issue."),
        (
            Milestone::Rejected {
                points: vec!["Add a test".into(), "Name it\nwell".into()],
            },
            "The work was sent back.\n\n> Add a test\n\n<!-- -->\n\n> Name it\n> well",
        ),
        (
            Milestone::Merged {
                commit: Some("0123456789abcdef".into()),
            },
            "The work was merged as `0123456789ab`. This issue is done.",
        ),
        (
            blocked("Which colour, @ada?"),
            "Symphony needs an answer to continue:\n\n> Which colour, @|ada?\n\nTo answer, write a comment. The agent continues with it.",
        ),
        (Milestone::Done { reason: None }, "This issue is done."),
        (
            Milestone::Cancelled {
                reason: Some("Not wanted".into()),
            },
            "This issue was cancelled.\n\n> Not wanted",
        ),
    ] {
        assert_eq!(text(&milestone), expected);
    }
    let many = Milestone::Rejected {
        points: vec!["p ".repeat(5_000); POINTS_MAX + 2],
    };
    let many = text(&many);
    assert!(many.chars().count() <= COMMENT_CHARS_MAX);
    assert!(many.ends_with("_2 more points not shown._"), "{many}");
}

#[test]
fn a_milestone_that_repeats_the_last_is_not_written() {
    let settings = github();
    let mut written = Written::default();
    let mut count = 0;
    for milestone in [
        started(),
        blocked("Which colour?"),
        started(),
        blocked("Which colour?"),
        blocked("Which colour?"),
        blocked("Which size?"),
        blocked("Which colour?"),
    ] {
        let (after, departing) = plan(&settings, &written, &milestone, at(0));
        written = after;
        count += u32::from(departing.is_some());
    }
    assert_eq!(count, 4);
    let mut silent = settings;
    silent.comments = false;
    let result = plan(&silent, &written, &blocked("Else?"), at(0));
    assert_eq!(result, (written, None));
}

#[test]
fn a_day_has_a_limit_and_the_next_comment_counts_what_it_left_out() {
    let settings = github();
    let mut written = Written::default();
    let mut bodies = Vec::new();
    let day = 86_400;
    for (number, second) in (0..COMMENTS_PER_DAY_MAX + 2)
        .map(|number| (number, 0))
        .chain([(100, day), (101, day)])
    {
        let question = format!("Question {number}?");
        let (after, departing) = plan(&settings, &written, &blocked(&question), at(second));
        written = after;
        if let Some(departing) = departing {
            let Change::AddComment { body } = departing.change else {
                panic!("{departing:?}");
            };
            bodies.push(body);
        }
    }
    let count = usize::try_from(COMMENTS_PER_DAY_MAX).unwrap();
    assert_eq!(bodies.len(), count + 2);
    assert!(
        bodies[count]
            .ends_with("\n\n_2 earlier updates had no comment: Symphony writes at most 10 a day._")
    );
    assert!(!bodies[count + 1].contains("earlier"));
    let again: Written = serde_json::from_str(&serde_json::to_string(&written).unwrap()).unwrap();
    assert_eq!(again, written);
    assert_eq!(
        serde_json::from_str::<Written>("{}").unwrap(),
        Written::default()
    );
}

//! The rules as tables, and that no text is lost on its way to points.

use proptest::prelude::*;

use super::*;
use crate::Timestamp;
use crate::agent::AgentType;
use crate::issue::CommentAuthor;
use crate::pull_request::VerdictKind;
use crate::user::Attribution;

fn judge() -> CommentAuthor {
    CommentAuthor::Agent(AgentType::Judge)
}

fn point(number: u32, severity: Severity) -> ReviewPoint {
    ReviewPoint {
        number: PointNumber::new(number),
        severity,
        text: format!("point {number}"),
        place: None,
        state: PointState::Open,
        author: judge(),
        attribution: Attribution::default(),
        review: None,
        commit: None,
        round: 1,
        answers: Vec::new(),
        created_at: Timestamp::UNIX_EPOCH,
    }
}

fn must(number: u32) -> ReviewPoint {
    point(number, Severity::Must)
}

fn closed(mut point: ReviewPoint) -> ReviewPoint {
    point.state = PointState::Closed;
    point
}

fn persons(mut point: ReviewPoint) -> ReviewPoint {
    point.author = CommentAuthor::Human;
    point
}

fn reopened(mut point: ReviewPoint) -> ReviewPoint {
    point.round += 1;
    point
}

fn answered(mut point: ReviewPoint, kind: AnswerKind) -> ReviewPoint {
    point.answers.push(PointAnswer {
        kind,
        text: "so".into(),
        commit: None,
        author: CommentAuthor::Agent(AgentType::Worker),
        attribution: Attribution::default(),
        round: point.round,
        created_at: Timestamp::UNIX_EPOCH,
    });
    point
}

fn new(severity: Severity) -> NewPoint {
    NewPoint {
        severity,
        text: "more".into(),
        place: None,
    }
}

fn moved(number: u32, to: PointState) -> PointMove {
    PointMove {
        number: PointNumber::new(number),
        to,
        remark: None,
    }
}

fn said<T>(result: Result<T, PointError>) -> String {
    result.map_or_else(|error| error.to_string(), |_| "goes on".to_owned())
}

#[test]
fn a_must_point_without_an_answer_since_it_was_opened_keeps_work_from_being_handed_in() {
    use AnswerKind::{Declined, Fixed, Question, Remark};
    let rows = [
        ("nothing", vec![]),
        ("must", vec![must(1)]),
        ("two musts", vec![must(1), must(2)]),
        ("should", vec![point(1, Severity::Should)]),
        ("note", vec![point(1, Severity::Note)]),
        ("closed", vec![closed(must(1))]),
        ("fixed", vec![answered(must(1), Fixed)]),
        ("declined", vec![answered(must(1), Declined)]),
        ("question", vec![answered(must(1), Question)]),
        (
            "question with a reply",
            vec![answered(answered(must(1), Question), Remark)],
        ),
        (
            "fixed, then reopened",
            vec![reopened(answered(must(1), Fixed))],
        ),
        (
            "reopened, then fixed",
            vec![answered(reopened(answered(must(1), Fixed)), Fixed)],
        ),
        (
            "fixed, with a remark",
            vec![answered(answered(must(1), Fixed), Remark)],
        ),
    ];
    let table: Vec<String> = rows
        .into_iter()
        .map(|(name, points)| format!("{name}: {}", said(refuse_unanswered(&points))))
        .collect();
    insta::assert_snapshot!(table.join("\n"));
}

#[test]
fn a_verdict_obeys_the_points() {
    use PointState::{Closed, Open};
    let judge = judge();
    let human = CommentAuthor::Human;
    let approve = Verdict::Given(VerdictKind::Approved);
    let reject = Verdict::Given(VerdictKind::Rejected);
    let change = |new: Vec<NewPoint>, moved: Vec<PointMove>| PointChanges { new, moved };
    let rows = [
        (
            "approve nothing open",
            &judge,
            approve,
            vec![],
            change(vec![], vec![]),
        ),
        (
            "approve an open must",
            &judge,
            approve,
            vec![must(1), must(2)],
            change(vec![], vec![]),
        ),
        (
            "approve and close it",
            &judge,
            approve,
            vec![must(1)],
            change(vec![], vec![moved(1, Closed)]),
        ),
        (
            "approve and reopen it",
            &judge,
            approve,
            vec![closed(must(1))],
            change(vec![], vec![moved(1, Open)]),
        ),
        (
            "approve an open should",
            &judge,
            approve,
            vec![point(1, Severity::Should)],
            change(vec![], vec![]),
        ),
        (
            "approve with a note",
            &judge,
            approve,
            vec![],
            change(vec![new(Severity::Note)], vec![]),
        ),
        (
            "approve with a must",
            &judge,
            approve,
            vec![],
            change(vec![new(Severity::Must)], vec![]),
        ),
        (
            "judge closes a person's",
            &judge,
            reject,
            vec![persons(must(1))],
            change(vec![new(Severity::Must)], vec![moved(1, Closed)]),
        ),
        (
            "judge reopens a person's",
            &judge,
            reject,
            vec![persons(must(1))],
            change(vec![], vec![moved(1, Open)]),
        ),
        (
            "judge approves over a person's",
            &judge,
            approve,
            vec![persons(must(1))],
            change(vec![], vec![]),
        ),
        (
            "judge approves over a person's and an agent's",
            &judge,
            approve,
            vec![persons(must(1)), must(2)],
            change(vec![], vec![]),
        ),
        (
            "person approves over a person's",
            &human,
            approve,
            vec![persons(must(1))],
            change(vec![], vec![]),
        ),
        (
            "person closes a judge's",
            &human,
            Verdict::None,
            vec![must(1)],
            change(vec![], vec![moved(1, Closed)]),
        ),
        (
            "person closes their own",
            &human,
            approve,
            vec![persons(must(1))],
            change(vec![], vec![moved(1, Closed)]),
        ),
        (
            "reject for nothing",
            &judge,
            reject,
            vec![must(1)],
            change(vec![], vec![moved(1, Closed)]),
        ),
        (
            "reject with a point",
            &judge,
            reject,
            vec![],
            change(vec![new(Severity::Should)], vec![]),
        ),
        (
            "unknown",
            &judge,
            reject,
            vec![must(1), must(2)],
            change(vec![], vec![moved(7, Closed)]),
        ),
        (
            "twice",
            &judge,
            reject,
            vec![must(1)],
            change(vec![], vec![moved(1, Closed), moved(1, Open)]),
        ),
        (
            "the fiftieth",
            &judge,
            reject,
            (1..50).map(must).collect(),
            change(vec![new(Severity::Note)], vec![]),
        ),
        (
            "one too many",
            &judge,
            reject,
            (1..=50).map(must).collect(),
            change(vec![new(Severity::Note)], vec![]),
        ),
        (
            "beside fifty of a person",
            &judge,
            reject,
            (1..=50).map(must).map(persons).collect(),
            change(vec![new(Severity::Must)], vec![]),
        ),
        (
            "a person's beside fifty of a judge",
            &human,
            reject,
            (1..=50).map(must).collect(),
            change(vec![new(Severity::Must)], vec![]),
        ),
        (
            "a person's fifty-first",
            &human,
            Verdict::None,
            (1..=50).map(must).map(persons).collect(),
            change(vec![new(Severity::Note)], vec![]),
        ),
        (
            "one for another",
            &judge,
            reject,
            (1..=50).map(must).collect(),
            change(vec![new(Severity::Note)], vec![moved(1, Closed)]),
        ),
    ];
    let table: Vec<String> = rows
        .into_iter()
        .map(|(name, by, verdict, points, changes)| {
            format!(
                "{name}: {}",
                said(check_changes(&points, by, verdict, &changes))
            )
        })
        .collect();
    insta::assert_snapshot!(table.join("\n"));
}

#[test]
fn an_answer_is_to_an_open_point_and_a_question_waits_until_somebody_replies() {
    let points = [must(1), closed(must(2))];
    let answer = |number, text: &str| said(check_answer(&points, PointNumber::new(number), text));
    let long = "x".repeat(POINT_CHARS_MAX + 1);
    let table = [
        answer(1, "so"),
        answer(2, "so"),
        answer(3, "so"),
        answer(1, " "),
        answer(1, &long),
        answer(1, &"é".repeat(POINT_CHARS_MAX)),
    ];
    insta::assert_snapshot!(table.join("\n"));
    let asked = answered(must(1), AnswerKind::Question);
    assert_eq!(pending_question(std::slice::from_ref(&asked)), Some(&asked));
    let reason = question_reason(PointNumber::new(12), " which: a or b? ");
    assert_eq!(reason, "review point 12: which: a or b?");
    assert_eq!(asked_point(&reason), Some("12"));
    assert_eq!(asked_point("review point x: y"), None);
    let replied = answered(asked.clone(), AnswerKind::Remark);
    assert_eq!(pending_question(&[replied, closed(asked)]), None);
}

#[test]
fn a_point_is_typed_on_one_line() {
    let rows = [
        "Greet the world",
        "must: Greet the world",
        "should: src/a.rs:12-20: name the field",
        "note: Makefile:3: tabs",
        "src/a.rs: no test",
        "src/a.rs:12: off by one: use <=",
        "docs/api: outdated",
        "Makefile: is no file here without lines",
        "Say this: hello",
        "should:src/a.rs:0: line nought",
        "nothing: of a severity",
        "note: src/a.rs:9-3: backwards",
    ];
    let table: Vec<String> = rows
        .into_iter()
        .map(|typed| {
            let NewPoint {
                severity,
                text,
                place,
            } = read_point(typed, Severity::Must);
            let place = place.map_or_else(|| "-".to_owned(), |place| place.to_string());
            format!("{typed} => {severity} | {place} | {text}")
        })
        .collect();
    insta::assert_snapshot!(table.join("\n"));
}

#[test]
fn feedback_of_one_point_stays_one_and_longer_feedback_is_parted_between_paragraphs() {
    let texts = |feedback: &str| -> Vec<String> {
        points_from_feedback(feedback)
            .into_iter()
            .map(|point| point.text)
            .collect()
    };
    assert_eq!(texts(" \n"), [] as [&str; 0]);
    assert_eq!(texts(" no test \n"), ["no test"]);
    let whole = "é".repeat(POINT_CHARS_MAX);
    assert_eq!(texts(&whole), std::slice::from_ref(&whole));
    let (first, second) = ("a".repeat(1_500), "b".repeat(1_500));
    assert_eq!(
        texts(&format!("{first}\n\n{second}")),
        [first.clone(), second.clone()]
    );
    assert_eq!(texts(&format!("{first} {second}")), [first, second]);
}

proptest! {
    #[test]
    fn no_word_of_feedback_is_lost(feedback in "([a-z]{1,9}[ \n]{1,2}|é{1,50}){0,900}") {
        let points = points_from_feedback(&feedback);
        for point in &points {
            prop_assert_eq!(check_new(point), Ok(()));
        }
        let squeeze = |text: &str| text.split_whitespace().collect::<String>();
        let kept: String = points.iter().map(|point| squeeze(&point.text)).collect();
        prop_assert_eq!(kept, squeeze(&feedback));
    }
}

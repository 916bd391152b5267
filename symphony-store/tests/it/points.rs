//! Review points: raised with a verdict, answered by the author, closed by the next reviewer.

use symphony_core::agent::AgentType;
use symphony_core::contract::DeliveryState;
use symphony_core::id::{IssueId, PrId};
use symphony_core::inbox::InboxItem;
use symphony_core::issue::{BlockedBy, CommentAuthor, IssueEvent, IssueStatus};
use symphony_core::pull_request::{PrState, PullRequestOf, VerdictKind};
use symphony_core::review_point::{
    AnswerKind, NewPoint, Place, PointChanges, PointError, PointMove, PointNumber, PointState,
    ReviewOf, ReviewPoint, Severity,
};
use symphony_core::run::{Run, RunStatus, RunTarget};
use symphony_store::{Context, NewAnswer, NewVerdict, Settlement, Store, StoreError};

use crate::support::{
    add, assert_sound, at, by, finish, human, new_claim, new_issue, new_pr, project, store, system,
    try_claim, worker,
};

fn number(number: u32) -> PointNumber {
    PointNumber::new(number)
}

fn of(issue: &IssueId) -> PullRequestOf {
    issue.clone().into()
}

fn points(store: &Store, issue: &IssueId) -> Vec<ReviewPoint> {
    store.review_points(&of(issue)).unwrap()
}

/// An issue whose pull request waits for a verdict.
fn opened(store: &mut Store) -> (IssueId, PrId) {
    let issue = add(store, "a").id;
    let run = worker(store, "r1", &issue);
    let pr = store
        .create_pr(&by(&run, 3), &new_pr(&issue, "c1"))
        .unwrap();
    end(store, &run);
    (issue, pr.id)
}

fn end(store: &mut Store, run: &Run) {
    store
        .finish_run(&system(4), &finish(run, RunStatus::Succeeded, None))
        .unwrap();
}

fn judge(store: &mut Store, run: &str, issue: &IssueId, pr: PrId) -> Run {
    let target = RunTarget::PullRequest(of(issue), pr);
    try_claim(store, run, target, AgentType::Judge).unwrap()
}

fn must(text: &str) -> NewPoint {
    NewPoint {
        severity: Severity::Must,
        text: text.into(),
        place: None,
    }
}

fn moved(point: u32, to: PointState) -> PointMove {
    PointMove {
        number: number(point),
        to,
        remark: None,
    }
}

fn verdict(
    kind: VerdictKind,
    commit: &str,
    new: Vec<NewPoint>,
    moved: Vec<PointMove>,
) -> NewVerdict {
    NewVerdict {
        force: false,
        points: PointChanges { new, moved },
        ..NewVerdict::plain(kind, commit, "")
    }
}

fn answer(point: u32, kind: AnswerKind, text: &str) -> NewAnswer {
    NewAnswer {
        point: number(point),
        kind,
        commit: (kind == AnswerKind::Fixed).then(|| "abc1234".to_owned()),
        text: text.into(),
    }
}

fn give(store: &mut Store, context: &Context, issue: &IssueId, new: &NewAnswer) {
    store.answer_point(context, &of(issue), new).unwrap();
}

/// An issue with two must-points of a judge and a note, at which a second worker is at work.
fn rejected() -> (Store, IssueId, Run) {
    let mut store = store();
    let (issue, pr) = opened(&mut store);
    let run = judge(&mut store, "j1", &issue, pr);
    let place = Place {
        file: "src/a.rs".into(),
        lines: Some("12-20".to_owned().try_into().unwrap()),
    };
    let note = NewPoint {
        severity: Severity::Note,
        text: "nice name".into(),
        place: Some(place),
    };
    let new = vec![must("no test"), must("no limit"), note];
    let rejection = verdict(VerdictKind::Rejected, "c1", new, vec![]);
    store.record_review(&by(&run, 5), pr, &rejection).unwrap();
    end(&mut store, &run);
    let run = worker(&mut store, "r2", &issue);
    (store, issue, run)
}

#[test]
fn points_are_numbered_kept_whole_and_named_in_the_comment() {
    let (store, issue, _) = rejected();
    let found = points(&store, &issue);
    let shown: Vec<String> = found
        .iter()
        .map(|point| {
            let place = point.place.as_ref().map(ToString::to_string);
            format!(
                "{} {} {} {:?} by {} of {} at {:?}",
                point.number,
                point.severity,
                point.text,
                place,
                point.author,
                point.review.map(|of| of.to_string()).unwrap_or_default(),
                point.commit,
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            r#"1 must no test None by judge of pull request 1 at Some("c1")"#,
            r#"2 must no limit None by judge of pull request 1 at Some("c1")"#,
            r#"3 note nice name Some("src/a.rs:12-20") by judge of pull request 1 at Some("c1")"#,
        ]
    );
    assert_eq!(found[0].review, Some(ReviewOf::PullRequest(PrId::new(1))));
    assert_eq!(
        store.comments(&issue, 9).unwrap()[0].content,
        "Rejected pull request 1 at commit c1: review points 1 to 3"
    );
}

#[test]
fn work_is_handed_in_only_when_every_must_point_has_an_answer() {
    let (mut store, issue, run) = rejected();
    let open_pr = |store: &mut Store| store.create_pr(&by(&run, 7), &new_pr(&issue, "c2"));
    let refused = open_pr(&mut store).unwrap_err();
    assert!(
        matches!(&refused, StoreError::Point(PointError::Unanswered { points }) if points == "review points 1 and 2 are"),
        "{refused}"
    );
    give(
        &mut store,
        &by(&run, 8),
        &issue,
        &answer(1, AnswerKind::Fixed, "tested"),
    );
    assert!(open_pr(&mut store).is_err());
    give(
        &mut store,
        &by(&run, 8),
        &issue,
        &answer(2, AnswerKind::Declined, "by design"),
    );
    let pr = open_pr(&mut store).unwrap();
    end(&mut store, &run);

    // the next judge closes what is met, and asks again for what is not
    let run = judge(&mut store, "j2", &issue, pr.id);
    let approval = verdict(
        VerdictKind::Approved,
        "c2",
        vec![],
        vec![moved(1, PointState::Closed)],
    );
    let refused = store
        .record_review(&by(&run, 9), pr.id, &approval)
        .unwrap_err();
    assert!(
        refused
            .to_string()
            .starts_with("not approved: review point 2 must be closed"),
        "{refused}"
    );
    // nothing of a refused verdict stays
    assert!(points(&store, &issue)[0].is_open());
    let mut again = moved(2, PointState::Open);
    again.remark = Some("the issue asks for one".into());
    let rejection = verdict(
        VerdictKind::Rejected,
        "c2",
        vec![],
        vec![moved(1, PointState::Closed), again],
    );
    store
        .record_review(&by(&run, 9), pr.id, &rejection)
        .unwrap();
    end(&mut store, &run);
    let found = points(&store, &issue);
    assert_eq!(
        (found[0].state, found[1].state),
        (PointState::Closed, PointState::Open)
    );
    assert!(!found[1].is_answered());
    assert_eq!(found[1].answers.len(), 2);

    let run = worker(&mut store, "r3", &issue);
    let refused = store
        .create_pr(&by(&run, 10), &new_pr(&issue, "c3"))
        .unwrap_err();
    assert!(
        refused
            .to_string()
            .starts_with("review point 2 is not answered"),
        "{refused}"
    );
    give(
        &mut store,
        &by(&run, 11),
        &issue,
        &answer(2, AnswerKind::Fixed, "done"),
    );
    let pr = store
        .create_pr(&by(&run, 12), &new_pr(&issue, "c3"))
        .unwrap();
    end(&mut store, &run);
    let run = judge(&mut store, "j3", &issue, pr.id);
    let approval = verdict(
        VerdictKind::Approved,
        "c3",
        vec![],
        vec![moved(2, PointState::Closed)],
    );
    let pr = store
        .record_review(&by(&run, 13), pr.id, &approval)
        .unwrap();
    assert_eq!(pr.state, PrState::Approved);
    end(&mut store, &run);
    store.require_points_closed(&pr).unwrap();
    let log = store.events_of_issue(&issue).unwrap();
    let kinds = |kind: &str| log.iter().filter(|entry| entry.kind == kind).count();
    assert_eq!(
        (
            kinds("review_point_raised"),
            kinds("review_point_moved"),
            kinds("review_point_answered")
        ),
        (3, 3, 4)
    );
    assert_sound(&mut store);
}

#[test]
fn only_people_close_the_points_of_people() {
    let mut store = store();
    let (issue, pr) = opened(&mut store);
    store
        .record_review(
            &human(5),
            pr,
            &NewVerdict::plain(VerdictKind::Rejected, "c1", "Say it louder"),
        )
        .unwrap();
    let run = worker(&mut store, "r2", &issue);
    give(
        &mut store,
        &by(&run, 7),
        &issue,
        &answer(1, AnswerKind::Fixed, "louder"),
    );
    let pr = store
        .create_pr(&by(&run, 7), &new_pr(&issue, "c2"))
        .unwrap()
        .id;
    end(&mut store, &run);
    let run = judge(&mut store, "j1", &issue, pr);
    let close = vec![moved(1, PointState::Closed)];
    let approval = |moved| verdict(VerdictKind::Approved, "c2", vec![], moved);
    let refused = store
        .record_review(&by(&run, 8), pr, &approval(close.clone()))
        .unwrap_err();
    let said = "a person raised review point 1, and only a person can close it";
    assert!(refused.to_string().contains(said), "{refused}");
    // a judge's approval is kept, and takes effect when the person is content
    let judged = store
        .record_review(&by(&run, 8), pr, &approval(vec![]))
        .unwrap();
    assert_eq!(judged.state, PrState::Open);
    end(&mut store, &run);
    assert_eq!(store.run(&run.id).unwrap().status, RunStatus::Succeeded);
    assert_eq!(store.pr(pr).unwrap().state, PrState::Open);
    assert_sound(&mut store);
    let changes = PointChanges {
        new: vec![],
        moved: close,
    };
    let found = store
        .change_points(&human(9), &of(&issue), &changes)
        .unwrap();
    assert_eq!(found[0].state, PointState::Closed);
    assert_eq!(store.pr(pr).unwrap().state, PrState::Approved);
    assert_sound(&mut store);
}

fn block(store: &Store, issue: &IssueId) -> Option<BlockedBy> {
    store
        .issue(issue)
        .unwrap()
        .state
        .block()
        .map(|block| block.by)
}

#[test]
fn a_question_blocks_its_issue_until_a_person_replies() {
    let (mut store, issue, run) = rejected();
    let asks = answer(2, AnswerKind::Question, "Which limit?");
    give(&mut store, &by(&run, 7), &issue, &asks);
    assert_eq!(block(&store, &issue), Some(BlockedBy::Question));
    end(&mut store, &run);
    assert_eq!(block(&store, &issue), Some(BlockedBy::Question));
    let waiting = store.waiting_issues(&project(), 15, at(8)).unwrap();
    let item = InboxItem::from(waiting.into_iter().next().unwrap());
    assert_eq!(
        item.text,
        "it is blocked (question): review point 2: Which limit?"
    );
    assert_eq!(
        item.answers[1],
        format!("symphony point reply {issue} 2 TEXT")
    );

    // a word about another point is no reply
    let remark = |point| answer(point, AnswerKind::Remark, "Ten.");
    give(&mut store, &human(9), &issue, &remark(1));
    assert_eq!(block(&store, &issue), Some(BlockedBy::Question));
    give(&mut store, &human(9), &issue, &remark(2));
    assert_eq!(
        store.issue(&issue).unwrap().state.status(),
        IssueStatus::Todo
    );
    // it still has to be answered
    let run = worker(&mut store, "r3", &issue);
    give(
        &mut store,
        &by(&run, 10),
        &issue,
        &answer(1, AnswerKind::Fixed, "tested"),
    );
    let refused = store
        .create_pr(&by(&run, 10), &new_pr(&issue, "c2"))
        .unwrap_err();
    assert!(
        refused
            .to_string()
            .starts_with("review point 2 is not answered"),
        "{refused}"
    );
    end(&mut store, &run);
    assert_sound(&mut store);
}

#[test]
fn a_person_who_closes_the_point_or_starts_the_issue_again_has_replied() {
    let (mut store, issue, run) = rejected();
    give(
        &mut store,
        &by(&run, 7),
        &issue,
        &answer(2, AnswerKind::Question, "Which?"),
    );
    end(&mut store, &run);
    let changes = PointChanges {
        new: vec![],
        moved: vec![moved(2, PointState::Closed)],
    };
    store
        .change_points(&human(8), &of(&issue), &changes)
        .unwrap();
    assert_eq!(
        store.issue(&issue).unwrap().state.status(),
        IssueStatus::Todo
    );
    let run = worker(&mut store, "r3", &issue);
    give(
        &mut store,
        &by(&run, 9),
        &issue,
        &answer(1, AnswerKind::Question, "Which?"),
    );
    end(&mut store, &run);
    store
        .move_issue(&human(10), &issue, &IssueEvent::Queued)
        .unwrap();
    assert_eq!(block(&store, &issue), None);
}

#[test]
fn a_rejected_phase_is_claimed_again_only_with_answers() {
    let mut store = store();
    let mut new = new_issue("a");
    new.labels = vec!["phase:research".into()];
    let issue = store.add_issue(&human(1), &new).unwrap().id;
    let run = worker(&mut store, "r1", &issue);
    let claim = |store: &mut Store, run: &Run| {
        let new = new_claim(store, &issue);
        let claim = store.submit_delivery(&by(run, 3), &new)?;
        store.settle_delivery(&by(run, 3), claim.id, Settlement::AwaitingJudge, "c1", &[])
    };
    let first = claim(&mut store, &run).unwrap();
    end(&mut store, &run);
    let target = RunTarget::Delivery(issue.clone(), first.id);
    let judge = try_claim(&mut store, "j1", target, AgentType::Judge).unwrap();
    store
        .record_phase_review(
            &by(&judge, 5),
            first.id,
            &NewVerdict::plain(VerdictKind::Rejected, "c1", "no risks named"),
        )
        .unwrap();
    end(&mut store, &judge);
    let found = points(&store, &issue);
    assert_eq!(
        (found[0].author.clone(), found[0].review),
        (
            CommentAuthor::Agent(AgentType::Judge),
            Some(ReviewOf::Delivery(first.id))
        )
    );
    let run = worker(&mut store, "r2", &issue);
    let refused = claim(&mut store, &run).unwrap_err();
    assert!(
        refused
            .to_string()
            .starts_with("review point 1 is not answered"),
        "{refused}"
    );
    give(
        &mut store,
        &by(&run, 7),
        &issue,
        &answer(1, AnswerKind::Fixed, "named"),
    );
    let second = claim(&mut store, &run).unwrap();
    end(&mut store, &run);
    let target = RunTarget::Delivery(issue.clone(), second.id);
    let judge = try_claim(&mut store, "j2", target, AgentType::Judge).unwrap();
    let approved = |moved| verdict(VerdictKind::Approved, "c1", vec![], moved);
    let refused = store
        .record_phase_review(&by(&judge, 9), second.id, &approved(vec![]))
        .unwrap_err();
    assert!(refused.to_string().starts_with("not approved"), "{refused}");
    store
        .record_phase_review(
            &by(&judge, 9),
            second.id,
            &approved(vec![moved(1, PointState::Closed)]),
        )
        .unwrap();
    end(&mut store, &judge);
    assert_sound(&mut store);
}

/// As with a pull request: the judge's word is kept, nobody else is paid, and closing the point is all that a person has to do.
#[test]
fn a_judges_approval_of_a_phase_takes_effect_when_people_have_closed_their_points() {
    let mut store = store();
    let mut new = new_issue("a");
    new.labels = vec!["phase:research".into()];
    let issue = store.add_issue(&human(1), &new).unwrap().id;
    let claim = |store: &mut Store, run: &Run| {
        let new = new_claim(store, &issue);
        let claim = store.submit_delivery(&by(run, 3), &new).unwrap();
        let waits = Settlement::AwaitingJudge;
        store
            .settle_delivery(&by(run, 3), claim.id, waits, "c1", &[])
            .unwrap()
    };
    let run = worker(&mut store, "r1", &issue);
    let first = claim(&mut store, &run);
    end(&mut store, &run);
    store
        .record_phase_review(
            &human(5),
            first.id,
            &NewVerdict::plain(VerdictKind::Rejected, "c1", "no risks"),
        )
        .unwrap();
    let run = worker(&mut store, "r2", &issue);
    let named = answer(1, AnswerKind::Fixed, "named");
    give(&mut store, &by(&run, 7), &issue, &named);
    let second = claim(&mut store, &run);
    end(&mut store, &run);
    let target = RunTarget::Delivery(issue.clone(), second.id);
    let judge = try_claim(&mut store, "j1", target, AgentType::Judge).unwrap();
    let approval = verdict(VerdictKind::Approved, "c1", vec![], vec![]);
    let kept = store
        .record_phase_review(&by(&judge, 9), second.id, &approval)
        .unwrap();
    assert_eq!(
        (kept.state, kept.is_approved()),
        (DeliveryState::AwaitingJudge, true)
    );
    end(&mut store, &judge);
    assert_eq!(store.run(&judge.id).unwrap().status, RunStatus::Succeeded);
    let phase = |store: &Store| store.issue(&issue).unwrap().labels;
    assert_eq!(phase(&store), ["phase:research"]);
    assert_sound(&mut store);
    let close = PointChanges {
        new: vec![],
        moved: vec![moved(1, PointState::Closed)],
    };
    let closed = |store: &Store| {
        let log = store.events_of_issue(&issue).unwrap();
        let of_points = log
            .iter()
            .filter(|entry| entry.kind == "review_point_moved");
        of_points.count()
    };
    for _twice in 0..2 {
        store.change_points(&human(9), &of(&issue), &close).unwrap();
        assert_eq!(phase(&store), ["phase:architecture"]);
        // what is closed already is not closed again
        assert_eq!(closed(&store), 1);
    }
    let accepted = store.delivery(second.id).unwrap();
    assert_eq!(
        (accepted.state, accepted.open),
        (DeliveryState::Accepted, false)
    );
    assert_sound(&mut store);
}

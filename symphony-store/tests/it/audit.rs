//! The audit: nothing is found where everything is in order, and each planted violation is found, by its name.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use symphony_core::agent::AgentType;
use symphony_core::failure::ErrorClass;
use symphony_core::id::PhaseName;
use symphony_core::invariant::Invariant;
use symphony_core::issue::IssueEvent;
use symphony_core::log::LogEvent;
use symphony_core::plan::PlanOptions;
use symphony_core::plan::state::{PhaseOutcome, PhaseWork};
use symphony_core::pull_request::VerdictKind;
use symphony_core::run::{RunStatus, RunTarget};
use symphony_store::{
    AuditRequest, EventRecord, GatesAtEnd, IssueEdit, NewIssue, NewSubtask, NewVerdict, Settlement,
    Store,
};

use crate::plans;
use crate::queries::snapshot_request;
use crate::support::{
    add, add_project, by, finish, human, moved, new_claim, new_issue, new_pr, system, try_claim,
    worker,
};

pub(crate) fn request() -> AuditRequest {
    let snapshot = snapshot_request();
    AuditRequest {
        projects: snapshot.projects,
        slots: snapshot.slots,
    }
}

/// A database in which something of every kind has happened:
/// DEM-1 merged, DEM-2 in review with a judge at work, DEM-3 waits for a retry, DEM-4 in progress, DEM-5 split into
/// DEM-6 (waits for DEM-4), DEM-7 given up by the breaker, DEM-8 returned by a hold, DEM-9 researched, its design approved
/// by a judge; a plan of two phases, the first complete.
fn sample(path: &Path) {
    let store = &mut Store::open(path).unwrap();
    add_project(store);
    for title in ["one", "two", "three", "four", "five"] {
        add(store, title);
    }
    merge_first(store);
    review_second(store);
    let id = |number| symphony_core::id::IssueId::new("DEM", number).unwrap();
    let third = worker(store, "r3", &id(3));
    let end = finish(&third, RunStatus::Failed, Some(ErrorClass::AgentFailed));
    store.finish_run(&system(20), &end).unwrap();
    worker(store, "r4", &id(4));
    let planner = try_claim(store, "r5", RunTarget::Issue(id(5)), AgentType::Planner).unwrap();
    let part = NewSubtask {
        parent: id(5),
        title: "part".into(),
        description: "of five".into(),
        priority: None,
        size: None,
        depends_on: vec![],
    };
    store.add_subtask(&by(&planner, 22), &part).unwrap();
    let end = finish(&planner, RunStatus::Succeeded, None);
    store.finish_run(&system(23), &end).unwrap();
    let edit = IssueEdit {
        depends_on: Some(vec![id(4)]),
        ..IssueEdit::default()
    };
    store.edit_issue(&human(24), &id(6), &edit).unwrap();
    let labelled = NewIssue {
        labels: vec!["b".into(), "a".into()],
        ..new_issue("seven")
    };
    store.add_issue(&human(25), &labelled).unwrap();
    let spent = worker(store, "r7", &id(7));
    let mut end = finish(&spent, RunStatus::Failed, Some(ErrorClass::AgentFailed));
    end.limits.max_retries = 1;
    store.finish_run(&system(26), &end).unwrap();
    add(store, "eight");
    let held = worker(store, "r8", &id(8));
    let end = finish(&held, RunStatus::Failed, Some(ErrorClass::Overloaded));
    store.finish_run(&system(27), &end).unwrap();
    pass_phases(store);
    begin_plan(store);
}

fn pass_phases(store: &mut Store) {
    let labelled = NewIssue {
        labels: vec!["phase:research".into()],
        ..new_issue("nine")
    };
    let issue = store.add_issue(&human(28), &labelled).unwrap().id;
    for (run, settlement, next) in [
        ("p1", Settlement::Accepted, "architecture"),
        ("p2", Settlement::AwaitingJudge, "grooming"),
    ] {
        let agent = worker(store, run, &issue);
        let mut new = new_claim(store, &issue);
        new.next_phase = PhaseName::parse(next).ok();
        let claim = store.submit_delivery(&by(&agent, 29), &new).unwrap();
        store
            .settle_delivery(&by(&agent, 29), claim.id, settlement, "c2", &[])
            .unwrap();
        let end = finish(&agent, RunStatus::Succeeded, None);
        store.finish_run(&system(30), &end).unwrap();
    }
    let claim = store.open_delivery(&issue).unwrap().unwrap();
    let target = RunTarget::Delivery(issue, claim.id);
    let judge = try_claim(store, "p3", target, AgentType::Judge).unwrap();
    store
        .record_phase_review(
            &by(&judge, 31),
            claim.id,
            &NewVerdict::plain(VerdictKind::Approved, "c2", ""),
        )
        .unwrap();
    let end = finish(&judge, RunStatus::Succeeded, None);
    store.finish_run(&system(32), &end).unwrap();
}

fn begin_plan(store: &mut Store) {
    let document = plans::document(&[("a", &[]), ("b", &["a"])]);
    plans::create(store, document, PlanOptions::default());
    let run = plans::claim(store, "p4", "a").unwrap();
    plans::report(store, &run, PhaseOutcome::Complete);
    let end = plans::end(&run, RunStatus::Succeeded, None, PhaseWork::InPlace);
    store.finish_run(&system(33), &end).unwrap();
}

fn open_pr(store: &mut Store, run: &str, number: u64, head: &str) -> symphony_core::id::PrId {
    let issue = symphony_core::id::IssueId::new("DEM", number).unwrap();
    let author = worker(store, run, &issue);
    let pr = store
        .create_pr(&by(&author, 3), &new_pr(&issue, head))
        .unwrap();
    let mut end = finish(&author, RunStatus::Succeeded, None);
    end.gates = GatesAtEnd::NoneConfigured;
    store.finish_run(&system(4), &end).unwrap();
    pr.id
}

pub(crate) fn merge_first(store: &mut Store) {
    let pr = open_pr(store, "r1", 1, "c1");
    let issue = symphony_core::id::IssueId::new("DEM", 1).unwrap();
    let target = RunTarget::PullRequest(issue.into(), pr);
    let judge = try_claim(store, "j1", target, AgentType::Judge).unwrap();
    store
        .record_review(
            &by(&judge, 5),
            pr,
            &NewVerdict::plain(VerdictKind::Approved, "c1", "good"),
        )
        .unwrap();
    let end = finish(&judge, RunStatus::Succeeded, None);
    store.finish_run(&system(6), &end).unwrap();
    let seen = store.pr(pr).unwrap();
    store
        .record_merge_intent(&human(7), &seen, moved("base", "m1"))
        .unwrap();
    store.record_merge(&human(7), pr, "m1").unwrap();
}

fn review_second(store: &mut Store) {
    let pr = open_pr(store, "r2", 2, "c2");
    let issue = symphony_core::id::IssueId::new("DEM", 2).unwrap();
    let target = RunTarget::PullRequest(issue.into(), pr);
    let judge = try_claim(store, "j2", target, AgentType::Judge).unwrap();
    store
        .record_review(
            &by(&judge, 8),
            pr,
            &NewVerdict::plain(VerdictKind::Approved, "c2", "good"),
        )
        .unwrap();
}

fn findings(path: &Path) -> Vec<String> {
    let mut store = Store::open_existing(path).unwrap();
    let found = store.audit(&request()).unwrap();
    found.iter().map(ToString::to_string).collect()
}

/// Each violation: what it breaks, the statements that plant it, what is found.
const PLANTED: &[(Invariant, &str, &[&str])] = &[
    (
        Invariant::I1,
        "DROP INDEX run_live_issue; UPDATE run SET issue = 'DEM-4' WHERE id = 'j2'",
        &["I1 DEM-4: 2 live runs: j2, r4"],
    ),
    (
        Invariant::I4,
        "UPDATE issue SET consecutive_failures = 0, total_runs = 0 WHERE id = 'DEM-3'",
        &["I4 DEM-3: its row counts 0 failures in a row and 0 runs, its log 1 failure in a row and 1 run"],
    ),
    (
        Invariant::I5,
        "DROP TRIGGER event_is_append_only_u; UPDATE event SET payload = json_set(payload, '$.counted', json('true')) WHERE run = 'r8';
         UPDATE issue SET consecutive_failures = 1, total_runs = 1 WHERE id = 'DEM-8'",
        &["I5 DEM-8: the end of run r8 (overloaded) counts, although a global condition ended it"],
    ),
    (
        Invariant::I4,
        "DROP TRIGGER event_is_append_only_u; UPDATE event SET payload = json_set(payload, '$.counted', json('false')) WHERE run = 'r3';
         UPDATE issue SET consecutive_failures = 0, total_runs = 0 WHERE id = 'DEM-3'",
        &["I4 DEM-3: the end of run r3 (agent_failed) does not count"],
    ),
    (
        Invariant::I6,
        "UPDATE retry SET due_at = 1000420001 WHERE issue = 'DEM-3'",
        &["I6 DEM-3: its retry is due 400001 ms after the end of its last run; the longest wait is 300000 ms"],
    ),
    (
        Invariant::I6,
        "INSERT INTO retry VALUES ('DEM-1', 'worker', 'backoff', 1, 1, 'r')",
        &["I6 DEM-1: it has an appointment (backoff) while it is done"],
    ),
    (
        Invariant::I7,
        "DELETE FROM comment WHERE issue = 'DEM-7'",
        &["I7 DEM-7: the circuit breaker opened 1 times, with 0 notices"],
    ),
    (
        Invariant::I7,
        "UPDATE run SET attempt = 16 WHERE id = 'r4'",
        &["I7 r4: it is attempt 16, the limit is 15"],
    ),
    (
        Invariant::I8,
        "DROP INDEX phase_claim_open; UPDATE phase_claim SET open = 1, state = 'awaiting_judge', phase = 'grooming'",
        &["I8 DEM-9: 2 open deliveries: 1, 2"],
    ),
    (
        Invariant::I8,
        "UPDATE phase_claim SET open = 1, state = 'awaiting_judge' WHERE id = 2",
        &["I8 DEM-9: delivery 2 is open, but the issue is not in the phase architecture"],
    ),
    (
        Invariant::I8,
        "UPDATE phase_claim SET open = 1, phase = 'grooming' WHERE id = 2",
        &["I8 DEM-9: delivery 2 of grooming is accepted, but the issue is todo and no run is live on it"],
    ),
    (
        Invariant::I8,
        "UPDATE phase_claim SET open = 1, state = 'submitted', phase = 'grooming' WHERE id = 2",
        &["I8 DEM-9: delivery 2 was never settled, but its run p2 is over"],
    ),
    (
        Invariant::I8,
        "DROP TRIGGER event_is_append_only_d; DELETE FROM event WHERE kind = 'phase_advanced' AND payload ->> '$.claim' = '2'",
        &["I8 DEM-9: delivery 2 of architecture is accepted and closed, but the issue did not go on"],
    ),
    (
        Invariant::I8,
        "UPDATE run SET phase = 'research' WHERE id = 'p2'",
        &["I8 p2: it worked on the phase research, when DEM-9 had gone on to architecture"],
    ),
    (
        Invariant::I8,
        "INSERT INTO run (id, fence, project, plan, plan_phase, agent, attempt, provider, status, protection, started_at, ended_at)
         VALUES ('p5', 100, 'demo', 'ship', 'a', 'worker', 1, 'scripted', 'failed', 'none', 1, 1);
         INSERT INTO event (at, run, actor, kind) VALUES (1, 'p5', 'system', 'run_claimed'), (1, 'p5', 'system', 'run_ended')",
        &["I8 p5: it began on the phase a of the plan ship, which was complete"],
    ),
    (
        Invariant::I8,
        "UPDATE plan_phase SET status = 'pending' WHERE phase = 'a'; UPDATE plan_phase SET status = 'running', run = 'r1' WHERE phase = 'b'",
        &["I8 ship b: it is at work, but a, which it waits for, is pending"],
    ),
    (
        Invariant::I9,
        "UPDATE phase_claim SET verdict = json_set(verdict, '$.commit', 'c0') WHERE id = 2",
        &["I9 delivery 2: its verdict names commit c0, it is about c2"],
    ),
    (
        Invariant::I9,
        "UPDATE phase_claim SET verdict = json_set(verdict, '$.run', run) WHERE id = 2",
        &["I9 delivery 2: its verdict comes from run p2, which is its author's"],
    ),
    (
        Invariant::I9,
        "UPDATE phase_claim SET verdict = json_set(verdict, '$.run', 'j1') WHERE id = 2",
        &["I9 delivery 2: its verdict comes from run j1, which was not on it"],
    ),
    (
        Invariant::I9,
        "UPDATE phase_claim SET verdict = json_set(verdict, '$.run', 'r4') WHERE id = 2",
        &["I9 delivery 2: its verdict comes from run r4 of a worker"],
    ),
    (
        Invariant::I17,
        "INSERT INTO event (at, issue, actor, kind, payload) VALUES (1, 'DEM-9', 'system', 'phase_advanced', '{\"claim\":\"2\"}')",
        &["I17 DEM-9: delivery 2 took it on 2 times"],
    ),
    (
        Invariant::I9,
        "UPDATE pull_request SET verdict = json_set(verdict, '$.commit', 'c0') WHERE id = 2",
        &["I9 pull request 2: its verdict names commit c0, its head is c2"],
    ),
    (
        Invariant::I9,
        "UPDATE pull_request SET verdict = json_set(verdict, '$.run', run) WHERE id = 2",
        &["I9 pull request 2: its verdict comes from run r2, which is its author's"],
    ),
    (
        Invariant::I9,
        "UPDATE pull_request SET verdict = json_set(verdict, '$.run', 'j1') WHERE id = 2",
        &["I9 pull request 2: its verdict comes from run j1, which was not on it"],
    ),
    (
        Invariant::I9,
        "UPDATE pull_request SET verdict = json_set(verdict, '$.run', 'r4') WHERE id = 2",
        &["I9 pull request 2: its verdict comes from run r4 of a worker"],
    ),
    (
        Invariant::I10,
        "UPDATE pull_request SET verdict = json_set(verdict, '$.kind', 'rejected') WHERE id = 1",
        &["I10 pull request 1: it is merged without an approval"],
    ),
    (
        Invariant::I10,
        "UPDATE pull_request SET merged_commit = NULL WHERE id = 1",
        &["I10 pull request 1: it is merged, but no merged commit is recorded"],
    ),
    (
        Invariant::I10,
        "UPDATE pull_request SET merged_commit = 'm2' WHERE id = 1",
        &["I10 pull request 1: commit m2 is recorded as merged, but no merge was intended"],
    ),
    (
        Invariant::I11,
        "UPDATE run SET issue = 'DEM-1' WHERE id = 'j2'",
        &["I11 DEM-1: it is done, but run j2 is live on it and was not asked to end"],
    ),
    (
        Invariant::I11,
        "INSERT INTO event (at, issue, actor, kind, payload) VALUES (1, 'DEM-1', 'human', 'issue_moved', '{\"event\":{\"event\":\"dispatched\"},\"from\":\"todo\",\"to\":\"in_progress\"}')",
        &["I11 DEM-1: the database contains an invalid event log (``dispatched` does not apply to an issue in `done`; a person can move it to `todo``): restore a backup, or ask for help"],
    ),
    (
        Invariant::I11,
        "INSERT INTO event (at, issue, actor, kind, payload) VALUES (1, 'DEM-1', 'human', 'issue_moved', '{\"event\":{\"event\":\"beamed_up\"}}')",
        &["I11 DEM-1: the database contains an invalid event log (`an unreadable issue_moved: {\"event\":{\"event\":\"beamed_up\"}}`): restore a backup, or ask for help"],
    ),
    (
        Invariant::I12,
        "UPDATE issue SET status = 'backlog' WHERE id = 'DEM-2'",
        &["I12 DEM-2: its row says backlog, its log review"],
    ),
    (
        Invariant::I12,
        "UPDATE run SET status = 'running', ended_at = NULL, issue = NULL WHERE id = 'r7'",
        &["I12 r7: it is running, but its log has 1 ends"],
    ),
    (
        Invariant::I12,
        "UPDATE issue SET open_dependencies = 0 WHERE id = 'DEM-6'",
        &["I12 DEM-6: open_dependencies is 0, open are 1"],
    ),
    (
        Invariant::I12,
        "UPDATE issue SET idle_dependencies = 1 WHERE id = 'DEM-6'",
        &["I12 DEM-6: idle_dependencies is 1, idle are 0"],
    ),
    (
        Invariant::I12,
        "UPDATE issue SET is_awaited = 1 WHERE id = 'DEM-6'",
        &["I12 DEM-6: it counts as awaited, but no issue waits for it"],
    ),
    (
        Invariant::I12,
        "DROP TRIGGER awaited_depends; INSERT INTO issue_dependency VALUES ('DEM-3', 'DEM-7'); UPDATE issue SET open_dependencies = 1 WHERE id = 'DEM-3'",
        &["I12 DEM-7: issues wait for it, which its row does not show"],
    ),
    (
        Invariant::I12,
        "UPDATE issue SET done_subtasks = 1 WHERE id = 'DEM-5'",
        &["I12 DEM-5: it counts 1 open and 1 done sub-tasks; there are 1 and 0"],
    ),
    (
        Invariant::I12,
        "DELETE FROM issue_label WHERE label = 'a'",
        &["I12 DEM-7: its labels are [\"a\",\"b\"], the index has [\"b\"]"],
    ),
    (
        Invariant::I13,
        "UPDATE run SET worktree = '.symphony-workspaces/DEM-3' WHERE id IN ('r3', 'r4')",
        &["I13 demo: .symphony-workspaces/DEM-3: 2 issues worked in it: DEM-3,DEM-4"],
    ),
    (
        Invariant::I16,
        "INSERT INTO run (id, fence, project, agent, attempt, provider, status, protection, started_at)
         SELECT 's' || value, 100 + value, 'demo', 'custom-' || value, 1, 'scripted', 'running', 'none', 1 FROM json_each('[1,2,3]')",
        &["I16 installation: 5 runs live, the limit is 4"],
    ),
    (
        Invariant::I17,
        "INSERT INTO event (at, run, actor, kind) VALUES (1, 'r1', 'system', 'run_ended')",
        &["I17 r1: it ended 2 times"],
    ),
    (
        Invariant::I17,
        "INSERT INTO event (at, actor, kind, payload) VALUES (1, 'human', 'pr_state', '{\"pr\":1,\"state\":\"merged\"}')",
        &["I17 pull request 1: it was merged 2 times"],
    ),
    (
        Invariant::I18,
        "PRAGMA foreign_keys = OFF; DELETE FROM comment; UPDATE finding SET issue = issue; INSERT INTO comment (id, issue, author, content, created_at) VALUES (7, 'DEM-99', 'human', 'c', 1)",
        &[
            "I18 comment 7: names a row of issue that does not exist",
            "I7 DEM-7: the circuit breaker opened 1 times, with 0 notices",
        ],
    ),
    (
        Invariant::F1,
        "INSERT INTO event (id, at, issue, run, actor, kind) VALUES (9000, 1, 'DEM-1', 'r1', 'worker', 'comment_added')",
        &["F1 r1: entry 9000 (comment_added) was written in its name after its end"],
    ),
    (
        Invariant::L1,
        "UPDATE run SET issue = NULL WHERE id = 'r4'",
        &["L1 DEM-4: it is in_progress, but no run is live on it"],
    ),
    (
        Invariant::L1,
        "UPDATE issue SET parent = NULL WHERE id = 'DEM-6'; UPDATE issue SET open_subtasks = 0 WHERE id = 'DEM-5'",
        &["L1 DEM-5: it waits for sub-tasks, but has none"],
    ),
];

#[test]
fn where_everything_is_in_order_nothing_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    sample(&path);
    assert_eq!(findings(&path), Vec::<String>::new());
}

#[test]
fn entries_of_a_newer_version_are_no_violation() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    sample(&path);
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch(
        "INSERT INTO event (at, issue, actor, kind, payload) VALUES
         (1, 'DEM-1', 'human', 'tea_made', '{\"sugar\":2}'),
         (1, 'DEM-1', 'human', 'comment_added', '{\"poem\":\"7\"}')",
    )
    .unwrap();
    drop(conn);
    assert_eq!(findings(&path), Vec::<String>::new());
    let store = Store::open_existing(&path).unwrap();
    let log = store.events_of_issue(&"DEM-1".parse().unwrap()).unwrap();
    let unknown: Vec<_> = log
        .iter()
        .map(EventRecord::event)
        .filter(|event| matches!(event, LogEvent::Unknown { .. }))
        .map(|event| format!("{} {}", event.kind(), event.payload()))
        .collect();
    assert_eq!(
        unknown,
        ["tea_made {\"sugar\":2}", "comment_added {\"poem\":\"7\"}"]
    );
}

#[test]
fn each_planted_violation_is_found_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let original = folder.path().join("s.db");
    sample(&original);
    let mut wrong = Vec::new();
    for (number, (invariant, statements, expected)) in PLANTED.iter().enumerate() {
        let path: PathBuf = folder.path().join(format!("{number}.db"));
        std::fs::copy(&original, &path).unwrap();
        let conn = Connection::open(&path).unwrap();
        conn.pragma_update(None, "foreign_keys", false).unwrap();
        conn.execute_batch(statements).unwrap();
        drop(conn);
        let found = findings(&path);
        if found != *expected {
            wrong.push((invariant, statements, found));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What is held by repositories, processes, files of runs, or a course of events; texts of the database (I15) are searched by those who
/// know the secrets.
const ELSEWHERE: [Invariant; 9] = {
    use Invariant::{F2, I2, I3, I14, I15, L2, L3, L4, L5};
    [I2, I3, I14, I15, F2, L2, L3, L4, L5]
};

#[test]
fn every_invariant_about_the_database_has_a_planted_violation() {
    for invariant in Invariant::ALL {
        let here = !ELSEWHERE.contains(invariant);
        let planted = PLANTED.iter().any(|(planted, ..)| planted == invariant);
        assert_eq!(planted, here, "{invariant}");
    }
}

#[test]
fn the_cheap_audit_sees_what_happened_since() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    sample(&path);
    let mut store = Store::open_existing(&path).unwrap();
    let (found, last) = store.audit_since(&request(), 0).unwrap();
    assert_eq!(found, []);
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch("UPDATE issue SET total_runs = 9 WHERE id IN ('DEM-3', 'DEM-7')")
        .unwrap();
    assert_eq!(store.audit_since(&request(), last).unwrap(), (vec![], last));
    let id = symphony_core::id::IssueId::new("DEM", 3).unwrap();
    store
        .move_issue(&human(40), &id, &IssueEvent::Shelved)
        .unwrap();
    let (found, after) = store.audit_since(&request(), last).unwrap();
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "I4 DEM-3: its row counts 1 failure in a row and 9 runs, its log 1 failure in a row and 1 run"
        ]
    );
    assert!(after > last);
}

#[test]
fn every_text_is_shown_to_a_search() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    sample(&path);
    let mut store = Store::open_existing(&path).unwrap();
    store
        .add_comment(
            &human(50),
            &symphony_core::id::IssueId::new("DEM", 4).unwrap(),
            "the needle",
        )
        .unwrap();
    let mut places = Vec::new();
    store
        .for_each_text(&mut |place, text| {
            if text.windows(6).any(|piece| piece == b"needle") {
                places.push(format!("{} {} {}", place.table, place.row, place.column));
            }
        })
        .unwrap();
    assert_eq!(places.len(), 1, "{places:?}");
    assert!(places[0].starts_with("comment "), "{places:?}");
}

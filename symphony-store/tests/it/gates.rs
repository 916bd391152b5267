//! Gates as runs of their own: what their end does to the pull request and its issue.

use symphony_core::agent::AgentType;
use symphony_core::failure::ErrorClass;
use symphony_core::gates::{BaseComparison, FailurePrint};
use symphony_core::id::{IssueId, PrId};
use symphony_core::issue::{
    BlockedBy, CommentAuthor, DependentsFate, FindingKind, IssueEvent, IssueStatus,
};
use symphony_core::pull_request::{PrState, PullRequest, VerifiedGate, VerifiedGates};
use symphony_core::run::{Run, RunStatus, RunTarget};
use symphony_core::tick::HoldScope;
use symphony_store::{
    ClaimLimits, ClaimRefusal, GatePass, GatesAtEnd, GatesFound, IssueEnd, Links, NewHold, Store,
};

use crate::support::{
    LIMITS, add, assert_sound, at, by, finish, human, new_pr, project, request, store, system,
    try_claim, worker,
};

fn ran(commit: &str, passed: bool) -> GatesFound {
    GatesFound::Ran {
        gates: VerifiedGates {
            merged_with: None,
            commit: commit.into(),
            results: vec![VerifiedGate {
                name: "test".into(),
                required: true,
                passed,
                exit_code: Some(i32::from(!passed)),
                duration_ms: 5,
                output: "1 failed".into(),
                cached: false,
                definition: None,
                failed_tries: Vec::new(),
            }],
        },
        tree: format!("tree of {commit}"),
        print: (!passed).then(|| FailurePrint::stored("same")),
        base: BaseComparison::NotMade,
    }
}

/// An issue in review whose pull request waits for its gates.
fn in_review(store: &mut Store, run: &str, head: &str) -> (IssueId, PrId) {
    let issue = add(store, run);
    let id = open_pr(store, &issue.id, run, head);
    (issue.id, id)
}

fn open_pr(store: &mut Store, issue: &IssueId, run: &str, head: &str) -> PrId {
    let author = worker(store, run, issue);
    let pr = store
        .create_pr(&by(&author, 3), &new_pr(issue, head))
        .expect("a worker opens a pull request");
    let end = finish(&author, RunStatus::Succeeded, None);
    store.finish_run(&system(4), &end).expect("the run ends");
    pr.id
}

fn gates_run(store: &mut Store, id: &str, issue: &IssueId, pr: PrId) -> Result<Run, ClaimRefusal> {
    let target = RunTarget::Gates(issue.clone().into(), pr);
    try_claim(store, id, target, AgentType::Gates)
}

fn gates_run_at(
    store: &mut Store,
    id: &str,
    (issue, pr): (&IssueId, PrId),
    second: i64,
) -> Result<Run, ClaimRefusal> {
    let target = RunTarget::Gates(issue.clone().into(), pr);
    let request = request(id, target, AgentType::Gates);
    let claims = store.claim(&system(second), &[request], &ClaimLimits::total(8));
    claims.expect("the database can be written").remove(0)
}

fn end_gates(store: &mut Store, run: &Run, found: GatesFound) -> PullRequest {
    let mut end = finish(run, RunStatus::Succeeded, None);
    end.gates = GatesAtEnd::Found(found);
    end.limits = LIMITS;
    store.finish_run(&system(5), &end).expect("the gates end");
    let pr = match &run.target {
        RunTarget::Gates(_, pr) => *pr,
        other => panic!("{other:?} is not a target of gates"),
    };
    store.pr(pr).expect("the pull request is there")
}

#[test]
fn green_gates_are_bound_to_their_commit_and_clear_the_failures() {
    let mut store = store();
    let (issue, pr) = in_review(&mut store, "r1", "c1");
    assert_eq!(store.pr(pr).unwrap().gates_of_head(), None);
    let run = gates_run(&mut store, "g1", &issue, pr).unwrap();
    assert_eq!(run.target, RunTarget::Gates(issue.clone().into(), pr));
    let pr = end_gates(&mut store, &run, ran("c1", true));
    assert!(pr.gates_of_head().unwrap().green());
    let found = store.issue(&issue).unwrap();
    assert_eq!(found.state.status(), IssueStatus::Review);
    assert_eq!(
        (found.counts.consecutive_failures, found.counts.total_runs),
        (0, 1)
    );
    // they ran: there is nothing to start any more
    let again = gates_run(&mut store, "g2", &issue, pr.id);
    assert_eq!(again, Err(ClaimRefusal::ReviewEnded));
}

#[test]
fn a_red_gate_counts_and_sends_the_issue_back_with_its_output_and_a_delay() {
    let mut store = store();
    let (issue, pr) = in_review(&mut store, "r1", "c1");
    let run = gates_run(&mut store, "g1", &issue, pr).unwrap();
    let pr = end_gates(&mut store, &run, ran("c1", false));
    assert_eq!(pr.state, PrState::Rejected);
    assert_eq!(pr.verdict.unwrap().author, CommentAuthor::System);
    let found = store.issue(&issue).unwrap();
    assert_eq!(found.state.status(), IssueStatus::Todo);
    assert_eq!(found.counts.consecutive_failures, 1);
    let findings = store.findings(&issue, 5).unwrap();
    assert_eq!(findings[0].kind, FindingKind::Gate);
    assert!(findings[0].text.contains("1 failed"));
    let retries = store.retries(None).unwrap();
    assert!(retries[0].due_at > at(5), "{retries:?}");
}

#[test]
fn a_gate_that_fails_three_times_stops_the_issue_whatever_it_prints_and_a_person_goes_on() {
    let mut store = store();
    let issue = add(&mut store, "a").id;
    for round in 1..=3 {
        let head = format!("c{round}");
        let pr = open_pr(&mut store, &issue, &format!("r{round}"), &head);
        let run = gates_run(&mut store, &format!("g{round}"), &issue, pr).unwrap();
        let mut found = ran(&head, false);
        if let GatesFound::Ran { print, .. } = &mut found {
            *print = Some(FailurePrint::stored(format!("print {round}")));
        }
        let pr = end_gates(&mut store, &run, found);
        let state = store.issue(&issue).unwrap().state;
        if round < 3 {
            assert_eq!(
                (pr.state, state.status()),
                (PrState::Rejected, IssueStatus::Todo)
            );
            continue;
        }
        assert_eq!(pr.state, PrState::Open, "a person decides about it");
        let block = state.block().unwrap();
        assert_eq!(block.by, BlockedBy::Gates);
        assert!(block.reason.contains("3 times"), "{}", block.reason);
    }
    // a person has them run again: the issue is in review, the gates are due, and no pass counts
    let pr = store.open_pr(&issue).unwrap().unwrap();
    let asked = store.request_gates(&human(6), pr.id).unwrap();
    assert_eq!(
        (asked.verified_gates.as_ref(), asked.gates_wait.fresh),
        (None, true)
    );
    assert_eq!(
        store.issue(&issue).unwrap().state.status(),
        IssueStatus::Review
    );
    let run = gates_run(&mut store, "g9", &issue, pr.id).unwrap();
    end_gates(&mut store, &run, ran("c3", false));
    let state = store.issue(&issue).unwrap().state;
    assert_eq!(
        state.block().map(|block| block.by),
        Some(BlockedBy::Gates),
        "{state:?}"
    );
    // a person starts it again: what failed before is forgotten
    store
        .move_issue(&human(7), &issue, &IssueEvent::Queued)
        .unwrap();
    let pr = open_pr(&mut store, &issue, "r9", "c9");
    let run = gates_run(&mut store, "g10", &issue, pr).unwrap();
    end_gates(&mut store, &run, ran("c9", false));
    assert_eq!(
        store.issue(&issue).unwrap().state.status(),
        IssueStatus::Todo
    );
}

#[test]
fn a_failure_that_comes_back_stops_the_issue_whatever_was_green_in_between() {
    /// One pull request's gates: the tree, and the print of the failure; none where they passed.
    type Gated = (&'static str, Option<&'static str>);
    let table: [(&str, &[Gated], Option<usize>); 7] = [
        (
            "one output, no pass",
            &[("t1", Some("p")), ("t2", Some("p")), ("t3", Some("p"))],
            Some(3),
        ),
        (
            "one output, each time after a pass",
            &[
                ("t1", Some("p")),
                ("t2", None),
                ("t3", Some("p")),
                ("t4", None),
                ("t5", Some("p")),
            ],
            Some(5),
        ),
        (
            "the same files after a pass on others",
            &[("t1", Some("p")), ("t2", None), ("t1", Some("p"))],
            Some(3),
        ),
        (
            "files that passed meanwhile failed for another reason",
            &[("t1", Some("p")), ("t1", None), ("t1", Some("p"))],
            None,
        ),
        (
            "other outputs in between",
            &[
                ("t1", Some("p")),
                ("t2", None),
                ("t3", Some("q")),
                ("t4", None),
                ("t5", Some("p")),
                ("t6", None),
                ("t7", Some("p")),
            ],
            Some(7),
        ),
        (
            "another output each time",
            &[
                ("t1", Some("p")),
                ("t2", None),
                ("t3", Some("q")),
                ("t4", None),
                ("t5", Some("r")),
            ],
            None,
        ),
        (
            "another output each time, no pass",
            &[("t1", Some("p")), ("t2", Some("q")), ("t3", Some("r"))],
            Some(3),
        ),
    ];
    for (name, gated, stops_at) in table {
        let mut store = store();
        let issue = add(&mut store, "a").id;
        let mut stopped = None;
        for (number, (files, failure)) in (1..).zip(gated) {
            let head = format!("c{number}");
            let pr = open_pr(&mut store, &issue, &format!("r{number}"), &head);
            let run = gates_run(&mut store, &format!("g{number}"), &issue, pr).unwrap();
            let mut found = ran(&head, failure.is_none());
            if let GatesFound::Ran { tree, print, .. } = &mut found {
                (*tree, *print) = ((*files).to_owned(), failure.map(FailurePrint::stored));
            }
            end_gates(&mut store, &run, found);
            if store.issue(&issue).unwrap().state.block().is_some() {
                stopped = Some(number);
                break;
            }
            if failure.is_none() {
                store.close_pr(&human(6), pr).unwrap();
            }
        }
        assert_eq!(stopped, stops_at, "{name}");
        assert_sound(&mut store);
    }
}

#[test]
fn what_is_no_fault_of_the_change_is_tried_again_later_and_counts_nothing() {
    let mut store = store();
    let (issue, pr) = in_review(&mut store, "r1", "c1");
    let before = store.issue(&issue).unwrap().counts;
    for tries in 1..=3 {
        // each time after the delay of the one before
        let hour = i64::from(tries) * 3_600;
        let run = gates_run_at(&mut store, &format!("g{tries}"), (&issue, pr), hour).unwrap();
        let mut end = finish(&run, RunStatus::Failed, Some(ErrorClass::WorktreeFailed));
        end.gates = GatesAtEnd::Found(GatesFound::NotRun {
            problem: "the disk has gone".into(),
        });
        store.finish_run(&system(hour), &end).unwrap();
        let wait = store.pr(pr).unwrap().gates_wait;
        assert_eq!(wait.tries, tries);
        assert!(wait.due_at > at(hour), "{wait:?}");
        assert_eq!(wait.problem.as_deref(), Some("the disk has gone"));
        let early = gates_run_at(&mut store, "g9", (&issue, pr), hour);
        assert_eq!(early, Err(ClaimRefusal::GatesNotDue));
    }
    assert_eq!(store.issue(&issue).unwrap().counts, before);
    // a supervisor that died left no result at all
    let run = gates_run_at(&mut store, "g4", (&issue, pr), 36_000).unwrap();
    let end = finish(&run, RunStatus::Crashed, Some(ErrorClass::Crashed));
    store.finish_run(&system(5), &end).unwrap();
    assert_eq!(store.pr(pr).unwrap().gates_wait.tries, 4);
    assert_eq!(
        store.issue(&issue).unwrap().state.status(),
        IssueStatus::Review
    );
}

#[test]
fn a_base_that_fails_too_holds_the_project_and_no_attempt_is_used() {
    let mut store = store();
    let (issue, pr) = in_review(&mut store, "r1", "c1");
    let before = store.issue(&issue).unwrap().counts;
    let run = gates_run(&mut store, "g1", &issue, pr).unwrap();
    let GatesFound::Ran {
        gates, tree, print, ..
    } = ran("c1", false)
    else {
        unreachable!()
    };
    let mut end = finish(&run, RunStatus::Failed, Some(ErrorClass::BaseGatesFailed));
    end.gates = GatesAtEnd::Found(GatesFound::Ran {
        gates,
        tree,
        print,
        base: BaseComparison::AllRed,
    });
    let scope = HoldScope::Gates(project());
    end.hold = Some(NewHold {
        tried: None,
        scope: scope.clone(),
        class: ErrorClass::BaseGatesFailed,
        reason: "`test` fails on main".into(),
        until: None,
        first_ms: 1_000,
    });
    store.finish_run(&system(5), &end).unwrap();
    let holds = store.holds().unwrap();
    assert_eq!(holds[0].scope, scope);
    let found = store.issue(&issue).unwrap();
    assert_eq!(
        (found.counts, found.state.status()),
        (before, IssueStatus::Review)
    );
    assert!(
        store.pr(pr).unwrap().gates_of_head().is_none(),
        "they run again"
    );

    // the probe of the base, which passes: the hold is over
    let mut probe = request("p1", RunTarget::Project, AgentType::Gates);
    probe.start.probes = vec![scope];
    let limits = ClaimLimits::total(8);
    let probe = store
        .claim(&system(6), &[probe], &limits)
        .unwrap()
        .remove(0)
        .unwrap();
    store
        .finish_run(&system(7), &finish(&probe, RunStatus::Succeeded, None))
        .unwrap();
    assert_eq!(store.holds().unwrap(), []);
}

#[test]
fn gates_of_another_commit_do_not_count() {
    let mut store = store();
    let (issue, pr) = in_review(&mut store, "r1", "c2");
    let run = gates_run(&mut store, "g1", &issue, pr).unwrap();
    let pr = end_gates(&mut store, &run, ran("c1", true));
    assert_eq!(pr.verified_gates, None);
}

#[test]
fn results_of_an_issue_that_a_person_moved_on_are_only_recorded() {
    let mut store = store();
    let (issue, pr) = in_review(&mut store, "r1", "c1");
    let run = gates_run(&mut store, "g1", &issue, pr).unwrap();
    store
        .move_issue(&human(4), &issue, &IssueEvent::Shelved)
        .unwrap();
    end_gates(&mut store, &run, ran("c1", false));
    let found = store.issue(&issue).unwrap();
    assert_eq!(found.state.status(), IssueStatus::Backlog);
    assert_eq!(found.counts.consecutive_failures, 0);
}

#[test]
fn gates_have_slots_of_their_own() {
    let mut store = store();
    let (first, first_pr) = in_review(&mut store, "r1", "c1");
    let (second, second_pr) = in_review(&mut store, "r2", "c2");
    let third = add(&mut store, "c").id;
    let slots = symphony_core::tick::SlotLimits {
        total: 1,
        gates: 1,
        ..Default::default()
    };
    let limits = ClaimLimits {
        slots,
        ..Default::default()
    };
    let requests = [
        request(
            "g1",
            RunTarget::Gates(first.into(), first_pr),
            AgentType::Gates,
        ),
        request(
            "g2",
            RunTarget::Gates(second.into(), second_pr),
            AgentType::Gates,
        ),
        request("r3", RunTarget::Issue(third), AgentType::Worker),
    ];
    let claims = store.claim(&system(5), &requests, &limits).unwrap();
    let granted: Vec<bool> = claims.iter().map(Result::is_ok).collect();
    assert_eq!(granted, [true, false, true]);
}

#[test]
fn what_passed_is_remembered_for_a_week_and_by_its_digest_only() {
    let mut store = store();
    let pass = |key: &str| GatePass {
        key: key.into(),
        gate: "test".into(),
        tree: "t".into(),
    };
    store
        .record_gate_passes(&system(10), &project(), &[pass("a")])
        .unwrap();
    let known = |store: &Store, second: i64| {
        let keys = ["a".to_owned(), "b".to_owned()];
        store
            .gate_passes(&keys, at(second))
            .unwrap()
            .into_iter()
            .collect::<Vec<_>>()
    };
    assert_eq!(known(&store, 11), ["a"]);
    let week = 7 * 24 * 60 * 60;
    assert_eq!(known(&store, 10 + week), ["a"]);
    assert_eq!(known(&store, 11 + week), [""; 0]);
    // one from the future was recorded before the clock was set back
    assert_eq!(known(&store, 9), [""; 0]);
}

#[test]
fn an_issue_whose_gates_failed_can_be_deleted() {
    let mut store = store();
    let (issue, pr) = in_review(&mut store, "r1", "c1");
    let run = gates_run(&mut store, "g1", &issue, pr).unwrap();
    end_gates(&mut store, &run, ran("c1", false));
    let end = IssueEnd {
        event: IssueEvent::Cancelled,
        comment: None,
        dependents: DependentsFate::Keep,
    };
    store.end_issue(&human(6), &issue, &end).unwrap();
    store
        .delete_issue(&human(7), &issue, Links::Refuse)
        .unwrap();
    assert!(store.issue(&issue).is_err());
    assert_sound(&mut store);
}

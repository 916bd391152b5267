//! Records that runs would leave, written into the database of a project without any process.

use serde_json::Value;
use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::failure::ErrorClass;
use symphony_core::id::{IssueId, PrId, RunId};
use symphony_core::issue::BreakerTarget;
use symphony_core::issue::IssueEvent;
use symphony_core::outcome::FailureLimits;
use symphony_core::pull_request::{FileStat, ReportedGate, VerifiedGate, VerifiedGates};
use symphony_core::retry::BACKOFF_MAX_MS;
use symphony_core::run::{ProtectionLevel, RunError, RunStatus, RunTarget};
use symphony_core::tick::{HoldScope, StartRun};
use symphony_store::{
    ClaimLimits, ClaimRequest, Context, GatesAtEnd, NewHold, NewPullRequest, RunFinish, Store,
};

use crate::support::{Project, scenarios, text};

/// Opens the database of a project.
pub(crate) fn store(project: &Project) -> Store {
    Store::open_existing(&project.root.join(".symphony/symphony.db")).unwrap()
}

fn now() -> Context {
    Context::system(Timestamp::now())
}

/// A project whose agents are never started.
pub(crate) fn idle_project(config: &Value) -> Project {
    Project::new("place", &scenarios([]), config)
}

/// Files an issue, with more arguments.
pub(crate) fn add(project: &Project, title: &str, more: &[&str]) -> String {
    let issue = project.json(&[&["issue", "add", title], more].concat());
    text(&issue["identifier"])
}

/// Reads the id of an issue.
pub(crate) fn id(issue: &str) -> IssueId {
    IssueId::parse(issue).unwrap()
}

/// Makes a branch with a change for an issue and opens a pull request for it, as a worker's run would.
pub(crate) fn open_pr(project: &Project, issue: &str, title: &str) -> PrId {
    let branch = format!("symphony/{issue}");
    let base_commit = project.git(&["rev-parse", "main"]);
    project.git(&["switch", "-q", "-c", &branch]);
    std::fs::write(project.root.join(format!("{issue}.txt")), "hello\n").unwrap();
    project.git(&["add", "."]);
    project.git(&["commit", "-q", "-m", title]);
    let head_commit = project.git(&["rev-parse", "HEAD"]);
    let diff = project.git(&["diff", "main", "HEAD"]);
    project.git(&["switch", "-q", "main"]);
    let issue = IssueId::parse(issue).unwrap();
    let mut store = store(project);
    store
        .move_issue(&now(), &issue, &IssueEvent::Dispatched)
        .unwrap();
    let new = NewPullRequest {
        of: issue.clone().into(),
        title: title.to_owned(),
        body: "What was done.".to_owned(),
        branch,
        base: "main".to_owned(),
        base_commit,
        head_commit,
        diff: format!("{diff}\n"),
        files: vec![FileStat {
            old_path: None,
            path: format!("{issue}.txt"),
            insertions: 1,
            deletions: 0,
        }],
        reported_gates: vec![ReportedGate {
            name: "check".to_owned(),
            passed: true,
            output: String::new(),
        }],
        checklist: Vec::new(),
    };
    store.create_pr(&now(), &new).unwrap().id
}

/// Records gates on the head of a pull request.
pub(crate) fn record_gates(project: &Project, id: PrId, passed: bool) {
    let mut store = store(project);
    let commit = store.pr(id).unwrap().head_commit;
    let gate = VerifiedGate {
        name: "check".to_owned(),
        required: true,
        passed,
        exit_code: Some(i32::from(!passed)),
        duration_ms: 1500,
        output: "one test\n".to_owned(),
        cached: false,
        definition: None,
        failed_tries: Vec::new(),
    };
    store
        .record_gates(
            &now(),
            id,
            &VerifiedGates {
                merged_with: None,
                commit,
                results: vec![gate],
            },
        )
        .unwrap();
}

/// Claims a run, as a tick would; nobody carries it out.
pub(crate) fn claimed_run(project: &Project, target: RunTarget, agent: AgentType) -> RunId {
    let mut store = store(project);
    let issue = target.issue().expect("it is about an issue");
    let issue = store.issue(issue).unwrap();
    let run = RunId::parse(uuid::Uuid::now_v7().to_string()).unwrap();
    let phase = issue.phase();
    let start = StartRun {
        project: issue.project,
        target,
        agent,
        phase,
        attempt: 1,
        provider: "scripted".to_owned(),
        probes: Vec::new(),
    };
    let request = ClaimRequest {
        run: run.clone(),
        start,
        protection: ProtectionLevel::None,
    };
    store
        .claim(&now(), &[request], &ClaimLimits::total(9))
        .unwrap()
        .remove(0)
        .unwrap();
    run
}

/// Ends a run that was claimed: it failed with this class, and the circuit breaker opens at so many attempts.
pub(crate) fn end_run(project: &Project, run: &RunId, class: ErrorClass, max_retries: u32) {
    end_run_held(project, run, class, (max_retries, 600_000));
}

/// Ends a run as [`end_run`] does; a hold of its provider lasts so many milliseconds.
pub(crate) fn end_run_held(
    project: &Project,
    run: &RunId,
    class: ErrorClass,
    (max_retries, first_ms): (u32, u64),
) {
    let hold = class.is_hold().then(|| NewHold {
        tried: None,
        scope: HoldScope::Provider("scripted".to_owned()),
        class,
        reason: "overloaded: the API said 529".to_owned(),
        until: None,
        first_ms,
    });
    let fence = store(project).run(run).unwrap().fence;
    let finish = RunFinish {
        run: run.clone(),
        fence,
        status: RunStatus::Failed,
        error: Some(RunError {
            class,
            message: "it gave up".to_owned(),
        }),
        exit_code: Some(3),
        usage: None,
        output_tail: "the last words\n".to_owned(),
        metadata: serde_json::Map::new(),
        gates: GatesAtEnd::Due,
        phase: None,
        hold,
        ahead: None,
        cap: None,
        limits: FailureLimits {
            max_retries,
            max_backoff_ms: 300_000,
            breaker_target: BreakerTarget::Backlog,
        },
    };
    store(project).finish_run(&now(), &finish).unwrap();
}

/// Records a worker's run on an issue that failed; the issue waits for its retry, as long as one may: longer than
/// any test takes.
pub(crate) fn failed_run(project: &Project, issue: &str) -> RunId {
    let target = RunTarget::Issue(IssueId::parse(issue).unwrap());
    let run = claimed_run(project, target, AgentType::Worker);
    end_run(project, &run, ErrorClass::AgentFailed, 15);
    let connection =
        rusqlite::Connection::open(project.root.join(".symphony/symphony.db")).unwrap();
    let longest = i64::try_from(BACKOFF_MAX_MS).unwrap();
    connection
        .execute(
            "UPDATE retry SET due_at = (SELECT max(ended_at) FROM run WHERE issue = ?1) + ?2 WHERE issue = ?1",
            rusqlite::params![issue, longest],
        )
        .unwrap();
    run
}

/// Moves an issue as an agent, a run or a tick would.
pub(crate) fn moved(project: &Project, issue: &str, event: &IssueEvent) {
    let issue = IssueId::parse(issue).unwrap();
    store(project).move_issue(&now(), &issue, event).unwrap();
}

/// Blocks an issue, as its agent would.
pub(crate) fn block(project: &Project, issue: &str) {
    let blocked = IssueEvent::AgentBlocked {
        reason: "needs a key".to_owned(),
    };
    store(project)
        .move_issue(&now(), &id(issue), &blocked)
        .unwrap();
}

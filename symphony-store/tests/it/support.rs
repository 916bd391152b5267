//! A store with one project, and short ways to fill it.

use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::failure::ErrorClass;
use symphony_core::id::{IssueId, PhaseName, ProjectId, RunId};
use symphony_core::issue::{BreakerTarget, Issue, IssueStatus, Priority};
use symphony_core::outcome::FailureLimits;
use symphony_core::profile::AgentChoice;
use symphony_core::run::{ProtectionLevel, Run, RunError, RunStatus, RunTarget};
use symphony_core::tick::StartRun;
use symphony_store::{
    Actor, AuditRequest, BaseMove, ClaimLimits, ClaimRefusal, ClaimRequest, Context, GatesAtEnd,
    NewDelivery, NewIssue, NewProject, NewPullRequest, RunFinish, RunKey, Store,
};

pub(crate) const LIMITS: FailureLimits = FailureLimits {
    max_retries: 15,
    max_backoff_ms: 300_000,
    breaker_target: BreakerTarget::Backlog,
};

pub(crate) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_000_000 + second).unwrap()
}

pub(crate) fn human(second: i64) -> Context {
    Context::human(at(second))
}

pub(crate) fn system(second: i64) -> Context {
    Context::system(at(second))
}

pub(crate) fn by(run: &Run, second: i64) -> Context {
    let key = RunKey::of(run);
    Context {
        actor: Actor::Run(key),
        now: at(second),
    }
}

pub(crate) fn project() -> ProjectId {
    ProjectId::parse("demo").unwrap()
}

pub(crate) fn store() -> Store {
    let mut store = Store::open_in_memory().unwrap();
    add_project(&mut store);
    store
}

pub(crate) fn add_project(store: &mut Store) {
    let new = NewProject {
        id: project(),
        name: "Demo".into(),
        root: "/demo".into(),
        prefix: "DEM".into(),
    };
    store.add_project(&human(0), &new).unwrap();
}

pub(crate) fn new_issue(title: &str) -> NewIssue {
    NewIssue {
        project: project(),
        title: title.into(),
        description: "do it".into(),
        status: IssueStatus::Todo,
        priority: Priority::None,
        size: None,
        labels: vec![],
        parent: None,
        depends_on: vec![],
        external_id: None,
        choice: AgentChoice::default(),
    }
}

pub(crate) fn add(store: &mut Store, title: &str) -> Issue {
    store.add_issue(&human(1), &new_issue(title)).unwrap()
}

pub(crate) fn request(run: &str, target: RunTarget, agent: AgentType) -> ClaimRequest {
    ClaimRequest {
        run: RunId::parse(run).unwrap(),
        start: StartRun {
            project: project(),
            target,
            agent,
            phase: None,
            attempt: 1,
            provider: "scripted".into(),
            probes: vec![],
        },
        protection: ProtectionLevel::None,
    }
}

pub(crate) fn try_claim(
    store: &mut Store,
    run: &str,
    target: RunTarget,
    agent: AgentType,
) -> Result<Run, ClaimRefusal> {
    let mut request = request(run, target, agent);
    if let RunTarget::Issue(issue) = &request.start.target {
        request.start.phase = store.issue(issue).unwrap().phase();
    }
    store
        .claim(&system(2), &[request], &ClaimLimits::total(8))
        .unwrap()
        .remove(0)
}

pub(crate) fn worker(store: &mut Store, run: &str, issue: &IssueId) -> Run {
    try_claim(
        store,
        run,
        RunTarget::Issue(issue.clone()),
        AgentType::Worker,
    )
    .unwrap()
}

/// A merge that moves the base from one commit to another.
pub(crate) fn moved<'a>(from: &'a str, to: &'a str) -> BaseMove<'a> {
    BaseMove {
        from,
        to,
        place: None,
    }
}

pub(crate) fn new_pr(issue: &IssueId, head: &str) -> NewPullRequest {
    NewPullRequest {
        of: issue.clone().into(),
        title: "Change".into(),
        body: "What and why".into(),
        branch: format!("symphony/{issue}"),
        base: "main".into(),
        base_commit: "base".into(),
        head_commit: head.into(),
        diff: "diff".into(),
        files: vec![],
        reported_gates: vec![],
        checklist: vec![],
    }
}

pub(crate) fn finish(run: &Run, status: RunStatus, class: Option<ErrorClass>) -> RunFinish {
    RunFinish {
        run: run.id.clone(),
        fence: run.fence,
        status,
        error: class.map(|class| RunError {
            class,
            message: "it went wrong".into(),
        }),
        exit_code: Some(0),
        usage: None,
        output_tail: "tail".into(),
        metadata: serde_json::Map::new(),
        phase: None,
        gates: GatesAtEnd::Due,
        hold: None,
        ahead: None,
        cap: None,
        limits: LIMITS,
    }
}

/// A claim of the phase that the issue is in now.
pub(crate) fn new_claim(store: &Store, issue: &IssueId) -> NewDelivery {
    let phase = store.issue(issue).unwrap().phase();
    let phase = phase.unwrap_or_else(|| PhaseName::parse("research").unwrap());
    // after the last phase there is a pull request, and no other phase
    let next = (!phase.is_ready()).then(|| PhaseName::parse("architecture").unwrap());
    NewDelivery {
        issue: issue.clone(),
        phase,
        artifact_path: Some(format!("docs/tickets/{issue}/research.md")),
        summary: "read everything".into(),
        skip_to: None,
        next_phase: next,
    }
}

/// The audit finds nothing.
pub(crate) fn assert_sound(store: &mut Store) {
    let found = store.audit(&AuditRequest::default()).unwrap();
    assert!(found.is_empty(), "{found:#?}");
}

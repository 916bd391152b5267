//! A database with an issue, runs on it, and clients that speak MCP with the service.

use std::path::PathBuf;

use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, CallToolResult};
use rmcp::service::{RoleClient, RunningService};
use serde_json::{Value, json};
use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::id::{IssueId, PrId, ProjectId, RunId};
use symphony_core::issue::{BreakerTarget, Issue, IssueStatus, Priority};
use symphony_core::outcome::FailureLimits;
use symphony_core::profile::AgentChoice;
use symphony_core::run::{ProtectionLevel, Run, RunStatus, RunTarget};
use symphony_core::tick::StartRun;
use symphony_core::tools::{Role, ToolSet};
use symphony_mcp::{
    BeforeHandIn, Identity, ProjectPhases, ReviewTarget, Service, StoreThread, Verdicts, serve,
};
use symphony_store::{
    Actor, ClaimLimits, ClaimRequest, Context, NewIssue, NewProject, NewPullRequest, RunFinish,
    RunKey, Store,
};
use tempfile::TempDir;

pub(crate) type Client = RunningService<RoleClient, ()>;

/// A database in a folder of its own, with the projects `demo` (issues `DEM-…`) and `other` (issues `OTH-…`).
pub(crate) struct Desk {
    pub(crate) folder: TempDir,
    pub(crate) store: Store,
}

pub(crate) fn project(name: &str) -> ProjectId {
    ProjectId::parse(name).unwrap()
}

pub(crate) fn system() -> Context {
    Context::system(Timestamp::now())
}

pub(crate) fn human() -> Context {
    Context::human(Timestamp::now())
}

pub(crate) fn new_issue(title: &str) -> NewIssue {
    NewIssue {
        project: project("demo"),
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

impl Desk {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(&folder.path().join("symphony.db")).unwrap();
        for (name, prefix) in [("demo", "DEM"), ("other", "OTH")] {
            let new = NewProject {
                id: project(name),
                name: name.into(),
                root: PathBuf::from("/").join(name),
                prefix: prefix.into(),
            };
            store.add_project(&human(), &new).unwrap();
        }
        Self { folder, store }
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.folder.path().join("symphony.db")
    }

    pub(crate) fn issue(&mut self, title: &str) -> Issue {
        self.store.add_issue(&human(), &new_issue(title)).unwrap()
    }

    /// Claims a run of an agent on a target.
    pub(crate) fn run(&mut self, agent: AgentType, target: RunTarget) -> Run {
        let run = format!("run-{}", self.events());
        let phase = match &target {
            RunTarget::Issue(issue) => self.store.issue(issue).unwrap().phase(),
            _ => None,
        };
        let request = ClaimRequest {
            run: RunId::parse(run).unwrap(),
            start: StartRun {
                project: project("demo"),
                target,
                agent,
                phase,
                attempt: 1,
                provider: "scripted".into(),
                probes: vec![],
            },
            protection: ProtectionLevel::None,
        };
        let mut granted = self
            .store
            .claim(&system(), &[request], &ClaimLimits::total(100))
            .unwrap();
        granted.remove(0).unwrap()
    }

    /// An issue with a worker's run on it.
    pub(crate) fn worker(&mut self) -> (Issue, Run) {
        let issue = self.issue("Fix the parser");
        let run = self.run(AgentType::Worker, RunTarget::Issue(issue.id.clone()));
        (issue, run)
    }

    /// An issue in review, its pull request's author gone, and a judge's run on it.
    pub(crate) fn judge(&mut self) -> (Issue, Run, ReviewTarget) {
        let (issue, run) = self.worker();
        let new = NewPullRequest {
            of: issue.id.clone().into(),
            title: "Change".into(),
            body: "What and why".into(),
            branch: format!("symphony/{}", issue.id),
            base: "main".into(),
            base_commit: "c0".into(),
            head_commit: "c1".into(),
            diff: "diff".into(),
            files: vec![],
            reported_gates: vec![],
            checklist: vec![],
        };
        let pr = self.store.create_pr(&context(&run), &new).unwrap();
        self.finish(&run);
        let target = RunTarget::PullRequest(issue.id.clone().into(), pr.id);
        let judge = self.run(AgentType::Judge, target);
        let review = ReviewTarget::PullRequest {
            subject: symphony_mcp::Reviewed::Change,
            pr: pr.id,
            commit: "c1".into(),
        };
        (issue, judge, review)
    }

    pub(crate) fn finish(&mut self, run: &Run) {
        let finish = RunFinish {
            run: run.id.clone(),
            fence: run.fence,
            status: RunStatus::Succeeded,
            error: None,
            exit_code: Some(0),
            usage: None,
            output_tail: String::new(),
            metadata: serde_json::Map::new(),
            gates: symphony_store::GatesAtEnd::Due,
            phase: None,
            hold: None,
            ahead: None,
            cap: None,
            limits: FailureLimits {
                max_retries: 15,
                max_backoff_ms: 300_000,
                breaker_target: BreakerTarget::Backlog,
            },
        };
        self.store.finish_run(&system(), &finish).unwrap();
    }

    /// Entries in the log: every write makes one.
    pub(crate) fn events(&self) -> i64 {
        let conn = rusqlite::Connection::open(self.database()).unwrap();
        conn.query_row("SELECT count(*) FROM event", [], |row| row.get(0))
            .unwrap()
    }

    pub(crate) fn service(&self, identity: Identity) -> Service {
        let store = Store::open_existing(&self.database()).unwrap();
        Service::new(identity, StoreThread::new(store))
    }

    /// A client that speaks with a service of this identity.
    pub(crate) async fn client(&self, identity: Identity) -> Client {
        let (near, far) = tokio::io::duplex(64 * 1024);
        let (read, write) = tokio::io::split(far);
        tokio::spawn(serve(self.service(identity), read, write));
        ().serve(near).await.unwrap()
    }
}

pub(crate) fn context(run: &Run) -> Context {
    Context {
        actor: actor(run),
        now: Timestamp::now(),
    }
}

fn actor(run: &Run) -> Actor {
    Actor::Run(RunKey::of(run))
}

/// The identity of a run in a role.
pub(crate) fn identity(run: &Run, role: Role) -> Identity {
    Identity {
        actor: actor(run),
        role,
        tools: ToolSet::ALL,
        project: run.project.clone(),
        issue: run.target.issue().cloned(),
        review: None,
        workspace: None,
        phases: ProjectPhases::default(),
        directory: None,
        verdicts: Verdicts::ByRole,
        before_hand_in: BeforeHandIn::default(),
    }
}

/// The identity of a person at an issue.
pub(crate) fn person(issue: Option<&IssueId>) -> Identity {
    Identity {
        actor: Actor::Human(symphony_store::Person::default()),
        role: Role::Human,
        tools: ToolSet::ALL,
        project: project("demo"),
        issue: issue.cloned(),
        review: None,
        workspace: None,
        phases: ProjectPhases::default(),
        directory: None,
        verdicts: Verdicts::ByRole,
        before_hand_in: BeforeHandIn::default(),
    }
}

/// Calls a tool; every answer is a result, never a protocol error.
pub(crate) async fn call(client: &Client, tool: &str, arguments: Value) -> CallToolResult {
    let mut params = CallToolRequestParams::new(tool.to_owned());
    params.arguments = arguments.as_object().cloned();
    client.call_tool(params).await.unwrap()
}

/// Calls a tool that has to succeed, and returns its structured content.
pub(crate) async fn done(client: &Client, tool: &str, arguments: Value) -> Value {
    let result = call(client, tool, arguments).await;
    assert_eq!(result.is_error, Some(false), "{tool}: {result:?}");
    result.structured_content.unwrap()
}

/// Calls a tool that has to refuse, and returns what it says; text and structured content say the same.
pub(crate) async fn refused(client: &Client, tool: &str, arguments: Value) -> String {
    let result = call(client, tool, arguments).await;
    assert_eq!(result.is_error, Some(true), "{tool}: {result:?}");
    let text = result.content[0].as_text().unwrap().text.clone();
    assert_eq!(result.structured_content, Some(json!({ "error": text })));
    text
}

/// The pull request that a judge reviews.
pub(crate) fn pr_of(review: &ReviewTarget) -> PrId {
    match review {
        ReviewTarget::PullRequest { pr, .. } => *pr,
        ReviewTarget::Delivery { .. } => panic!("{review:?} is no pull request"),
    }
}

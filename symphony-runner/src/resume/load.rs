//! The decision for a run, from the runs before it, and what its prompt is made from.

use serde_json::Value;
use symphony_core::Timestamp;
use symphony_core::id::RunId;
use symphony_core::run::{Run, RunTarget};
use symphony_core::session::{PastRun, ResumePlan, SESSION, SessionQuery, WhyNew, plan_session};
use symphony_mcp::StoreThread;
use symphony_prompt::{BaseNews, Report, ResumedInput};
use symphony_store::RunFilter;
use symphony_workspace::{CommitId, Repository};

use crate::error::RunnerError;
use crate::prompts::sent::PROMPT_REPORT;
use crate::supervise::Job;

/// How many runs are searched for a session: more than an issue has before its circuit breaker opens.
const RUNS_READ_MAX: u32 = 50;
/// How many commits of the base are read: more than a prompt names.
const COMMITS_READ_MAX: u32 = 30;

/// What is new for a session.
#[derive(Debug, Clone)]
pub(crate) struct News {
    /// When the last run in it was claimed.
    pub(crate) since: Timestamp,
    /// The runs in it, whose output and findings it knows.
    pub(crate) runs: Vec<RunId>,
    /// What its prompts are made from besides.
    pub(crate) input: ResumedInput,
}

/// The decision for a run.
#[derive(Debug, Clone)]
pub(crate) struct Resumption {
    /// The decision.
    pub(crate) plan: ResumePlan,
    /// What is new for the session; `None` where a new one starts.
    pub(crate) news: Option<News>,
}

impl Resumption {
    /// Decides whether a run resumes a session.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) async fn load(
        job: &Job<'_>,
        store: &StoreThread,
        query: SessionQuery,
        repository: &Repository,
    ) -> Result<Self, RunnerError> {
        let runs = earlier_runs(&job.run, store).await?;
        let past: Vec<PastRun> = runs.iter().map(PastRun::from).collect();
        let plan = plan_session(&query, &past);
        let ResumePlan::Resume { session, .. } = &plan else {
            return Ok(Self { plan, news: None });
        };
        // A person asks in the session itself.
        if job.run.is_interactive() {
            return Ok(Self { plan, news: None });
        }
        // The last prompt that Symphony sent there. What a person typed since is in the session, and in no report.
        let is_same =
            |run: &Run| run.metadata.get(SESSION).and_then(Value::as_str) == Some(session.as_str());
        let last = runs
            .iter()
            .find(|run| is_same(run) && !run.is_interactive());
        // Without it nobody knows what the session has.
        let Some((last, report)) = last.and_then(|run| Some((run, report_of(run)?))) else {
            let plan = ResumePlan::New(WhyNew::NotReported);
            return Ok(Self { plan, news: None });
        };
        let head = past.iter().find(|other| other.run == last.id);
        let head = head.and_then(|last| last.head.as_deref());
        let base = match (job.run.target.is_review(), &job.run.target, head) {
            (false, RunTarget::Issue(_), Some(head)) => base_news(repository, head),
            _ => None,
        };
        let same = past
            .iter()
            .filter(|other| other.session.as_deref() == Some(session.as_str()));
        let news = News {
            since: last.started_at,
            runs: same.map(|run| run.run.clone()).collect(),
            input: ResumedInput::after(&report, base),
        };
        Ok(Self {
            plan,
            news: Some(news),
        })
    }
}

/// Returns the ended runs on the same issue or phase of a plan, newest first.
async fn earlier_runs(run: &Run, store: &StoreThread) -> Result<Vec<Run>, RunnerError> {
    let filter = RunFilter {
        issue: run.target.issue().cloned(),
        plan: run.target.plan().cloned(),
        agents_only: true,
        limit: Some(RUNS_READ_MAX),
        ..RunFilter::default()
    };
    if filter.issue.is_none() && filter.plan.is_none() {
        return Ok(Vec::new());
    }
    let mut runs = store.call(move |store| store.runs(&filter)).await??;
    runs.retain(|other| {
        let is_other_phase = match (&other.target, &run.target) {
            (RunTarget::PlanPhase(..), RunTarget::PlanPhase(..)) => other.target != run.target,
            _ => false,
        };
        other.id != run.id && !other.status.is_live() && !is_other_phase
    });
    Ok(runs)
}

fn report_of(run: &Run) -> Option<Report> {
    let report = run.metadata.get(PROMPT_REPORT)?.clone();
    serde_json::from_value(report).ok()
}

/// Returns what was added to the base since a run began at a commit, which had the base of that time.
///
/// It is only a help: where git cannot tell, the agent sees the commits in its branch.
fn base_news(repository: &Repository, head: &str) -> Option<BaseNews> {
    let read = || {
        let head = CommitId::parse(head).ok()?;
        let base = repository.base().ok()?;
        let commits = repository
            .commits_between(&head, &base.commit, COMMITS_READ_MAX)
            .ok()?;
        let total = repository.commits_ahead(&head, &base.commit).ok()?;
        Some((base, commits, total))
    };
    let (base, commits, total) = read()?;
    (total > 0).then(|| BaseNews {
        base: base.branch.as_str().to_owned(),
        subjects: commits.into_iter().map(|commit| commit.subject).collect(),
        total,
    })
}

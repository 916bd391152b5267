//! Plans under way, and how they ended.

use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::gates::ConfiguredGate;
use symphony_core::id::{PlanId, PlanPhaseId, ProjectId, RunId};
use symphony_core::listing::list_few;
use symphony_core::outside::BaseView;
use symphony_core::plan::failure::FailureClass;
use symphony_core::plan::state::{PhaseProgress, PhaseState, PhaseStatus, PlanStatus};
use symphony_core::plan::{Artifact, Dag, PlanOptions};
use symphony_core::tick::{Hold, HoldScope};
use symphony_core::wording::error_line;
use symphony_runner::RunnerError;
use symphony_runner::plan::is_plan_driven;
use symphony_store::{PlanOverview, PlanRecord, PrFilter, Project, Store};

use super::hold::HoldView;
use super::plan_review::PlanReviewView;
use crate::text::{Listed, Page, Table, View, ago, in_future};

/// A plan with its phases in level order.
#[derive(Debug, Clone, Serialize)]
pub struct PlanView {
    /// Its id.
    pub id: PlanId,
    /// The project it belongs to.
    pub project: ProjectId,
    /// The plan file, relative to the root of the repository.
    pub path: String,
    /// Its status.
    pub status: PlanStatus,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// The user's branch; none without worktrees.
    pub target_branch: Option<String>,
    /// What it moved to.
    pub merged_commit: Option<String>,
    /// The last pull request of its work.
    pub pull_request: Option<PlanReviewView>,
    /// What a person has to look at, beside the review.
    pub notices: Vec<String>,
    /// The options that it was started with.
    pub options: PlanOptions,
    /// How many phases it has.
    pub total: usize,
    /// How many of its phases are complete.
    pub completed: usize,
    /// How many of its phases have failed.
    pub failed: usize,
    /// Whether a `plan run` or a tick has it at this moment.
    pub at_work: bool,
    /// Whether a person gave it up: its runs are being ended.
    pub given_up: bool,
    /// What keeps its phases, or the gates of its pull request, from starting, apart from the plan.
    pub holds: Vec<HoldView>,
    /// Its phases, in the order of the file.
    pub phases: Vec<PhaseView>,
}

/// A phase of a plan.
#[derive(Debug, Clone, Serialize)]
pub struct PhaseView {
    /// Its id in the plan.
    pub id: PlanPhaseId,
    /// Its title.
    pub title: String,
    /// Its status.
    pub status: PhaseStatus,
    /// The phases that a pending one waits for; or the phases that block a blocked one.
    pub waits_for: Vec<PlanPhaseId>,
    /// Whether a person skipped it.
    pub skipped: bool,
    /// Whether it counts as complete although neither its agent nor a check confirmed it.
    pub unconfirmed: bool,
    /// Attempts so far.
    pub attempts: u32,
    /// Failed attempts that were retried automatically.
    pub retry_count: u32,
    /// The live run on it.
    pub run: Option<RunId>,
    /// When its first run began.
    pub started_at: Option<Timestamp>,
    /// When it was complete.
    pub completed_at: Option<Timestamp>,
    /// When it is tried again.
    pub next_retry_at: Option<Timestamp>,
    /// How it failed last.
    pub error: Option<String>,
    /// The class of that failure, which decides whether it is tried again.
    pub error_class: Option<FailureClass>,
    /// What it has produced.
    pub artifacts: Vec<Artifact>,
}

impl PhaseView {
    fn new(
        id: &PlanPhaseId,
        title: &str,
        progress: &PhaseProgress,
        waits_for: Vec<PlanPhaseId>,
    ) -> Self {
        let failure = progress.failure.as_ref();
        let (run, next_retry_at) = match &progress.state {
            PhaseState::Running { run, .. } => (run.clone(), None),
            PhaseState::Retrying { due_at } => (None, Some(*due_at)),
            _ => (None, None),
        };
        Self {
            id: id.clone(),
            title: title.to_owned(),
            status: progress.status(),
            waits_for,
            skipped: progress.state == PhaseState::Complete { skipped: true },
            unconfirmed: progress.is_unconfirmed,
            attempts: progress.attempts,
            retry_count: progress.retry_count,
            run,
            started_at: progress.started_at,
            completed_at: progress.completed_at,
            next_retry_at,
            error: failure.map(|failure| failure.error.clone()),
            error_class: failure.map(|failure| failure.class),
            artifacts: progress.artifacts.clone(),
        }
    }

    /// Says what it waits for, how it failed, or what happened to it otherwise.
    pub fn remark(&self, now: Timestamp) -> String {
        let class = self.error_class.unwrap_or(FailureClass::Unknown);
        let error = self.error.as_deref();
        let error = error.map(|error| failure_text(class, error));
        match (self.status, error) {
            (PhaseStatus::Running, _) => {
                let run = self.run.as_ref();
                run.map(|run| format!("run {run}")).unwrap_or_default()
            }
            (PhaseStatus::Retrying, error) => {
                let due = self.next_retry_at.map(|due| in_future(due, now));
                let error = error.unwrap_or_default();
                format!("next try {}, after {error}", due.unwrap_or_default())
            }
            (PhaseStatus::Pending, _) => format!("waits for {}", few(&self.waits_for)),
            (PhaseStatus::Blocked, _) => format!("blocked by {}", few(&self.waits_for)),
            (PhaseStatus::Complete, Some(error)) if self.skipped => {
                format!("skipped after {error}")
            }
            (PhaseStatus::Complete, None) if self.skipped => "skipped".to_owned(),
            (PhaseStatus::Complete, _) if self.unconfirmed => {
                "unconfirmed: its agent could not report, and the phase has no checks".to_owned()
            }
            (_, error) => error.unwrap_or_default(),
        }
    }
}

/// Says how a phase failed, in a line: the first of its error, after its class where that is known.
pub fn failure_text(class: FailureClass, error: &str) -> String {
    let line = error_line(error);
    match class.words() {
        // its error says which check
        Some(words) if class != FailureClass::CheckFailed => format!("{words}: {line}"),
        _ => line,
    }
}

/// Phases that are named one by one: more would be harder to read.
const NAMED_MAX: usize = 4;

pub(super) fn few(phases: &[PlanPhaseId]) -> String {
    list_few(phases.iter().map(PlanPhaseId::as_str), NAMED_MAX)
}

/// Names the phases that keep one from starting.
fn waits_for(dag: &Dag, record: &PlanRecord, at: usize) -> Vec<PlanPhaseId> {
    let status = |id: &PlanPhaseId| record.state.phase_status(id);
    let keeps: fn(PhaseStatus) -> bool = match dag.ids().get(at).map(status) {
        Some(PhaseStatus::Pending) => |source| source != PhaseStatus::Complete,
        Some(PhaseStatus::Blocked) => PhaseStatus::blocks,
        _ => return Vec::new(),
    };
    let sources = dag.sources(at).iter().filter_map(|at| dag.ids().get(*at));
    sources.filter(|id| keeps(status(id))).cloned().collect()
}

impl PlanView {
    /// Makes the view of a plan of a project that has these gates now.
    ///
    /// # Errors
    /// When its lock cannot be asked, or the recorded plan is no longer valid.
    pub fn of(
        store: &Store,
        project: &Project,
        record: &PlanRecord,
        configured: &[ConfiguredGate],
    ) -> Result<Self, RunnerError> {
        let requests = store.prs(&PrFilter {
            plan: Some(record.id.clone()),
            ..PrFilter::default()
        })?;
        let at_work = is_plan_driven(project, &record.id)?;
        let dag = record.dag()?;
        let counts = record.state.counts();
        let in_order = dag.order().iter().filter_map(|at| {
            let id = dag.ids().get(*at)?;
            let waits_for = waits_for(&dag, record, *at);
            let title = record.document.phases.get(*at)?.title.as_str();
            let progress = record.state.phases.get(id)?;
            Some(PhaseView::new(id, title, progress, waits_for))
        });
        Ok(Self {
            id: record.id.clone(),
            project: record.project.clone(),
            path: record.path.clone(),
            status: record.state.status,
            started_at: record.state.started_at,
            completed_at: record.state.completed_at,
            target_branch: record.target.as_ref().map(|target| target.branch.clone()),
            merged_commit: record.merged_commit.clone(),
            pull_request: requests
                .into_iter()
                .next()
                .map(|pr| PlanReviewView::load(store, &pr, configured))
                .transpose()?,
            notices: store
                .plan_notices(&record.id)?
                .into_iter()
                .map(|notice| notice.text)
                .collect(),
            options: record.options.clone(),
            total: counts.total,
            completed: counts.complete,
            failed: counts.failed,
            at_work,
            given_up: record.state.is_abort_requested,
            holds: Vec::new(),
            phases: in_order.collect(),
        })
    }

    /// Adds what is on hold, while there is anything left to start. Phases may name providers of their own: the holds of all
    /// are shown.
    #[must_use]
    pub fn with_holds(mut self, holds: &[Hold]) -> Self {
        let concerns = |hold: &&Hold| match &hold.scope {
            HoldScope::Project(id) => *id == self.project,
            // only the gates of its pull request wait for that
            HoldScope::Gates(id) => *id == self.project && self.status == PlanStatus::Review,
            HoldScope::Provider(_) | HoldScope::Model { .. } | HoldScope::Everything => true,
        };
        if !self.status.is_ended() {
            self.holds = holds.iter().filter(concerns).map(HoldView::from).collect();
        }
        self
    }

    /// Says whether its pull request is to be reviewed, so that it matters whether it can be merged.
    pub fn is_under_review(&self) -> bool {
        self.status == PlanStatus::Review && self.pull_request.is_some()
    }

    /// Adds what keeps its pull request from being merged, as the base shows.
    #[must_use]
    pub fn with_base(mut self, base: &BaseView) -> Self {
        if let Some(review) = &mut self.pull_request {
            review.look_for_obstacle(base);
        }
        self
    }

    /// Says where the plan's work is, or goes.
    fn work(&self) -> Option<(&'static str, String)> {
        let branch = self.target_branch.as_ref()?;
        Some(match (&self.merged_commit, self.status) {
            (Some(commit), _) => ("work is on", format!("{branch} ({commit})")),
            (None, PlanStatus::Completed) => (
                "work is on",
                format!("symphony/plan-{}/base, not on {branch} yet", self.id),
            ),
            (None, _) => ("work goes to", branch.clone()),
        })
    }

    /// Returns the pull request that was not accepted, while a person has to decide how the plan continues.
    fn not_accepted(&self) -> Option<&PlanReviewView> {
        self.pull_request
            .as_ref()
            .filter(|_| self.awaits_a_person())
    }

    /// Says whether every phase is complete, and a person has to decide what happens to the work.
    fn awaits_a_person(&self) -> bool {
        self.status == PlanStatus::AwaitingUserDecision && self.completed == self.total
    }

    /// Says what a person can do while no command or tick carries the plan out.
    pub fn next(&self) -> Option<String> {
        let id = &self.id;
        match self.status {
            _ if self.at_work => None,
            status if self.given_up && !status.is_ended() => {
                Some("Symphony is ending the running phases.".to_owned())
            }
            PlanStatus::AwaitingUserDecision if self.not_accepted().is_some() => None,
            PlanStatus::AwaitingUserDecision if self.awaits_a_person() => Some(format!(
                "The plan is waiting for you: `symphony inbox` shows why, `symphony plan resume --plan {id}` continues it."
            )),
            PlanStatus::Review => self.pull_request.as_ref().map(PlanReviewView::next),
            PlanStatus::Running | PlanStatus::AwaitingUserDecision => Some(format!(
                "No command is running this plan: `symphony plan run --plan {id}` continues it."
            )),
            PlanStatus::Paused => Some(format!(
                "No new phase starts: `symphony plan run --plan {id}` continues the plan."
            )),
            PlanStatus::Completed
                if self.target_branch.is_some() && self.merged_commit.is_none() =>
            {
                Some(format!(
                    "`symphony plan run --plan {id}` brings the work to its target branch."
                ))
            }
            PlanStatus::Completed => None,
            PlanStatus::Failed | PlanStatus::Aborted => Some(format!(
                "`symphony plan run --plan {id} --retry-failed` retries it."
            )),
        }
    }
}

impl View for PlanView {
    fn write(&self, page: &mut Page) {
        page.heading(&format!("Plan {}", self.id));
        page.field("file", &self.path);
        let given_up = self.given_up && !self.status.is_ended();
        let status = self.status.words();
        page.field(
            "status",
            &if given_up {
                format!("{status}, being aborted")
            } else {
                status.to_owned()
            },
        );
        page.field("begun", &page.clock().since(self.started_at));
        page.field("complete", &format!("{} of {}", self.completed, self.total));
        if let Some((name, place)) = self.work() {
            page.field(name, &place);
        }
        if let Some(review) = &self.pull_request {
            page.field("pull request", &format!("{} ({})", review.id, review.state));
        }
        for hold in &self.holds {
            page.hanging(2, &hold.text(page.clock()));
        }
        page.gap();
        let mut table = Table::new(["phase", "status", "attempts", ""]).right(2);
        for phase in &self.phases {
            table.row([
                phase.id.to_string(),
                phase.status.words().to_owned(),
                phase.attempts.to_string(),
                phase.remark(page.now()),
            ]);
        }
        page.table(&table);
        let waiting = self
            .phases
            .iter()
            .filter(|phase| phase.status == PhaseStatus::AwaitingDecision);
        for phase in waiting {
            page.gap();
            let class = phase.error_class.unwrap_or(FailureClass::Unknown);
            page.line(&format!(
                "Phase {} ({}) failed on attempt {}{}:",
                phase.id,
                phase.title,
                phase.attempts,
                class
                    .words()
                    .map_or_else(String::new, |words| format!(", {words}"))
            ));
            page.verbatim(phase.error.as_deref().unwrap_or_default());
            page.line(&format!(
                "`symphony plan decide --plan {} {} retry_once_more|skip_phase|abort_branch|abort_all` decides.",
                self.id, phase.id
            ));
        }
        for notice in &self.notices {
            page.gap();
            page.line(&format!("Please check: {notice}."));
        }
        if let Some(review) = self.not_accepted() {
            page.gap();
            review.write_not_accepted(&self.id, page);
        }
        if let Some(next) = self.next() {
            page.gap();
            page.line(&next);
        }
    }
}

/// A plan in a list.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct PlanListed(pub PlanOverview);

impl Listed for PlanListed {
    fn write_all(items: &[Self], page: &mut Page) {
        if items.is_empty() {
            page.line("No plan has been started here: `symphony plan run FILE` starts one.");
            return;
        }
        let mut table = Table::new(["plan", "status", "complete", "begun", "file"]);
        for PlanListed(plan) in items {
            table.row([
                plan.id.to_string(),
                plan.status.words().to_owned(),
                format!("{}/{}", plan.complete, plan.total),
                ago(plan.started_at, page.now()),
                plan.path.clone(),
            ]);
        }
        page.table(&table);
    }
}

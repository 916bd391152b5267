//! Plans under way, and what they came to.

use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::id::{PlanId, PlanPhaseId, ProjectId, RunId};
use symphony_core::plan::failure::FailureClass;
use symphony_core::plan::state::{PhaseProgress, PhaseState, PhaseStatus, PlanStatus};
use symphony_core::plan::view::PlanSummary;
use symphony_core::plan::{Artifact, Dag, Isolation, PlanOptions};
use symphony_runner::plan::Conclusion;
use symphony_store::{PlanOverview, PlanRecord, StoreError};

use crate::failure::Exit;
use crate::output::{List, Page, Table, View, ago};

/// A plan with its phases in level order.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct PlanView {
    pub(crate) id: PlanId,
    pub(crate) project: ProjectId,
    pub(crate) path: String,
    pub(crate) status: PlanStatus,
    pub(crate) started_at: Timestamp,
    pub(crate) completed_at: Option<Timestamp>,
    /// The user's branch; none without worktrees.
    pub(crate) target_branch: Option<String>,
    /// What it moved to.
    pub(crate) merged_commit: Option<String>,
    pub(crate) options: PlanOptions,
    pub(crate) total: usize,
    pub(crate) completed: usize,
    pub(crate) failed: usize,
    pub(crate) phases: Vec<PhaseView>,
}

/// A phase of a plan.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct PhaseView {
    pub(crate) id: PlanPhaseId,
    pub(crate) status: PhaseStatus,
    pub(crate) skipped: bool,
    pub(crate) attempts: u32,
    pub(crate) retry_count: u32,
    /// The run at work on it.
    pub(crate) run: Option<RunId>,
    pub(crate) started_at: Option<Timestamp>,
    pub(crate) completed_at: Option<Timestamp>,
    pub(crate) next_retry_at: Option<Timestamp>,
    pub(crate) error: Option<String>,
    pub(crate) error_class: Option<FailureClass>,
    pub(crate) artifacts: Vec<Artifact>,
}

impl PhaseView {
    fn new(id: &PlanPhaseId, progress: &PhaseProgress) -> Self {
        let failure = progress.failure.as_ref();
        let (run, next_retry_at) = match &progress.state {
            PhaseState::Running { run, .. } => (run.clone(), None),
            PhaseState::Retrying { due_at } => (None, Some(*due_at)),
            _ => (None, None),
        };
        Self {
            id: id.clone(),
            status: progress.status(),
            skipped: progress.state == PhaseState::Complete { skipped: true },
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

    fn remark(&self) -> String {
        let first = self.error.as_deref().and_then(|error| error.lines().next());
        match (&self.run, first) {
            (Some(run), _) => format!("run {run}"),
            (None, Some(error)) => {
                let class = self.error_class.map_or("", FailureClass::name);
                format!("{class}: {error}")
            }
            (None, None) if self.skipped => "skipped".to_owned(),
            (None, None) => String::new(),
        }
    }
}

impl PlanView {
    /// Makes the view of a plan.
    ///
    /// # Errors
    /// When the recorded plan is none any more.
    pub(crate) fn of(record: &PlanRecord) -> Result<Self, StoreError> {
        let dag = record.dag()?;
        let counts = record.state.counts();
        let in_order = dag.order().iter().filter_map(|at| {
            let id = dag.ids().get(*at)?;
            Some(PhaseView::new(id, record.state.phases.get(id)?))
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
            options: record.options.clone(),
            total: counts.total,
            completed: counts.complete,
            failed: counts.failed,
            phases: in_order.collect(),
        })
    }
}

impl View for PlanView {
    fn write(&self, page: &mut Page) {
        page.heading(&format!("Plan {}", self.id));
        page.field("file", &self.path);
        page.field("status", self.status.name());
        page.field(
            "begun",
            &format!("{} ({})", self.started_at, ago(self.started_at, page.now())),
        );
        page.field("complete", &format!("{} of {}", self.completed, self.total));
        page.field(
            "work goes to",
            self.target_branch.as_deref().unwrap_or_default(),
        );
        page.gap();
        let mut table = Table::new(["phase", "status", "attempts", ""]).right(2);
        for phase in &self.phases {
            table.row([
                phase.id.to_string(),
                phase.status.to_string(),
                phase.attempts.to_string(),
                phase.remark(),
            ]);
        }
        page.table(&table);
        let waiting = self
            .phases
            .iter()
            .filter(|phase| phase.status == PhaseStatus::AwaitingDecision);
        for phase in waiting {
            page.gap();
            page.line(&format!("{} awaits a decision:", phase.id));
            page.verbatim(phase.error.as_deref().unwrap_or_default());
            page.line(&format!(
                "`symphony plan decide --plan {} {} retry_once_more|skip_phase|abort_branch|abort_all` answers.",
                self.id, phase.id
            ));
        }
    }
}

/// A plan in a list.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub(crate) struct PlanListed(pub(crate) PlanOverview);

impl View for List<PlanListed> {
    fn write(&self, page: &mut Page) {
        if self.items.is_empty() {
            page.line("No plan was begun here: `symphony plan run FILE` begins one.");
            return;
        }
        let mut table = Table::new(["plan", "status", "complete", "begun", "file"]);
        for PlanListed(plan) in &self.items {
            table.row([
                plan.id.to_string(),
                plan.status.to_string(),
                format!("{}/{}", plan.complete, plan.total),
                ago(plan.started_at, page.now()),
                plan.path.clone(),
            ]);
        }
        page.table(&table);
    }
}

/// A plan that has not ended, on a line.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct OpenPlanView {
    pub(crate) id: PlanId,
    pub(crate) path: String,
    pub(crate) status: PlanStatus,
    pub(crate) total: usize,
    pub(crate) completed: usize,
    pub(crate) failed: usize,
    /// The phases that agents are at work on.
    pub(crate) running: Vec<PlanPhaseId>,
    /// The phases that wait for a person.
    pub(crate) awaiting_decision: Vec<PlanPhaseId>,
}

impl OpenPlanView {
    pub(crate) fn of(record: &PlanRecord) -> Self {
        let counts = record.state.counts();
        let phases = record.state.phases.iter();
        let at = |status| {
            let there = phases.clone();
            there
                .filter(move |(_, progress)| progress.status() == status)
                .map(|(id, _)| id.clone())
                .collect()
        };
        Self {
            id: record.id.clone(),
            path: record.path.clone(),
            status: record.state.status,
            total: counts.total,
            completed: counts.complete,
            failed: counts.failed,
            running: at(PhaseStatus::Running),
            awaiting_decision: at(PhaseStatus::AwaitingDecision),
        }
    }
}

impl View for List<OpenPlanView> {
    fn write(&self, page: &mut Page) {
        let mut table = Table::new([
            "PLAN",
            "STATUS",
            "COMPLETE",
            "RUNNING",
            "WAITS FOR YOU",
            "FILE",
        ]);
        let names = |phases: &[PlanPhaseId]| {
            let names: Vec<&str> = phases.iter().map(PlanPhaseId::as_str).collect();
            names.join(", ")
        };
        for plan in &self.items {
            table.row([
                plan.id.to_string(),
                plan.status.to_string(),
                format!("{}/{}", plan.completed, plan.total),
                names(&plan.running),
                names(&plan.awaiting_decision),
                plan.path.clone(),
            ]);
        }
        page.table(&table);
    }
}

/// What a plan came to.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct PlanResult {
    pub(crate) id: PlanId,
    pub(crate) path: String,
    #[serde(flatten)]
    summary: PlanSummary,
    /// The user's branch, when it has the work.
    merged_into: Option<String>,
    merged_commit: Option<String>,
    /// Why the user's branch was left alone, and what to type.
    not_merged: Option<String>,
    command: Option<String>,
}

impl PlanResult {
    /// Sums a plan up.
    ///
    /// # Errors
    /// When the recorded plan is none any more.
    pub(crate) fn new(record: &PlanRecord, conclusion: Conclusion) -> Result<Self, StoreError> {
        let (mut merged, mut left) = (None, None);
        match conclusion {
            Conclusion::Nothing => {}
            Conclusion::Merged { branch, commit } => merged = Some((branch, commit)),
            Conclusion::Left {
                branch,
                reason,
                command,
            } => left = Some((format!("{branch} was left alone: {reason}"), command)),
        }
        let (merged_into, merged_commit) = merged.unzip();
        let (not_merged, command) = left.unzip();
        Ok(Self {
            id: record.id.clone(),
            path: record.path.clone(),
            summary: PlanSummary::new(&record.dag()?, &record.state, Timestamp::now()),
            merged_into,
            merged_commit,
            not_merged,
            command,
        })
    }

    /// Says how `plan run` ends.
    pub(crate) fn exit(&self) -> Exit {
        match self.summary.status {
            PlanStatus::Failed | PlanStatus::Aborted => Exit::Failed,
            _ => Exit::Done,
        }
    }
}

impl View for PlanResult {
    fn write(&self, page: &mut Page) {
        for line in self.summary.to_string().lines() {
            page.line(line);
        }
        if let Some(branch) = &self.merged_into {
            page.gap();
            page.line(&format!("The work is on {branch}."));
        }
        if let (Some(reason), Some(command)) = (&self.not_merged, &self.command) {
            page.gap();
            page.line(&format!("{reason}."));
            page.line(&format!("`{command}` takes the work over."));
        }
    }
}

/// What a plan would do.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct PlanPreview {
    phases: usize,
    max_parallel: usize,
    isolation: Isolation,
    /// The ids of phases that can run together, level by level.
    levels: Vec<Vec<PlanPhaseId>>,
}

impl PlanPreview {
    /// Makes the preview of a plan.
    pub(crate) fn new(dag: &Dag, max_parallel: usize, isolation: Isolation) -> Self {
        let levels = dag.levels().into_iter();
        Self {
            phases: dag.len(),
            max_parallel,
            isolation,
            levels: levels
                .map(|level| level.into_iter().cloned().collect())
                .collect(),
        }
    }
}

impl View for PlanPreview {
    fn write(&self, page: &mut Page) {
        page.line(&format!(
            "{} phases, at most {} at once, isolation {}:",
            self.phases, self.max_parallel, self.isolation
        ));
        for (number, level) in (1..).zip(&self.levels) {
            let names: Vec<&str> = level.iter().map(PlanPhaseId::as_str).collect();
            page.line(&format!("  {number}. {}", names.join(", ")));
        }
    }
}

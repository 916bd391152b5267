//! What a plan would do, and how it ended.

use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::gates::ConfiguredGate;
use symphony_core::id::{PlanId, PlanPhaseId, PrId};
use symphony_core::plan::state::PlanStatus;
use symphony_core::plan::view::PlanSummary;
use symphony_core::plan::{Dag, Isolation};
use symphony_runner::plan::Conclusion;
use symphony_store::{PlanRecord, Store, StoreError};

use super::plan_review::PlanReviewView;
use crate::text::{Page, View, plural};

/// How a plan ended.
#[derive(Debug, Clone, Serialize)]
pub struct PlanResult {
    /// Its id.
    pub id: PlanId,
    /// The plan file, relative to the root of the repository.
    pub path: String,
    #[serde(flatten)]
    summary: PlanSummary,
    /// The user's branch, when it has the work.
    merged_into: Option<String>,
    merged_commit: Option<String>,
    /// The pull request that is open, and the branch that it goes into.
    pull_request: Option<PrId>,
    pull_request_into: Option<String>,
    /// The state of that pull request; `pr show` shows all of it.
    #[serde(skip)]
    review: Option<PlanReviewView>,
    /// The user's branch, when it had everything already.
    unchanged: Option<String>,
    isolation: Isolation,
    /// What a person has to decide, because work is lost.
    asked: Option<String>,
    /// Why the user's branch was left alone, and what to type.
    not_merged: Option<String>,
    command: Option<String>,
}

impl PlanResult {
    /// Sums a plan up, of a project that has these gates now.
    ///
    /// # Errors
    /// When the recorded plan is no longer valid.
    pub fn new(
        store: &Store,
        record: &PlanRecord,
        conclusion: Conclusion,
        configured: &[ConfiguredGate],
    ) -> Result<Self, StoreError> {
        let (mut merged, mut left, mut asked) = (None, None, None);
        let (mut review, mut unchanged) = (None, None);
        match conclusion {
            Conclusion::Nothing => {}
            Conclusion::InReview { pr, branch, .. } => review = Some((pr, branch)),
            Conclusion::Unchanged { branch } => unchanged = Some(branch),
            Conclusion::Merged { branch, commit } => merged = Some((branch, commit)),
            Conclusion::Asked { reason } => asked = Some(reason),
            Conclusion::Left {
                branch,
                reason,
                command,
            } => left = Some((format!("{branch} was not changed: {reason}"), command)),
        }
        let (merged_into, merged_commit) = merged.unzip();
        let (not_merged, command) = left.unzip();
        let (pull_request, pull_request_into) = review.unzip();
        let review = pull_request.map(|pr| PlanReviewView::load(store, &store.pr(pr)?, configured));
        Ok(Self {
            id: record.id.clone(),
            path: record.path.clone(),
            summary: PlanSummary::new(&record.dag()?, &record.state, Timestamp::now()),
            merged_into,
            merged_commit,
            pull_request,
            pull_request_into,
            review: review.transpose()?,
            unchanged,
            isolation: record.options.isolation,
            asked,
            not_merged,
            command,
        })
    }

    /// Says whether the plan stopped before its end.
    pub const fn is_stopped(&self) -> bool {
        matches!(
            self.summary.status,
            PlanStatus::Failed | PlanStatus::Aborted | PlanStatus::AwaitingUserDecision
        )
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
        if let (Some(pr), Some(branch)) = (self.pull_request, &self.pull_request_into) {
            page.gap();
            page.line(&format!(
                "Pull request {pr} is open and brings the work to {branch}."
            ));
            if let Some(review) = &self.review {
                page.line(&review.next());
            }
        }
        if let Some(branch) = &self.unchanged {
            page.gap();
            page.line(&format!(
                "{branch} already has everything, so there is no pull request."
            ));
        }
        if self.isolation == Isolation::None && self.summary.status == PlanStatus::Completed {
            page.gap();
            page.line("With isolation `none` the phases worked in your folder, so there is no pull request and no \
                       gates ran.");
        }
        if let Some(reason) = &self.asked {
            page.gap();
            page.line(&format!("There is no pull request: {reason}."));
            page.line(&format!(
                "Then run `symphony plan resume --plan {}` to continue.",
                self.id
            ));
        } else if self.summary.status == PlanStatus::AwaitingUserDecision {
            page.gap();
            page.line(&format!(
                "The plan is waiting for you: `symphony plan status --plan {}` shows why, and what you can do.",
                self.id
            ));
        }
        if let (Some(reason), Some(command)) = (&self.not_merged, &self.command) {
            page.gap();
            page.line(&format!("{reason}."));
            page.line(&format!(
                "`{command}` brings the work to its target branch."
            ));
        }
    }
}

/// What a plan would do.
#[derive(Debug, Clone, Serialize)]
pub struct PlanPreview {
    phases: usize,
    max_parallel: usize,
    isolation: Isolation,
    /// The ids of phases that can run together, level by level.
    levels: Vec<Vec<PlanPhaseId>>,
}

impl PlanPreview {
    /// Makes the preview of a plan.
    pub fn new(dag: &Dag, max_parallel: usize, isolation: Isolation) -> Self {
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
            "{}, at most {} at once, isolation {}:",
            plural(self.phases, "phase"),
            self.max_parallel,
            self.isolation
        ));
        for (number, level) in (1..).zip(&self.levels) {
            let names: Vec<&str> = level.iter().map(PlanPhaseId::as_str).collect();
            page.line(&format!("  {number}. {}", names.join(", ")));
        }
    }
}

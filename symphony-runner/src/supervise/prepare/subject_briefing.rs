//! Which briefing a subject gets.

use super::briefing::{Briefing, BriefingSources};
use super::issue_briefing::issue_briefing;
use super::phase_briefing::{delivery_briefing, phase_briefing};
use super::plan_briefing::plan_briefing;
use super::plan_review_briefing::plan_review_briefing;
use super::project_briefing::project_briefing;
use super::subject::Subject;
use crate::error::RunnerError;

impl Briefing {
    /// Assembles the prompts for a subject.
    ///
    /// # Errors
    /// When something that belongs in them cannot be read.
    pub(crate) async fn write(
        sources: BriefingSources<'_>,
        subject: Subject,
    ) -> Result<Self, RunnerError> {
        match subject {
            Subject::Issue { issue, .. } | Subject::Triage(issue) => {
                issue_briefing(sources, issue, None).await
            }
            Subject::Phase { issue, phase, .. } => phase_briefing(sources, issue, phase).await,
            Subject::Delivery { issue, delivery } => {
                delivery_briefing(sources, issue, *delivery).await
            }
            Subject::PullRequest { issue, pr } => issue_briefing(sources, issue, Some(*pr)).await,
            Subject::PlanReview { plan, pr } => plan_review_briefing(sources, *plan, *pr).await,
            Subject::PlanPhase(subject) => plan_briefing(sources, *subject).await,
            Subject::Project => project_briefing(sources).await,
        }
    }
}

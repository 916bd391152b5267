//! Which briefing a subject gets.

use symphony_core::config::ProviderName;
use symphony_mcp::StoreThread;

use super::briefing::Briefing;
use super::issue_briefing::issue_briefing;
use super::phase_briefing::{delivery_briefing, phase_briefing};
use super::plan_briefing::plan_briefing;
use super::plan_review_briefing::plan_review_briefing;
use super::project_briefing::project_briefing;
use super::site::Site;
use super::subject::Subject;
use crate::error::RunnerError;
use crate::prompts::library::PromptLibrary;
use crate::supervise::Job;

impl Briefing {
    /// Assembles the prompts for a subject at its site.
    ///
    /// # Errors
    /// When something that belongs into them cannot be read.
    pub(crate) async fn write(
        job: &Job<'_>,
        store: &StoreThread,
        (library, provider): (&PromptLibrary, ProviderName),
        subject: Subject,
        site: &Site,
    ) -> Result<Self, RunnerError> {
        match subject {
            Subject::Issue { issue, .. } | Subject::Triage(issue) => {
                issue_briefing(job, store, (library, provider), (issue, None), site).await
            }
            Subject::Phase { issue, phase, .. } => {
                phase_briefing(job, store, (library, provider), (issue, phase), site).await
            }
            Subject::Delivery { issue, claim } => {
                delivery_briefing(job, store, (library, provider), (issue, *claim), site).await
            }
            Subject::PullRequest { issue, pr } => {
                issue_briefing(job, store, (library, provider), (issue, Some(*pr)), site).await
            }
            Subject::PlanReview { plan, pr } => {
                let about = (*plan, *pr);
                plan_review_briefing(job, store, (library, provider), about, site).await
            }
            Subject::PlanPhase(subject) => plan_briefing(job, *subject, site).await,
            Subject::Project => project_briefing(job, store, (library, provider), site).await,
        }
    }
}

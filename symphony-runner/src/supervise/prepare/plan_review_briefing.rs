//! The briefing of the judge of a plan's pull request.

use symphony_core::config::ProviderName;
use symphony_core::pull_request::PullRequest;
use symphony_mcp::{ReviewTarget, StoreThread};
use symphony_prompt::Workspace;
use symphony_store::PlanRecord;

use super::briefing::Briefing;
use super::issue_briefing::{claude_md, show_review};
use super::site::Site;
use crate::error::RunnerError;
use crate::prompts::library::PromptLibrary;
use crate::supervise::Job;
use crate::supervise::prompts::{PlanReviewPrompt, build_plan_review};

/// Assembles the prompts of the judge of a plan's pull request.
pub(super) async fn plan_review_briefing(
    job: &Job<'_>,
    store: &StoreThread,
    (library, provider): (&PromptLibrary, ProviderName),
    (plan, pr): (PlanRecord, PullRequest),
    site: &Site,
) -> Result<Briefing, RunnerError> {
    let request = PlanReviewPrompt {
        plan,
        review: show_review(job, store, site, &pr).await?,
        workspace: Workspace {
            identifier: pr.of.to_string(),
            path: site.path().display().to_string(),
            branch: Some(pr.branch.clone()),
            base: Some(pr.base.clone()),
        },
        library: library.clone(),
        config: job.config.clone(),
        claude_md: claude_md(site, Some(&pr))?,
        custom_instructions: job.overrides.custom_instructions.clone(),
        provider,
    };
    let prompts = store
        .call(move |store| build_plan_review(request, store))
        .await??;
    Ok(Briefing {
        prompts,
        review: Some(ReviewTarget::PullRequest {
            subject: symphony_mcp::Reviewed::Change,
            pr: pr.id,
            commit: pr.head_commit,
        }),
        criteria: None,
    })
}

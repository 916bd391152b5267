//! The briefing of the judge of a plan's pull request.

use symphony_core::pull_request::PullRequest;
use symphony_mcp::ReviewTarget;
use symphony_prompt::Workspace;
use symphony_store::PlanRecord;

use super::briefing::{Briefing, BriefingSources};
use super::issue_briefing::{claude_md, show_review};
use crate::error::RunnerError;
use crate::supervise::prompts::{PlanReviewPrompt, build_plan_review};

/// Assembles the prompts of the judge of a plan's pull request.
pub(super) async fn plan_review_briefing(
    sources: BriefingSources<'_>,
    plan: PlanRecord,
    pr: PullRequest,
) -> Result<Briefing, RunnerError> {
    let BriefingSources {
        job, store, site, ..
    } = sources;
    let request = PlanReviewPrompt {
        plan,
        review: show_review(job, store, site, &pr).await?,
        workspace: Workspace {
            identifier: pr.of.to_string(),
            path: site.path().display().to_string(),
            branch: Some(pr.branch.clone()),
            base: Some(pr.base.clone()),
        },
        library: sources.library.clone(),
        config: job.config.clone(),
        claude_md: claude_md(site, Some(&pr))?,
        custom_instructions: job.overrides.custom_instructions.clone(),
        provider: sources.provider,
        news: sources.news.cloned(),
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

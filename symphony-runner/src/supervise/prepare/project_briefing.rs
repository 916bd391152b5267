//! The briefing of the agents that work on a project itself.

use symphony_core::agent::AgentType;

use super::briefing::{Briefing, BriefingSources};
use crate::error::RunnerError;
use crate::supervise::project_file::read_own;
use crate::supervise::prompts::{ProjectRequest, build_background, build_wizard};

/// Assembles the prompts of a project's own agent.
pub(super) async fn project_briefing(
    sources: BriefingSources<'_>,
) -> Result<Briefing, RunnerError> {
    let BriefingSources {
        job, store, site, ..
    } = sources;
    let request = ProjectRequest {
        agent: job.run.agent.clone(),
        project: job.project.clone(),
        identifier: site.worktree.key().as_str().to_owned(),
        path: site.path().to_owned(),
        read_from: site.path().to_owned(),
        claude_md: read_own(&site.path().join("CLAUDE.md"))?,
        workflow_md: read_own(&job.project.root.join("WORKFLOW.md"))?,
        custom_instructions: job.overrides.custom_instructions.clone(),
        provider: sources.provider,
        library: sources.library.clone(),
        config: job.config.clone(),
    };
    let prompts = if job.run.agent == AgentType::Wizard {
        build_wizard(request)?
    } else {
        store
            .call(move |store| build_background(&request, store))
            .await??
    };
    Ok(Briefing {
        prompts,
        review: None,
        criteria: None,
    })
}

//! The prompts of the judge of a plan's pull request: those for an issue's, with the plan instead of the issue.

use std::fmt::Write as _;

use symphony_core::agent::AgentType;
use symphony_core::config::{ProjectConfig, ProviderName};
use symphony_core::plan::Phase;
use symphony_prompt::{IssueInput, ProfileDispatch, Review, Workspace};
use symphony_store::{PlanRecord, Store};

use super::dispatch::Prompts;
use super::knowledge::{budgets, fence_marker, gate_commands};
use super::omissions::log_omissions;
use super::points::review_points;
use super::vault::load_vault;
use crate::error::RunnerError;
use crate::prompts::library::PromptLibrary;
use crate::provider::reads_claude_md;
use crate::resume::News;

/// What the prompts of a plan's review need.
#[derive(Debug)]
pub(crate) struct PlanReviewPrompt {
    /// The plan.
    pub(crate) plan: PlanRecord,
    /// What is reviewed.
    pub(crate) review: Review,
    /// Where the judge works.
    pub(crate) workspace: Workspace,
    /// Profiles and contracts.
    pub(crate) library: PromptLibrary,
    /// The project's configuration.
    pub(crate) config: ProjectConfig,
    /// CLAUDE.md of the base commit.
    pub(crate) claude_md: Option<String>,
    /// The instructions of the judge's override.
    pub(crate) custom_instructions: Option<String>,
    /// Whose CLI it is.
    pub(crate) provider: ProviderName,
    /// What is new for the session that the judge resumes.
    pub(crate) news: Option<News>,
}

/// Assembles the prompts of the judge of a plan's pull request.
pub(crate) fn build_plan_review(
    request: PlanReviewPrompt,
    store: &Store,
) -> Result<Prompts, RunnerError> {
    let plan = &request.plan;
    let subject = IssueInput::new(
        plan.id.clone(),
        format!("the plan {}", plan.path),
        description(&plan.document.phases),
    );
    let mut dispatch =
        ProfileDispatch::new(AgentType::Judge, request.workspace, subject, fence_marker());
    let profile = request.library.profile(&AgentType::Judge);
    dispatch.profile = profile
        .map(|profile| profile.body.clone())
        .unwrap_or_default();
    dispatch.provider_reads_claude_md = reads_claude_md(request.provider);
    dispatch.claude_md = request.claude_md;
    dispatch.gates = gate_commands(&request.config.gates);
    dispatch.budgets = budgets(&request.config)?;
    dispatch.custom_instructions = request.custom_instructions;
    dispatch.review_points = review_points(&plan.id.clone().into(), store)?;
    dispatch.review = Some(request.review);
    let (notes, unread) = load_vault(&request.config);
    dispatch.vault = notes;
    let mut built = dispatch.build()?;
    built.report.warnings.extend(unread);
    log_omissions(&built);
    let resumed = request
        .news
        .map(|news| dispatch.build_resumed(&news.input))
        .transpose()?;
    Ok(Prompts {
        built,
        resumed,
        learnings: Vec::new(),
        messages: Vec::new(),
    })
}

/// Returns what the plan was to achieve: objective and criteria of each phase.
fn description(phases: &[Phase]) -> String {
    let mut text = "This pull request contains the work of all phases of a plan. Each phase has to meet its own criteria:\n".to_owned();
    for phase in phases {
        let (title, objective) = (phase.title.trim(), phase.objective.trim());
        let criteria = phase.success_criteria.trim();
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\n- {} ({title}): {objective}\n  Success criteria: {criteria}\n",
            phase.id
        );
    }
    text
}

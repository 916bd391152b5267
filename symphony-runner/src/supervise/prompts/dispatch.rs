//! The prompts of a profile dispatch (path A): a run on an issue, the review of its pull request.

use symphony_core::agent::AgentType;
use symphony_core::config::{ProjectConfig, ProviderName};
use symphony_core::criteria::missed_criteria;
use symphony_core::id::{CommentId, LearningId, PhaseName, RunId};
use symphony_core::issue::Issue;
use symphony_core::message::Addressee;
use symphony_prompt::{BuiltPrompt, CriteriaInput, ProfileDispatch, Review, Workspace};
use symphony_store::Store;

use super::done_review::children;
use super::knowledge::{
    attempts, budgets, dependencies, fence_marker, findings, gate_commands, issue_input, learnings,
    not_read, standing, texts,
};
use super::omissions::log_omissions;
use super::points::review_points;
use super::said::Said;
use super::vault::load_vault;
use crate::error::RunnerError;
use crate::prompts::library::PromptLibrary;
use crate::provider::reads_claude_md;
use crate::resume::News;
use crate::supervise::Documents;

/// What the prompts of a dispatch need besides the store.
#[derive(Debug)]
pub(crate) struct PromptRequest {
    /// The agent that will read them.
    pub(crate) agent: AgentType,
    /// The run that they are for.
    pub(crate) run: RunId,
    /// The issue.
    pub(crate) issue: Issue,
    /// Profiles and contracts.
    pub(crate) library: PromptLibrary,
    /// The project's configuration.
    pub(crate) config: ProjectConfig,
    /// The agent's working directory.
    pub(crate) path: String,
    /// The branch that is checked out there, if there is one.
    pub(crate) branch: Option<String>,
    /// The branch that the work starts from.
    pub(crate) base: Option<String>,
    /// CLAUDE.md, as the agent gets it.
    pub(crate) claude_md: Option<String>,
    /// WORKFLOW.md of the project's root.
    pub(crate) workflow_md: Option<String>,
    /// Notes of the preparation.
    pub(crate) notes: Vec<String>,
    /// The instructions of the agent's override.
    pub(crate) custom_instructions: Option<String>,
    /// Documents of the issue's phases, and of its parent's.
    pub(crate) documents: Documents,
    /// The acceptance criteria, for a worker and the judge of a pull request.
    pub(crate) criteria: Option<CriteriaInput>,
    /// What a judge reviews.
    pub(crate) review: Option<Review>,
    /// Whose CLI it is.
    pub(crate) provider: ProviderName,
    /// What is new for the session that the agent resumes; `None` for a new one.
    pub(crate) news: Option<News>,
}

/// Both prompts of a run.
#[derive(Debug)]
pub(crate) struct Prompts {
    /// The prompts, with the report.
    pub(crate) built: BuiltPrompt,
    /// Those for the session that the agent resumes; `None` for a new one.
    pub(crate) resumed: Option<BuiltPrompt>,
    /// The learnings in them.
    pub(crate) learnings: Vec<LearningId>,
    /// The messages in them.
    pub(crate) messages: Vec<CommentId>,
}

/// Assembles both prompts of a run on an issue.
pub(crate) fn build(request: PromptRequest, store: &mut Store) -> Result<Prompts, RunnerError> {
    let (agent, issue, library) = (&request.agent, &request.issue, &request.library);
    let workspace = Workspace {
        identifier: issue.id.to_string(),
        path: request.path.clone(),
        branch: request.branch.clone(),
        base: request.base.clone(),
    };
    let mut dispatch =
        ProfileDispatch::new(agent.clone(), workspace, issue_input(issue), fence_marker());
    dispatch.profile = library
        .profile(agent)
        .map(|profile| profile.body.clone())
        .unwrap_or_default();
    if *agent == AgentType::Worker {
        dispatch.contract = library
            .pipeline
            .get(&ready())
            .map(|contract| contract.body.clone());
    }
    // Given to every profile; the report shows for which ones it counts.
    dispatch.workflow_md.clone_from(&request.workflow_md);
    let best = learnings(issue, store)?;
    dispatch.convention_learnings = texts(&best.conventions);
    dispatch.learnings = texts(&best.tactical);
    dispatch.provider_reads_claude_md = reads_claude_md(request.provider);
    dispatch.claude_md.clone_from(&request.claude_md);
    dispatch.dependencies = dependencies(issue, store)?;
    dispatch.children = children(issue, store)?;
    dispatch.attempts = attempts(&request.run, issue, store, None)?;
    dispatch.review_points = review_points(&issue.id.clone().into(), store)?;
    dispatch.findings = findings(issue, store, None)?;
    let said = Said::load(issue, Addressee::of_agent(agent), store)?;
    dispatch.messages = said.messages();
    dispatch.comments = said.comments();
    dispatch.gates = gate_commands(&request.config.gates);
    dispatch.budgets = budgets(&request.config)?;
    dispatch.custom_instructions = request.custom_instructions;
    dispatch.notes = request.notes;
    let missed = match &request.criteria {
        Some(_) => missed(issue, &request.documents),
        None => Vec::new(),
    };
    dispatch.notes.extend(request.documents.lost);
    dispatch.review = request.review;
    dispatch.documents = request.documents.list;
    dispatch.criteria = request.criteria;
    let (notes, unread) = load_vault(&request.config);
    dispatch.vault = notes;
    let mut built = dispatch.build()?;
    built.report.warnings.extend(unread);
    built
        .report
        .warnings
        .extend(not_read(request.documents.problems));
    built.report.warnings.extend(not_read(missed));
    log_omissions(&built);
    let learnings = standing(&best, &built.report);
    let resumed = match &request.news {
        None => None,
        Some(news) => {
            dispatch.attempts = attempts(&request.run, issue, store, Some(news))?;
            dispatch.findings = findings(issue, store, Some(news))?;
            dispatch.comments = said.new_comments(news);
            Some(dispatch.build_resumed(&news.input)?)
        }
    };
    Ok(Prompts {
        built,
        resumed,
        learnings,
        messages: said.ids(),
    })
}

/// Returns lines of the issue's text and its own documents that may be meant as acceptance criteria, and are not read
/// as such.
fn missed(issue: &Issue, documents: &Documents) -> Vec<String> {
    let own = documents.list.iter().filter(|found| found.parent.is_none());
    let texts = std::iter::once((issue.id.as_str(), issue.description.as_str()))
        .chain(own.map(|found| (found.path.as_str(), found.text.as_str())));
    let named = |(place, text)| {
        let missed = missed_criteria(text).into_iter();
        missed.map(move |missed| format!("{place}: {missed}; no criteria are read from there"))
    };
    texts.flat_map(named).collect()
}

fn ready() -> PhaseName {
    PhaseName::parse(PhaseName::READY).expect("`ready` is kebab-case")
}

//! The prompts of a dispatch: what the store, the project and the library hold becomes plain data for `symphony-prompt`.

use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::config::{Budget, ProjectConfig, ProviderName, Shares as ConfigShares};
use symphony_core::id::{LearningId, PhaseName, RunId};
use symphony_core::issue::Issue;
use symphony_core::run::Run;
use symphony_learning::{Options, Subject};
use symphony_prompt::{
    ATTEMPTS_MAX, AttemptInput, Budgets, BuiltPrompt, CommentInput, DependencyInput, FINDINGS_MAX,
    FindingInput, GateCommand, IssueInput, Outcome, PartReport, ProfileDispatch, PromptError,
    Report, Review, Shares, SharesRow, Workspace,
};
use symphony_store::{BestLearnings, RankedLearning, RunFilter, Store};

use crate::error::RunnerError;
use crate::library::PromptLibrary;

/// Comments read for a prompt: more than its budget ever holds.
const COMMENTS_READ_MAX: u32 = 50;

/// What the prompts of a dispatch need besides the store.
#[derive(Debug)]
pub(crate) struct PromptRequest {
    /// Who will read them.
    pub(crate) agent: AgentType,
    /// The run they are for.
    pub(crate) run: RunId,
    /// The issue.
    pub(crate) issue: Issue,
    /// Profiles and contracts.
    pub(crate) library: PromptLibrary,
    /// What holds for the project.
    pub(crate) config: ProjectConfig,
    /// The agent's working directory.
    pub(crate) path: String,
    /// The branch checked out there.
    pub(crate) branch: String,
    /// CLAUDE.md, as the agent is to be given it.
    pub(crate) claude_md: Option<String>,
    /// WORKFLOW.md of the project's root.
    pub(crate) workflow_md: Option<String>,
    /// Remarks of the dispatcher.
    pub(crate) notes: Vec<String>,
    /// What a judge reviews.
    pub(crate) review: Option<Review>,
    /// Whose CLI it is.
    pub(crate) provider: ProviderName,
}

/// Both prompts of a run.
#[derive(Debug)]
pub(crate) struct Prompts {
    /// The prompts, with the report.
    pub(crate) built: BuiltPrompt,
    /// The learnings that stand in them.
    pub(crate) learnings: Vec<LearningId>,
}

/// Assembles both prompts of a run on an issue.
pub(crate) fn build(request: PromptRequest, store: &mut Store) -> Result<Prompts, RunnerError> {
    let (agent, issue, library) = (&request.agent, &request.issue, &request.library);
    let workspace = Workspace {
        identifier: issue.id.to_string(),
        path: request.path.clone(),
        branch: Some(request.branch.clone()),
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
    // given to every profile: the report says for whom it counts
    dispatch.workflow_md.clone_from(&request.workflow_md);
    let best = learnings(issue, store)?;
    dispatch.convention_learnings = texts(&best.conventions);
    dispatch.learnings = texts(&best.tactical);
    dispatch.provider_reads_claude_md = request.provider == ProviderName::ClaudeCli;
    dispatch.claude_md.clone_from(&request.claude_md);
    dispatch.dependencies = dependencies(issue, store)?;
    dispatch.attempts = attempts(&request.run, issue, store)?;
    dispatch.findings = findings(issue, store)?;
    dispatch.comments = comments(issue, store)?;
    dispatch.gates = gates(&request.config);
    dispatch.budgets = budgets(&request.config.budget)?;
    dispatch.notes = request.notes;
    dispatch.review = request.review;
    let built = dispatch.build()?;
    let learnings = standing(&best, &built.report);
    Ok(Prompts { built, learnings })
}

/// Returns the learnings that stand in the prompts: of each list the best, as many as profile and budget left.
fn standing(best: &BestLearnings, report: &Report) -> Vec<LearningId> {
    let conventions = kept(&report.system, "convention_learnings");
    let tactical = kept(&report.user, "related_learnings");
    let conventions = best.conventions.iter().take(conventions);
    conventions
        .chain(best.tactical.iter().take(tactical))
        .map(|ranked| ranked.record.learning.id.clone())
        .collect()
}

/// Returns how many items of a part stand in the prompt, at most.
fn kept(parts: &[PartReport], name: &str) -> usize {
    let part = parts.iter().find(|part| part.part == name);
    match part.map(|part| (&part.outcome, part.items)) {
        Some((Outcome::Included | Outcome::Truncated { .. }, items)) => {
            items.map_or(usize::MAX, |items| items.kept)
        }
        _ => 0,
    }
}

fn ready() -> PhaseName {
    PhaseName::parse("ready").expect("`ready` is kebab-case")
}

/// A marker that no text of the prompt can know before: random, made anew for each prompt.
fn fence_marker() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

fn issue_input(issue: &Issue) -> IssueInput {
    let mut input = IssueInput::new(
        issue.id.clone(),
        issue.title.clone(),
        issue.description.clone(),
    );
    input.priority = issue.priority;
    input.size = issue.size;
    input.labels.clone_from(&issue.labels);
    input
}

fn dependencies(issue: &Issue, store: &Store) -> Result<Vec<DependencyInput>, RunnerError> {
    let mut inputs = Vec::new();
    for id in &issue.depends_on {
        let dependency = store.issue(id)?;
        inputs.push(DependencyInput {
            identifier: dependency.id,
            title: dependency.title,
            status: dependency.state.status(),
        });
    }
    Ok(inputs)
}

fn attempts(own: &RunId, issue: &Issue, store: &Store) -> Result<Vec<AttemptInput>, RunnerError> {
    let limit = u32::try_from(ATTEMPTS_MAX).unwrap_or(u32::MAX);
    // one more: this run is among them
    let filter = RunFilter {
        issue: Some(issue.id.clone()),
        limit: Some(limit.saturating_add(1)),
        ..RunFilter::default()
    };
    let mut runs = store.runs(&filter)?;
    runs.retain(|run| run.id != *own);
    runs.truncate(ATTEMPTS_MAX);
    runs.reverse();
    Ok(runs.iter().map(attempt_input).collect())
}

fn attempt_input(run: &Run) -> AttemptInput {
    AttemptInput {
        attempt: run.attempt,
        status: run.status,
        agent: Some(run.agent.clone()),
        duration_ms: run.ended_at.map(|ended| {
            u64::try_from(ended.as_millisecond() - run.started_at.as_millisecond()).unwrap_or(0)
        }),
        error: run
            .error
            .as_ref()
            .map(|error| format!("{}: {}", error.class, error.message)),
        output_tail: run.output_tail.clone(),
    }
}

fn findings(issue: &Issue, store: &Store) -> Result<Vec<FindingInput>, RunnerError> {
    let limit = u32::try_from(FINDINGS_MAX).unwrap_or(u32::MAX);
    Ok(store
        .findings(&issue.id, limit)?
        .into_iter()
        .map(|finding| FindingInput {
            kind: finding.kind,
            author: finding.author,
            text: finding.text,
            files: finding.files,
        })
        .collect())
}

fn comments(issue: &Issue, store: &Store) -> Result<Vec<CommentInput>, RunnerError> {
    Ok(store
        .comments(&issue.id, COMMENTS_READ_MAX)?
        .into_iter()
        .map(|comment| CommentInput {
            author: comment.author,
            content: comment.content,
            created_at: Some(comment.created_at),
        })
        .collect())
}

/// What sibling issues taught, best first.
fn learnings(issue: &Issue, store: &mut Store) -> Result<BestLearnings, RunnerError> {
    let subject = Subject::issue(&issue.title, &issue.description, &issue.labels);
    let options = Options::default();
    Ok(store.best_learnings(
        &issue.project,
        Some(&issue.id),
        &subject,
        Timestamp::now(),
        options,
    )?)
}

fn texts(learnings: &[RankedLearning]) -> Vec<String> {
    learnings
        .iter()
        .map(|ranked| ranked.shown().to_owned())
        .collect()
}

fn gates(config: &ProjectConfig) -> Vec<GateCommand> {
    config
        .gates
        .iter()
        .map(|gate| GateCommand {
            name: gate.name.clone(),
            command: gate.command.to_string(),
            required: gate.required,
        })
        .collect()
}

fn budgets(budget: &Budget) -> Result<Budgets, PromptError> {
    Ok(Budgets {
        user_tokens: budget.user_tokens,
        system_tokens: budget.system_tokens,
        artifact_tokens: budget.artifact_tokens,
        vault_tokens: None,
        shares: shares(budget.shares)?,
        shares_with_diff: shares(budget.judge_shares)?,
    })
}

fn shares(shares: ConfigShares) -> Result<Shares, PromptError> {
    Shares::new(SharesRow {
        description: shares.description,
        diff: shares.diff,
        findings: shares.findings,
        learnings: shares.learnings,
        comments: shares.comments,
        previous_output: shares.previous_output,
    })
}

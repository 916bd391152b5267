//! What the store and the configuration contribute to a prompt, as the input types of `symphony-prompt`.

use symphony_core::Timestamp;
use symphony_core::config::{Budget, Gate, ProjectConfig, Shares as ConfigShares};
use symphony_core::gates::fixes_gate;
use symphony_core::id::{LearningId, ProjectId, RunId};
use symphony_core::issue::{CommentAuthor, Finding, FindingKind, Issue};
use symphony_core::learning::LearningSource;
use symphony_core::run::Run;
use symphony_core::tick::HoldScope;
use symphony_learning::{Options, Subject};
use symphony_prompt::{
    AttemptInput, Budgets, DependencyInput, FindingInput, GateCommand, IssueInput, Outcome,
    PartReport, PromptError, Report, Shares, SharesRow, Warning,
};
use symphony_store::{BestLearnings, RankedLearning, RunFilter, Store};

use crate::error::RunnerError;
use crate::resume::News;

/// How many attempts, findings and comments are read for a prompt: more than it ever shows, so that its report has the
/// total.
pub(super) const READ_MAX: u32 = 50;

/// Returns the learnings in the prompts, without those that profile and budget left out.
pub(super) fn standing(best: &BestLearnings, report: &Report) -> Vec<LearningId> {
    let mut standing = standing_conventions(best, report);
    standing.extend(held(&best.tactical, &report.user, "related_learnings"));
    standing
}

/// Returns the convention learnings in the system prompt.
pub(super) fn standing_conventions(best: &BestLearnings, report: &Report) -> Vec<LearningId> {
    held(&best.conventions, &report.system, "convention_learnings").collect()
}

/// Returns the learnings of a list that are in its part of a prompt.
fn held<'a>(
    given: &'a [RankedLearning],
    parts: &'a [PartReport],
    name: &str,
) -> impl Iterator<Item = LearningId> + 'a {
    let part = parts.iter().find(|part| {
        let present = matches!(part.outcome, Outcome::Included | Outcome::Truncated { .. });
        part.part == name && present
    });
    let holds = move |index: usize| {
        let all = |part: &PartReport| part.items.as_ref().is_none_or(|items| items.holds(index));
        part.is_some_and(all)
    };
    let given = given.iter().enumerate();
    given
        .filter(move |(index, _)| holds(*index))
        .map(|(_, ranked)| ranked.record.learning.id.clone())
}

/// Returns warnings for the report about inputs that could not be read.
pub(super) fn not_read(problems: Vec<String>) -> impl Iterator<Item = Warning> {
    problems
        .into_iter()
        .map(|problem| Warning::NotRead { problem })
}

/// Returns a marker that no text of the prompt can know before: random, and new for each prompt.
pub(crate) fn fence_marker() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

pub(super) fn issue_input(issue: &Issue) -> IssueInput {
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

pub(super) fn dependencies(
    issue: &Issue,
    store: &Store,
) -> Result<Vec<DependencyInput>, RunnerError> {
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

/// Returns the runs before this one; with `news`, those that the session does not know the end of. What a run in the
/// session wrote, the session has.
pub(super) fn attempts(
    own: &RunId,
    issue: &Issue,
    store: &Store,
    news: Option<&News>,
) -> Result<Vec<AttemptInput>, RunnerError> {
    let filter = RunFilter {
        issue: Some(issue.id.clone()),
        agents_only: true,
        limit: Some(READ_MAX),
        ..RunFilter::default()
    };
    let mut runs = store.runs(&filter)?;
    runs.retain(|run| run.id != *own && news.is_none_or(|news| run.started_at >= news.since));
    runs.reverse();
    for run in &mut runs {
        if news.is_some_and(|news| news.runs.contains(&run.id)) {
            run.output_tail.clear();
        }
    }
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

/// Returns the findings about an issue; with `news`, those that the session does not know.
pub(super) fn findings(
    issue: &Issue,
    store: &Store,
    news: Option<&News>,
) -> Result<Vec<FindingInput>, RunnerError> {
    let mut found = store.findings(&issue.id, READ_MAX)?;
    if let Some(news) = news {
        let is_own = |run: &Option<RunId>| run.as_ref().is_some_and(|run| news.runs.contains(run));
        found.retain(|finding| finding.created_at >= news.since && !is_own(&finding.run));
    }
    let mut findings = as_input(found);
    findings.extend(red_on_base(issue, store)?);
    Ok(findings)
}

/// Returns the findings about a project as a whole.
pub(super) fn project_findings(
    project: &ProjectId,
    store: &Store,
) -> Result<Vec<FindingInput>, RunnerError> {
    Ok(as_input(store.project_findings(project, READ_MAX)?))
}

fn as_input(findings: Vec<Finding>) -> Vec<FindingInput> {
    findings
        .into_iter()
        .map(|finding| FindingInput {
            kind: finding.kind,
            author: finding.author,
            text: finding.text,
            files: finding.files,
        })
        .collect()
}

/// Returns what is red on the base, for the issue that repairs it: the newest finding, since the project is on hold for
/// it.
fn red_on_base(issue: &Issue, store: &Store) -> Result<Option<FindingInput>, RunnerError> {
    if !fixes_gate(&issue.labels) {
        return Ok(None);
    }
    let scope = HoldScope::Gates(issue.project.clone());
    let holds = store.holds()?.into_iter();
    let mut holds = holds.filter(|hold| hold.scope == scope);
    Ok(holds.next().map(|hold| FindingInput {
        kind: FindingKind::Gate,
        author: CommentAuthor::System,
        text: format!("The project is on hold: {}", hold.reason),
        files: Vec::new(),
    }))
}

/// Returns the accepted learnings of the project and those that earlier runs of the issue proposed, best first.
pub(super) fn learnings(issue: &Issue, store: &mut Store) -> Result<BestLearnings, RunnerError> {
    let subject = Subject::issue(&issue.title, &issue.description, &issue.labels);
    let options = Options::default();
    Ok(store.best_learnings(
        &issue.project,
        Some(&LearningSource::Issue(issue.id.clone())),
        &subject,
        Timestamp::now(),
        options,
    )?)
}

pub(super) fn texts(learnings: &[RankedLearning]) -> Vec<String> {
    learnings
        .iter()
        .map(|ranked| ranked.record.learning.pattern.clone())
        .collect()
}

pub(super) fn gate_commands(gates: &[Gate]) -> Vec<GateCommand> {
    gates
        .iter()
        .map(|gate| GateCommand {
            name: gate.name.clone(),
            command: gate.command.to_string(),
            required: gate.required,
        })
        .collect()
}

pub(crate) fn budgets(config: &ProjectConfig) -> Result<Budgets, PromptError> {
    let budget: &Budget = &config.budget;
    Ok(Budgets {
        user_tokens: budget.user_tokens,
        system_tokens: budget.system_tokens,
        artifact_tokens: budget.artifact_tokens,
        pass_on: true,
        vault_tokens: config.vault.as_ref().and_then(|vault| vault.max_tokens),
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

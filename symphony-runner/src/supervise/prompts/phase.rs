//! The prompts of a phase dispatch (path B), in which the contract is the agent's whole identity.

use symphony_core::Timestamp;
use symphony_core::contract::{Delivery, DeliveryState, PhaseContract};
use symphony_core::id::PhaseName;
use symphony_core::issue::{CommentAuthor, Issue};
use symphony_core::message::Addressee;
use symphony_core::review_point::ReviewOf;
use symphony_core::run::RunTarget;
use symphony_core::web::WebAccess;
use symphony_learning::Subject;
use symphony_prompt::{
    CommentInput, PhaseAssignment, PhaseDispatch, ProjectLearning, REJECTED_DELIVERIES_MAX,
    Workspace,
};
use symphony_store::Store;

use super::dispatch::{PromptRequest, Prompts};
use super::knowledge::{
    budgets, fence_marker, issue_input, learnings, not_read, standing_conventions, texts,
};
use super::omissions::log_omissions;
use super::points::review_points;
use super::project::external_research;
use super::said::Said;
use super::vault::load_vault;
use crate::error::RunnerError;
use crate::provider::reads_claude_md;

/// How many deliveries of a phase are searched for rejected ones: as many as a run may make.
const DELIVERIES_READ_MAX: u32 = 50;

/// What the prompts of a phase need besides what every prompt needs.
#[derive(Debug)]
pub(crate) struct PhasePart {
    /// The contract.
    pub(crate) contract: PhaseContract,
    /// The project's addition for this profile in this phase.
    pub(crate) override_text: Option<String>,
}

/// Assembles both prompts of a run in a phase.
pub(crate) fn build_phase(
    request: PromptRequest,
    part: PhasePart,
    store: &mut Store,
) -> Result<Prompts, RunnerError> {
    let (issue, config) = (&request.issue, &request.config);
    let workspace = Workspace {
        identifier: issue.id.to_string(),
        path: request.path.clone(),
        branch: request.branch.clone(),
        base: request.base.clone(),
    };
    let contract = part.contract;
    let assignment = assignment(&contract);
    let mut dispatch = PhaseDispatch::new(
        request.agent.clone(),
        workspace,
        issue_input(issue),
        assignment,
        fence_marker(),
    );
    dispatch.external_research = external_research(WebAccess::decide(
        &request.agent,
        &RunTarget::Issue(issue.id.clone()),
        Some(&contract.phase),
        config.external_research,
    ));
    dispatch.custom_instructions = request.custom_instructions;
    let best = learnings(issue, store)?;
    dispatch.convention_learnings = texts(&best.conventions);
    dispatch.phase_conventions = config.phase_conventions;
    dispatch.cross_project_learnings = of_other_projects(issue, store)?;
    dispatch.provider_reads_claude_md = reads_claude_md(request.provider);
    dispatch.rejected_deliveries = rejected_deliveries(issue, &contract.phase, store)?;
    dispatch.review_points = review_points(&issue.id.clone().into(), store)?;
    let said = Said::load(issue, Addressee::Author, store)?;
    dispatch.messages = said.messages();
    dispatch.comments = said.comments();
    dispatch.budgets = budgets(config)?;
    dispatch.contract = contract.body;
    dispatch.override_text = part.override_text;
    dispatch.artifacts = request.documents.list;
    dispatch.claude_md = request.claude_md;
    dispatch.notes = request.notes;
    dispatch.notes.extend(request.documents.lost);
    let (notes, unread) = load_vault(config);
    dispatch.vault = notes;
    let mut built = dispatch.build()?;
    built.report.warnings.extend(unread);
    built
        .report
        .warnings
        .extend(not_read(request.documents.problems));
    log_omissions(&built);
    let learnings = standing_conventions(&best, &built.report);
    let resumed = match &request.news {
        None => None,
        Some(news) => {
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

fn assignment(contract: &PhaseContract) -> PhaseAssignment {
    PhaseAssignment {
        phase: contract.phase.clone(),
        artifact_path: contract
            .artifact_path
            .as_ref()
            .map(|path| path.template().to_owned()),
        required_sections: contract.required_sections.clone(),
        done_when: contract.done_when.clone(),
        escalate_if: contract.escalate_if.clone(),
    }
}

fn of_other_projects(
    issue: &Issue,
    store: &mut Store,
) -> Result<Vec<ProjectLearning>, RunnerError> {
    let subject = Subject::issue(&issue.title, &issue.description, &issue.labels);
    let found = store.cross_project_learnings(&issue.project, &subject, Timestamp::now())?;
    Ok(found
        .into_iter()
        .map(|learning| ProjectLearning {
            pattern: learning.ranked.record.learning.pattern,
            project: learning.project_name,
        })
        .collect())
}

/// Returns why earlier deliveries of the phase were refused since it was last accepted, and by whom. What became review
/// points is shown there.
fn rejected_deliveries(
    issue: &Issue,
    phase: &PhaseName,
    store: &Store,
) -> Result<Vec<CommentInput>, RunnerError> {
    let deliveries = store.deliveries(&issue.id, Some(phase), DELIVERIES_READ_MAX)?;
    let points = store.review_points(&issue.id.clone().into())?;
    let has_points = |delivery: &Delivery| {
        let review = Some(ReviewOf::Delivery(delivery.id));
        points.iter().any(|point| point.review == review)
    };
    let since = deliveries
        .iter()
        .rposition(|delivery| delivery.state == DeliveryState::Accepted)
        .map_or(0, |accepted| accepted + 1);
    let rejected: Vec<&Delivery> = deliveries
        .iter()
        .skip(since)
        .filter(|delivery| delivery.state == DeliveryState::Rejected && !has_points(delivery))
        .collect();
    let shown = rejected.len().saturating_sub(REJECTED_DELIVERIES_MAX);
    Ok(rejected.into_iter().skip(shown).map(rejection).collect())
}

fn rejection(delivery: &Delivery) -> CommentInput {
    let lines: Vec<String> = delivery
        .reasons
        .iter()
        .map(|reason| format!("- {reason}"))
        .collect();
    let author = delivery
        .verdict
        .as_ref()
        .map_or(CommentAuthor::System, |verdict| verdict.author.clone());
    CommentInput {
        author,
        content: lines.join("\n"),
        created_at: Some(delivery.created_at),
    }
}

//! The two prompts that a dispatch would send now, without dispatching (`symphony prompt show`).

use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::config::{NamedProvider, ProjectConfig, ProviderName};
use symphony_core::contract::{Delivery, PhaseContract};
use symphony_core::id::{IssueId, RunId};
use symphony_core::issue::{Issue, IssueStatus};
use symphony_core::prompt_trial::Assignment;
use symphony_core::pull_request::PullRequest;
use symphony_core::tick::wanted_agent;
use symphony_prompt::{BuiltPrompt, CriteriaInput};
use symphony_store::{Project, Store};
use symphony_workspace::{BranchName, CommitId, Repository, WorktreeKey};

use crate::error::RunnerError;
use crate::installation::Installation;
use crate::paths::RunPaths;
use crate::prompts::library::PromptLibrary;
use crate::repository::open_repository;
use crate::supervise::{
    Cut, DocumentQuery, Documents, PROMPT_FILE_BYTES_MAX, PhasePart, ProjectRequest, PromptRequest,
    ShownDiff, build, build_background, build_phase, build_wizard, criteria_input, done_review,
    judged_artifact, override_text, phase_review, read_own, review_input,
};
use crate::tick::observe_with_phases;

/// What to preview; what is not named is as a dispatch would have it.
#[derive(Debug, Clone, Default)]
pub struct PreviewOptions {
    /// For this agent.
    pub agent: Option<AgentType>,
    /// For this provider.
    pub provider: Option<NamedProvider>,
}

/// Assembles the prompts that a dispatch of an issue would send now.
///
/// # Errors
/// When the issue does not exist, or its project, its prompts or its repository cannot be read.
pub fn preview_prompt(
    installation: &Installation,
    store: &mut Store,
    id: &IssueId,
    options: &PreviewOptions,
) -> Result<BuiltPrompt, RunnerError> {
    let issue = store.issue(id)?;
    let project = store.project(&issue.project)?;
    let config = installation.project_config(&project)?;
    let repository = open_repository(&project, &config)?;
    let base = repository.base()?;
    let assigned = assigned_set(installation, store, &issue)?;
    let library = installation.library_of(&config, assigned.map(|assigned| assigned.set))?;
    let subject = subject(installation, store, &issue, &library, options)?;
    let provider = provider_of(installation, &config, options.provider.clone()).provider();
    // the id of no run: the prompts name none, and its files are only named
    let run = RunId::parse("preview").expect("a word is a run id");
    let worktree = config
        .workspaces_dir
        .join(WorktreeKey::of(id.as_str()).as_str());
    let read_from = match &subject {
        Subject::PullRequest(pr) => base_commit(pr),
        _ => None,
    };
    let read_from = read_from.unwrap_or_else(|| base.commit.clone());
    let claude_md = repository.file_at(&read_from, "CLAUDE.md", PROMPT_FILE_BYTES_MAX)?;
    let checkout = project.root.join(&worktree);
    let places = [checkout.as_path(), project.root.as_path()];
    let review = match &subject {
        Subject::PullRequest(pr) if pr.proposal.is_some() => done_review(pr),
        Subject::PullRequest(pr) => {
            let path = RunPaths::new(&project.root, &run).diff();
            // the record keeps the beginning
            let diff = ShownDiff {
                text: pr.diff.clone(),
                cut: Cut::Possible,
                path: &path,
            };
            let points = store.review_points(&pr.of)?;
            Some(review_input(pr, &points, diff, &config, &repository)?)
        }
        Subject::Delivery(delivery) => {
            let artifact = judged_artifact(delivery, &repository, &places)?;
            Some(phase_review(
                delivery,
                library.pipeline.get(&delivery.phase),
                artifact,
            ))
        }
        Subject::Phase(_) | Subject::Issue(_) => None,
    };
    let agent = match &subject {
        Subject::PullRequest(_) | Subject::Delivery(_) => AgentType::Judge,
        Subject::Issue(agent) => agent.clone(),
        Subject::Phase(contract) => contract.dispatch_profile.clone(),
    };
    let documents = documents(store, &repository, &library, &issue, &agent, &subject)?;
    let criteria = criteria(store, &repository, &library, &issue, &agent, &subject)?;
    let request = PromptRequest {
        path: worktree.display().to_string(),
        branch: Some(BranchName::of_issue(id).as_str().to_owned()),
        base: Some(base.branch.as_str().to_owned()),
        claude_md: claude_md.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        workflow_md: read_own(&project.root.join("WORKFLOW.md"))?,
        custom_instructions: store
            .overrides(&agent, &project.id)?
            .effective()
            .custom_instructions,
        notes: Vec::new(),
        review,
        documents,
        criteria,
        agent,
        library,
        run,
        issue,
        config,
        provider,
        // a preview shows all that an agent is to know
        news: None,
    };
    let contract = match subject {
        Subject::Phase(contract) => *contract,
        _ => return Ok(build(request, store)?.built),
    };
    let part = PhasePart {
        override_text: override_text(&request.library.folder, &contract)?,
        contract,
    };
    Ok(build_phase(request, part, store)?.built)
}

/// Returns the set of prompts of an issue's next run; `None` if no trial is configured.
///
/// # Errors
/// When the configuration or the database cannot be read.
pub fn assigned_set(
    installation: &Installation,
    store: &Store,
    issue: &Issue,
) -> Result<Option<Assignment>, RunnerError> {
    let config = installation.project_config(&store.project(&issue.project)?)?;
    let trial = config.prompt_trial.as_ref();
    Ok(trial
        .map(|trial| store.prompt_set_of(&issue.id, trial))
        .transpose()?)
}

/// The documents that the agent would be given.
fn documents(
    store: &Store,
    repository: &Repository,
    library: &PromptLibrary,
    issue: &Issue,
    agent: &AgentType,
    subject: &Subject,
) -> Result<Documents, RunnerError> {
    if *agent == AgentType::Intake {
        return Ok(Documents::default());
    }
    let head = match subject {
        Subject::PullRequest(pr) => CommitId::parse(&pr.head_commit).ok(),
        _ => repository.branch_head(&BranchName::of_issue(&issue.id))?,
    };
    let before = match subject {
        Subject::Phase(contract) => Some(&contract.phase),
        Subject::Delivery(delivery) => Some(&delivery.phase),
        Subject::PullRequest(_) | Subject::Issue(_) => None,
    };
    let deliveries = store.ticket_deliveries(issue)?;
    let query = DocumentQuery {
        issue: &issue.id,
        head: head.as_ref(),
        before,
        deliveries: &deliveries,
    };
    Ok(Documents::read(repository, &library.pipeline, query)?)
}

/// The acceptance criteria that the agent would be given.
fn criteria(
    store: &Store,
    repository: &Repository,
    library: &PromptLibrary,
    issue: &Issue,
    agent: &AgentType,
    subject: &Subject,
) -> Result<Option<CriteriaInput>, RunnerError> {
    let answers = match subject {
        Subject::PullRequest(pr) => Some(pr.checklist.as_slice()),
        Subject::Issue(_) if *agent == AgentType::Worker => None,
        _ => return Ok(None),
    };
    let deliveries = store.ticket_deliveries(issue)?;
    let pipeline = Some(&library.pipeline);
    let criteria =
        repository.read_criteria(&issue.id, &issue.description, pipeline, &deliveries)?;
    Ok(Some(criteria_input(&criteria, answers)))
}

/// Assembles the prompts that an agent of a project itself would be sent now: the scanner, background research, the
/// setup wizard.
///
/// # Errors
/// When the agent is none of these, or the project, its prompts or its repository cannot be read.
pub fn preview_project_prompt(
    installation: &Installation,
    store: &mut Store,
    project: &Project,
    agent: AgentType,
    provider: Option<NamedProvider>,
) -> Result<BuiltPrompt, RunnerError> {
    let config = installation.project_config(project)?;
    let repository = open_repository(project, &config)?;
    let base = repository.base()?;
    let claude_md = repository.file_at(&base.commit, "CLAUDE.md", PROMPT_FILE_BYTES_MAX)?;
    // the name of no worktree: a dispatch makes one of its own
    let identifier = format!("_{agent}-preview");
    let request = ProjectRequest {
        path: config.workspaces_dir.join(&identifier),
        read_from: project.root.clone(),
        identifier,
        claude_md: claude_md.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        workflow_md: read_own(&project.root.join("WORKFLOW.md"))?,
        custom_instructions: store
            .overrides(&agent, &project.id)?
            .effective()
            .custom_instructions,
        provider: provider_of(installation, &config, provider).provider(),
        library: installation.library(&config)?,
        project: project.clone(),
        config,
        agent,
    };
    let prompts = match request.agent {
        AgentType::Wizard => build_wizard(request)?,
        _ => build_background(&request, store)?,
    };
    Ok(prompts.built)
}

/// The provider that was asked for, or the one that a dispatch would use.
pub fn provider_of(
    installation: &Installation,
    config: &ProjectConfig,
    asked: Option<NamedProvider>,
) -> NamedProvider {
    asked.unwrap_or_else(|| match installation.provider(config) {
        // nothing is started: a program that is not installed yet is no obstacle
        Err(_missing) => {
            let named = config.provider.named().cloned();
            named.unwrap_or(ProviderName::ClaudeCli.into())
        }
        Ok(call) => call.full_name(),
    })
}

/// What a dispatch would be about.
#[derive(Debug)]
enum Subject {
    Issue(AgentType),
    Phase(Box<PhaseContract>),
    PullRequest(Box<PullRequest>),
    Delivery(Box<Delivery>),
}

/// Returns what a tick would dispatch; a profile that is asked for works on the issue itself, judges apart.
fn subject(
    installation: &Installation,
    store: &mut Store,
    issue: &Issue,
    library: &PromptLibrary,
    options: &PreviewOptions,
) -> Result<Subject, RunnerError> {
    let in_review = issue.state.status() == IssueStatus::Review;
    let judges = match &options.agent {
        Some(agent) => *agent == AgentType::Judge,
        None => in_review,
    };
    if judges && let Some(pr) = store.open_pr(&issue.id)? {
        return Ok(Subject::PullRequest(Box::new(pr)));
    }
    if judges
        && let Some(delivery) = store
            .open_delivery(&issue.id)?
            .filter(Delivery::awaits_judge)
    {
        return Ok(Subject::Delivery(Box::new(delivery)));
    }
    let phase = issue.phase().filter(|phase| !phase.is_ready());
    let contract = phase.and_then(|phase| library.pipeline.get(&phase));
    let wanted = |contract: &&PhaseContract| {
        let agent = options.agent.as_ref();
        agent.is_none_or(|agent| *agent == contract.dispatch_profile)
    };
    if let Some(contract) = contract.filter(wanted) {
        return Ok(Subject::Phase(Box::new(contract.clone())));
    }
    Ok(Subject::Issue(match &options.agent {
        Some(agent) => agent.clone(),
        None => would_be_sent(installation, store, &issue.id)?,
    }))
}

fn base_commit(pr: &PullRequest) -> Option<CommitId> {
    CommitId::parse(&pr.base_commit).ok()
}

/// The agent that a tick would send to the issue; a worker where it would send none.
fn would_be_sent(
    installation: &Installation,
    store: &mut Store,
    id: &IssueId,
) -> Result<AgentType, RunnerError> {
    let snapshot = observe_with_phases(installation, store, Timestamp::now())?;
    let wanted = store.candidate(id)?.and_then(|candidate| {
        let view = snapshot.projects.get(&candidate.project)?;
        wanted_agent(&candidate, view).ok()
    });
    Ok(wanted.unwrap_or(AgentType::Worker))
}

//! The two prompts that a dispatch would send now, without dispatching (`symphony prompt show`).

use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::config::ProviderName;
use symphony_core::id::{IssueId, RunId};
use symphony_core::issue::IssueStatus;
use symphony_core::pull_request::PullRequest;
use symphony_core::tick::wanted_agent;
use symphony_prompt::BuiltPrompt;
use symphony_store::Store;
use symphony_workspace::{BranchName, CommitId, WorktreeKey};

use crate::error::RunnerError;
use crate::installation::Installation;
use crate::paths::RunPaths;
use crate::repository::open_repository;
use crate::supervise::{PROMPT_FILE_BYTES_MAX, PromptRequest, build, read_own, review_input};
use crate::tick::observe_snapshot;

/// What to preview; what is not named is as a dispatch would have it.
#[derive(Debug, Clone, Default)]
pub struct PreviewOptions {
    /// For this agent.
    pub agent: Option<AgentType>,
    /// For this provider.
    pub provider: Option<ProviderName>,
}

/// Assembles the prompts that a dispatch of an issue would send now.
///
/// # Errors
/// When the issue does not exist, or its project, its prompts or its repository can not be read.
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
    let open = store.open_pr(id)?;
    let agent = match &options.agent {
        Some(agent) => agent.clone(),
        None if issue.state.status() == IssueStatus::Review && open.is_some() => AgentType::Judge,
        None => would_be_sent(installation, store, id)?,
    };
    let review = open.filter(|_| agent == AgentType::Judge);
    let provider = match options.provider {
        Some(provider) => provider,
        None => installation.provider(&config)?.name(),
    };
    // the id of no run: the prompts name none, and its files are only named
    let run = RunId::parse("preview").expect("a word is a run id");
    let read_from = review
        .as_ref()
        .and_then(base_commit)
        .unwrap_or_else(|| base.commit.clone());
    let claude_md = repository.file_at(&read_from, "CLAUDE.md", PROMPT_FILE_BYTES_MAX)?;
    let request = PromptRequest {
        path: config
            .workspaces_dir
            .join(WorktreeKey::of(id.as_str()).as_str())
            .display()
            .to_string(),
        branch: Some(BranchName::of_issue(id).as_str().to_owned()),
        claude_md: claude_md.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        workflow_md: read_own(&project.root.join("WORKFLOW.md"))?,
        notes: Vec::new(),
        review: review.as_ref().map(|pr| {
            let diff = RunPaths::new(&project.root, &run).diff();
            review_input(pr, &diff, &config.sensitive_paths, &config.risk)
        }),
        library: installation.library(&config)?,
        agent,
        run,
        issue,
        config,
        provider,
    };
    Ok(build(request, store)?.built)
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
    let snapshot = observe_snapshot(installation, store, Timestamp::now())?;
    let wanted = store.candidate(id)?.and_then(|candidate| {
        let view = snapshot.projects.get(&candidate.project)?;
        wanted_agent(&candidate, view).ok()
    });
    Ok(wanted.unwrap_or(AgentType::Worker))
}

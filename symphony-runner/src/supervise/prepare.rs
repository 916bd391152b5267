//! Everything before the agent: worktree, set-up, prompts, command, environment.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use serde_json::json;
use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::config::ProviderName;
use symphony_core::id::{IssueId, PhaseName};
use symphony_core::profile::{ModelChoice, ModelLayers, ResolvedModel};
use symphony_core::pull_request::PullRequest;
use symphony_core::run::RunTarget;
use symphony_core::tools::{Assignment, role_for};
use symphony_mcp::{Identity, IssueWorkspace, ReviewTarget, StoreThread, Verdicts};
use symphony_prompt::{BuiltPrompt, Review};
use symphony_store::{Actor, RunKey, RunStart};
use symphony_workspace::{
    BaseMerge, CommitId, Fingerprint, MergeOfBase, Prepared as PreparedWorktree, Repository,
    Worktree, WorktreeRequest,
};

use super::Job;
use super::command::{CommandCall, run_command};
use super::prompts::{PromptRequest, build};
use super::review_input::review_input;
use crate::environment::agent_environment;
use crate::error::RunnerError;
use crate::library::PromptLibrary;
use crate::paths::write_private;
use crate::process::Supervision;
use crate::provider::{
    AgentCommand, AgentInvocation, AgentRole, McpServerCommand, ProviderCall, ProviderError,
    RunFiles, WebAccess, agent_command, mcp_config, prompt_for_stdin, root_hint,
};
use crate::repository::{issue_workspace, open_repository};

/// File that holds the fingerprint of the worktree's program-running configuration, as it was at dispatch.
pub(crate) const FINGERPRINT_FILE: &str = "fingerprint.json";
/// Bytes of a project's own prompt file (CLAUDE.md, WORKFLOW.md) that are read.
pub(crate) const PROMPT_FILE_BYTES_MAX: usize = 1024 * 1024;

/// A run that is ready to start.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) command: AgentCommand,
    pub(crate) environment: BTreeMap<OsString, OsString>,
    pub(crate) identity: Identity,
    repository: Repository,
    worktree: Worktree,
}

impl Prepared {
    /// A value that differs when anything in the worktree differs: head, changed files, their sizes and times.
    pub(crate) fn change_mark(&self) -> Option<u64> {
        use std::os::unix::fs::MetadataExt;
        let status = self.repository.status(&self.worktree).ok()?;
        let head = self.repository.head(&self.worktree).ok()?;
        let mut hasher = DefaultHasher::new();
        head.as_str().hash(&mut hasher);
        for path in status.tracked.iter().chain(&status.untracked) {
            path.hash(&mut hasher);
            if let Ok(metadata) = self.worktree.path().join(path).symlink_metadata() {
                (metadata.len(), metadata.mtime(), metadata.mtime_nsec()).hash(&mut hasher);
            }
        }
        Some(hasher.finish())
    }
}

/// Prepares the run of an issue.
pub(crate) async fn prepare(
    job: &Job<'_>,
    store: &StoreThread,
    supervision: &Supervision,
) -> Result<Prepared, RunnerError> {
    let issue = job.issue.clone().ok_or_else(|| {
        RunnerError::refused(format!(
            "a {} run without an issue can not be prepared",
            job.run.agent
        ))
    })?;
    let provider = job.installation.provider(&job.config)?;
    let library = job.installation.library(&job.config)?;
    let mut environment = environment(job, &provider);
    refuse_root(&provider, &environment)?;
    let repository = open_repository(&job.project, &job.config)?;
    let place = issue_workspace(&repository, &job.config, &issue.id)?;
    let id = issue.id.clone();
    let open = store.call(move |store| store.open_pr(&id)).await??;
    let merge = if open.is_some() || job.run.agent == AgentType::Judge {
        BaseMerge::Leave
    } else {
        BaseMerge::Merge
    };
    let review = under_review(job, open)?;
    let made = make_worktree(job, store, &repository, &place, (&issue.id, merge)).await?;
    if made.created {
        set_up(job, supervision, &made.worktree).await?;
    }
    let worktree = made.worktree;
    let fingerprint = repository.fingerprint(&worktree)?;
    write_private(
        &job.paths.dir.join(FINGERPRINT_FILE),
        &fingerprint_text(&fingerprint),
    )?;

    let request = PromptRequest {
        agent: job.run.agent.clone(),
        run: job.run.id.clone(),
        path: worktree.path().display().to_string(),
        branch: place.branch.as_str().to_owned(),
        claude_md: claude_md(&repository, &worktree, review.as_ref())?,
        workflow_md: read_own(&job.project.root.join("WORKFLOW.md"))?,
        notes: notes(&made.base, place.base.as_str()),
        review: match &review {
            Some(pr) => Some(show_review(job, &repository, pr)?),
            None => None,
        },
        provider: provider.name(),
        issue,
        library: library.clone(),
        config: job.config.clone(),
    };
    let prompts = store.call(move |store| build(request, store)).await??;
    let built = prompts.built;
    let model = model(job, &library);
    let (command, invocation) = command(job, provider, &library, &worktree, &built, model.as_ref());
    write_private(&job.paths.system_prompt(), &built.system)?;
    write_private(&job.paths.user_prompt(), &prompt_for_stdin(&built.user))?;
    write_private(&job.paths.mcp_config(), &mcp_config(&invocation.mcp_server))?;
    record_start(job, store, &worktree, &place, &built, model.as_ref()).await?;
    let (context, run, given) = (job.as_run(), job.run.id.clone(), prompts.learnings);
    store
        .call(move |store| store.record_given(&context, &run, &given))
        .await??;
    environment.extend(
        command
            .env
            .iter()
            .map(|(name, value)| (name.into(), value.into())),
    );
    let identity = identity(job, &library, place, review.as_ref());
    Ok(Prepared {
        command,
        environment,
        identity,
        repository,
        worktree,
    })
}

fn environment(job: &Job<'_>, provider: &ProviderCall) -> BTreeMap<OsString, OsString> {
    let settings = job.config.providers.settings(provider.name());
    agent_environment(
        &job.installation.environment,
        &job.config.env,
        &settings.env,
        &job.run.id,
    )
}

/// The Claude CLI refuses to run unattended as root: said before it is started, with what to do.
fn refuse_root(
    provider: &ProviderCall,
    environment: &BTreeMap<OsString, OsString>,
) -> Result<(), RunnerError> {
    if provider.name() == ProviderName::ClaudeCli
        && let Some(hint) = root_hint(rustix::process::geteuid().as_raw(), environment)
    {
        return Err(ProviderError::Refuses {
            provider: provider.name().name(),
            hint,
        }
        .into());
    }
    Ok(())
}

/// The pull request that this run judges.
fn under_review(
    job: &Job<'_>,
    open: Option<PullRequest>,
) -> Result<Option<PullRequest>, RunnerError> {
    let RunTarget::PullRequest(_, id) = &job.run.target else {
        return Ok(None);
    };
    match open {
        Some(pr) if pr.id == *id => Ok(Some(pr)),
        _ => Err(RunnerError::refused(format!(
            "pull request {id} is no longer open"
        ))),
    }
}

/// Makes the worktree, or takes the one that is there, with the project's configuration files; the base is merged in unless
/// that would void a pull request.
async fn make_worktree(
    job: &Job<'_>,
    store: &StoreThread,
    repository: &Repository,
    place: &IssueWorkspace,
    (issue, merge): (&IssueId, BaseMerge),
) -> Result<PreparedWorktree, RunnerError> {
    // recorded before it is made: whatever happens, clean-up will look for it
    let (context, id) = (job.as_run(), issue.clone());
    store
        .call(move |store| store.record_worktree(&context, &id, true))
        .await??;
    let made = repository.prepare_worktree(&WorktreeRequest {
        key: &place.key,
        branch: &place.branch,
        base: &place.base,
        merge,
        now: Timestamp::now(),
    })?;
    for recovery in &made.recovered {
        tracing::info!(?recovery, "mended the worktree");
    }
    // every time: an earlier run may have died in between, and what is there is left as it is
    if job.run.agent != AgentType::Judge {
        let copied = repository.copy_config_files(&made.worktree)?;
        for problem in &copied.problems {
            let (path, reason) = (problem.path.display(), &problem.reason);
            tracing::warn!(%path, reason, "a configuration file was not copied into the worktree");
        }
    }
    Ok(made)
}

/// Runs the project's set-up command in a new worktree. When it fails the worktree is made anew next time.
async fn set_up(
    job: &Job<'_>,
    supervision: &Supervision,
    worktree: &Worktree,
) -> Result<(), RunnerError> {
    let settings = &job.config.worktree;
    let Some(line) = &settings.setup else {
        return Ok(());
    };
    let limit = settings.setup_timeout_ms;
    let call = CommandCall {
        executable: &job.installation.executable,
        line,
        limit,
        environment: job.command_environment(),
        directory: worktree.path(),
        log: job.paths.setup_log(),
    };
    let outcome = run_command(supervision, call).await?;
    if outcome.passed() {
        return Ok(());
    }
    let last = outcome
        .output
        .lines()
        .rev()
        .take(SETUP_LINES_MAX)
        .collect::<Vec<_>>();
    let last: Vec<&str> = last.into_iter().rev().collect();
    Err(RunnerError::Setup {
        command: line.to_string(),
        what: format!("{}\n{}", outcome.how(limit), last.join("\n")),
    })
}

/// Lines of a failed set-up's output that its error quotes.
const SETUP_LINES_MAX: usize = 10;

fn fingerprint_text(fingerprint: &Fingerprint) -> String {
    serde_json::to_string(fingerprint).expect("a fingerprint has string keys only")
}

/// CLAUDE.md: a judge gets the one of the base commit, so that nothing planted in the branch steers it.
fn claude_md(
    repository: &Repository,
    worktree: &Worktree,
    review: Option<&PullRequest>,
) -> Result<Option<String>, RunnerError> {
    let Some(pr) = review else {
        return read_own(&worktree.path().join("CLAUDE.md"));
    };
    let Ok(base) = CommitId::parse(&pr.base_commit) else {
        return Ok(None);
    };
    let bytes = repository.file_at(&base, "CLAUDE.md", PROMPT_FILE_BYTES_MAX)?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// Reads a prompt file of the project; links are not followed, what is missing is absent.
pub(crate) fn read_own(path: &Path) -> Result<Option<String>, RunnerError> {
    let failed = |error| RunnerError::io("read", path, error);
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_file() && metadata.len() <= PROMPT_FILE_BYTES_MAX as u64 => {
            let bytes = std::fs::read(path).map_err(failed)?;
            Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
        }
        Ok(_) => Ok(None),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

fn notes(merge: &MergeOfBase, base: &str) -> Vec<String> {
    match merge {
        MergeOfBase::Conflict(files) => vec![format!(
            "Merging the latest `{base}` into your branch conflicts in: {}. Nothing was merged. Rebase or merge yourself, \
             resolve the conflicts, and run the whole test suite.",
            files.join(", ")
        )],
        MergeOfBase::BlockedByChanges(files) => vec![format!(
            "The latest `{base}` was not merged into your branch: uncommitted changes are in the way ({}).",
            files.join(", ")
        )],
        MergeOfBase::Unrelated => vec![format!(
            "The base `{base}` was rewritten: it has no commit in common with your branch. Tell a human."
        )],
        MergeOfBase::NotAsked | MergeOfBase::UpToDate | MergeOfBase::Merged(_) => Vec::new(),
    }
}

/// What the judge is shown; the whole diff lies as a file beside the prompts.
fn show_review(
    job: &Job<'_>,
    repository: &Repository,
    pr: &PullRequest,
) -> Result<Review, RunnerError> {
    let path = job.paths.diff();
    let whole = match (
        CommitId::parse(&pr.base_commit),
        CommitId::parse(&pr.head_commit),
    ) {
        (Ok(base), Ok(head)) => repository.diff(&base, &head, DIFF_FILE_BYTES_MAX)?.patch,
        _ => pr.diff.clone(),
    };
    write_private(&path, &whole)?;
    Ok(review_input(
        pr,
        &path,
        &job.config.sensitive_paths,
        &job.config.risk,
    ))
}

/// Bytes of the diff that a judge may read as a file.
const DIFF_FILE_BYTES_MAX: usize = 16 * 1024 * 1024;

fn model(job: &Job<'_>, library: &PromptLibrary) -> Option<ResolvedModel> {
    let choice = |text: &String| ModelChoice::parse(text).ok();
    // an issue without a phase label is treated as ready
    let ready = PhaseName::parse("ready").ok();
    let phase = job.run.phase.as_ref().or(ready.as_ref());
    let project_phase = phase
        .and_then(|phase| job.config.phase_models.get(phase))
        .and_then(choice);
    let contract = phase.and_then(|phase| library.pipeline.get(phase));
    let project = job.config.model.as_ref().and_then(choice);
    let global = job
        .installation
        .config
        .defaults
        .model
        .as_ref()
        .and_then(choice);
    ModelLayers {
        project_phase: project_phase.as_ref(),
        contract: contract.map(|contract| &contract.model),
        profile: library
            .profile(&job.run.agent)
            .map(|profile| &profile.model),
        database_profile: None,
        project: project.as_ref(),
        global: global.as_ref(),
    }
    .resolve()
}

fn command(
    job: &Job<'_>,
    provider: ProviderCall,
    library: &PromptLibrary,
    worktree: &Worktree,
    built: &BuiltPrompt,
    model: Option<&ResolvedModel>,
) -> (AgentCommand, AgentInvocation) {
    let agent = &job.run.agent;
    let judge = *agent == AgentType::Judge;
    let settings = job.config.providers.settings(provider.name());
    let no_web = judge || *agent == AgentType::Worker;
    let invocation = AgentInvocation {
        extra_args: settings.args.clone(),
        extra_env: settings.env.clone(),
        call: provider,
        run: job.run.id.clone(),
        role: if judge {
            AgentRole::Judge
        } else {
            AgentRole::Author
        },
        web: if no_web {
            WebAccess::Denied
        } else {
            WebAccess::Allowed
        },
        model: model.map(|model| model.model.as_str().to_owned()),
        turns_max: library.profile(agent).and_then(|profile| profile.turns_max),
        worktree: worktree.path().to_owned(),
        files: RunFiles {
            system_prompt: job.paths.system_prompt(),
            user_prompt: job.paths.user_prompt(),
            mcp_config: job.paths.mcp_config(),
        },
        system_prompt: built.system.clone(),
        readable_dirs: if judge {
            vec![job.paths.dir.clone()]
        } else {
            Vec::new()
        },
        mcp_server: McpServerCommand {
            program: job.installation.executable.clone(),
            socket: job.paths.socket(),
        },
        protection: job.run.protection,
    };
    (agent_command(&invocation), invocation)
}

async fn record_start(
    job: &Job<'_>,
    store: &StoreThread,
    worktree: &Worktree,
    place: &IssueWorkspace,
    built: &BuiltPrompt,
    model: Option<&ResolvedModel>,
) -> Result<(), RunnerError> {
    let relative = worktree
        .path()
        .strip_prefix(&job.project.root)
        .unwrap_or(worktree.path());
    let start = RunStart {
        model: model.map(|model| model.model.as_str().to_owned()),
        worktree: Some(relative.display().to_string()),
        branch: Some(place.branch.as_str().to_owned()),
        metadata: json!({
            "model_source": model.map(|model| model.source),
            "prompt": built.report,
        }),
    };
    let (context, run) = (job.as_run(), job.run.id.clone());
    store
        .call(move |store| store.record_start(&context, &run, &start))
        .await??;
    Ok(())
}

/// Who the agent is to the MCP service.
fn identity(
    job: &Job<'_>,
    library: &PromptLibrary,
    place: IssueWorkspace,
    review: Option<&PullRequest>,
) -> Identity {
    let agent = &job.run.agent;
    let assignment = match (&job.run.target, &job.run.phase) {
        (RunTarget::PullRequest(..), _) => Assignment::PrReview,
        (RunTarget::Claim(..), _) => Assignment::PhaseReview,
        (RunTarget::PlanPhase(_), _) => Assignment::PlanPhase,
        (RunTarget::Project, _) => Assignment::Background,
        (RunTarget::Issue(_), phase) => Assignment::Issue(phase.clone()),
    };
    let role = role_for(agent, &assignment);
    let tools = library
        .profile(agent)
        .map_or_else(|| role.allowed(), |profile| profile.allowed(role));
    let key = RunKey {
        run: job.run.id.clone(),
        fence: job.run.fence,
        agent: agent.clone(),
    };
    Identity {
        actor: Actor::Run(key),
        role,
        tools,
        project: job.project.id.clone(),
        issue: job.run.target.issue().cloned(),
        review: review.map(|pr| ReviewTarget {
            pr: pr.id,
            commit: pr.head_commit.clone(),
        }),
        workspace: Some(place),
        verdicts: Verdicts::ByRole,
    }
}

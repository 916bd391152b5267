//! A person takes an issue over: they work in its agent's session, and give the issue back (`docs/design/0044`).

mod refusal;

use std::path::Path;

use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::config::NamedProvider;
use symphony_core::id::{IssueId, RunId};
use symphony_core::issue::Issue;
use symphony_core::run::{ProtectionLevel, Run, RunTarget};
use symphony_core::session::SESSION;
use symphony_core::tick::{LeftoverOwner, StartRun, wanted_agent};
use symphony_store::{ClaimRequest, Context, RunFilter};
use symphony_workspace::{CommitId, WorkspaceError, work_in_progress};

use crate::cancel::finish_dead_run_of;
use crate::error::RunnerError;
use crate::paths::RunPaths;
use crate::placement::control::take_host;
use crate::process::{DetachedSupervisor, RunLock};
use crate::provider::agent_cli;
use crate::repository::{issue_workspace, open_repository};
use crate::session::Session;
use crate::supervise::launch_session;
use crate::tick::observe_with_phases;

pub use refusal::SessionRefusal;

/// A session that is being opened.
#[derive(Debug)]
pub struct OpenedSession {
    /// Its run.
    pub run: Run,
    /// The process that prepares it, starts the agent and does the exit handling.
    pub supervisor: DetachedSupervisor,
}

/// Takes an issue over: claims a run, and starts its supervisor, which opens the agent's session in `terminal`. `of` is the
/// run whose session is asked for; `None` for the last one of the issue. A run whose supervisor is dead is finished first.
///
/// # Errors
/// When the issue cannot be taken over now, or its agent has no interactive mode.
pub fn open_session(
    session: &mut Session,
    context: &Context,
    issue: &IssueId,
    of: Option<&Run>,
    terminal: &Path,
) -> Result<OpenedSession, RunnerError> {
    finish_dead_run_of(&session.installation, &session.store, issue)?;
    let start = start_of(session, issue)?;
    if let Some(of) = of {
        refuse_other(session, issue, of, &start)?;
    }
    let name = NamedProvider::parse(&start.provider).ok();
    let mode = name
        .and_then(|name| agent_cli(name.provider()))
        .and_then(|cli| cli.interactive);
    if mode.is_none() {
        let (issue, provider) = (issue.clone(), start.provider);
        return Err(SessionRefusal::NotInteractive { issue, provider }.into());
    }
    take_host(&session.installation, &mut session.store)?;
    let id = RunId::parse(uuid::Uuid::now_v7().to_string()).expect("a UUID is a run id");
    let paths = RunPaths::new(&session.project.root, &id);
    paths.create()?;
    // Held before the claim: a run whose lock is free looks dead, and a tick would end it.
    let lock = RunLock::acquire(paths.lock())?;
    let request = ClaimRequest {
        run: id,
        start,
        protection: ProtectionLevel::None,
    };
    let run = match session.store.take_over(context, issue, &request)? {
        Ok(run) => run,
        Err(refusal) => {
            drop(lock);
            paths.tidy(LeftoverOwner::Unclaimed)?;
            return Err(SessionRefusal::Issue(refusal).into());
        }
    };
    let (installation, project) = (&session.installation, &session.project);
    let supervisor = launch_session(installation, project, &run.id, lock, terminal)?;
    Ok(OpenedSession { run, supervisor })
}

/// Returns the run that a tick would start on the issue, if nothing were in its way.
fn start_of(session: &mut Session, issue: &IssueId) -> Result<StartRun, RunnerError> {
    let (installation, store) = (&session.installation, &mut session.store);
    let snapshot = observe_with_phases(installation, store, Timestamp::now())?;
    let refused = |reason: String| RunnerError::refused(reason);
    store.issue(issue)?;
    let candidate = store.candidate(issue)?;
    let candidate = candidate.ok_or_else(|| refused(format!("{issue} is gone")))?;
    let view = snapshot
        .projects
        .get(&candidate.project)
        .ok_or_else(|| refused("its project is not configured".to_owned()))?;
    if let Some(problem) = &view.broken {
        return Err(refused(problem.clone()));
    }
    let agent = wanted_agent(&candidate, view).map_err(|reason| refused(reason.to_string()))?;
    let target = RunTarget::Issue(issue.clone());
    let (phase, choice) = (candidate.phase.as_ref(), Some(&candidate.choice));
    let asked = view.asked(&target, &agent, phase, choice);
    let provider = asked
        .provider
        .map_err(|problem| refused(problem.to_owned()))?;
    Ok(StartRun {
        provider: provider.to_owned(),
        project: candidate.project,
        target,
        agent,
        phase: candidate.phase,
        attempt: candidate.counts.total_runs.saturating_add(1),
        probes: Vec::new(),
    })
}

/// Refuses a run whose session is not the one that the issue's next run would resume.
fn refuse_other(
    session: &Session,
    issue: &IssueId,
    of: &Run,
    start: &StartRun,
) -> Result<(), RunnerError> {
    if !matches!(of.target, RunTarget::Issue(_)) || of.agent == AgentType::Intake {
        let run = of.id.clone();
        return Err(SessionRefusal::NotTheWork { run }.into());
    }
    let is_same = |run: &Run| run.agent == start.agent && run.phase == start.phase;
    if !is_same(of) {
        let refusal = SessionRefusal::OtherAgent {
            run: of.id.clone(),
            agent: of.agent.clone(),
            issue: issue.clone(),
            wanted: start.agent.clone(),
        };
        return Err(refusal.into());
    }
    let filter = RunFilter {
        issue: Some(issue.clone()),
        agents_only: true,
        ..RunFilter::default()
    };
    let runs = session.store.runs(&filter)?;
    let id = |run: &Run| run.metadata.get(SESSION).cloned();
    let last = runs.iter().find(|run| is_same(run) && id(run).is_some());
    match last {
        Some(last) if id(of).is_some() && id(last) != id(of) => Err(SessionRefusal::LaterSession {
            issue: issue.clone(),
            later: last.id.clone(),
        }
        .into()),
        _ => Ok(()),
    }
}

/// What happens to uncommitted work when an issue is released.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Uncommitted {
    /// It is committed to the issue's branch, as at the end of each run.
    Commit,
    /// It stays in the checkout as it is, and the next agent finds it there.
    Keep,
}

/// What a release found in the checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReleasedWork {
    /// Nothing uncommitted.
    Clean,
    /// This is the commit with what was uncommitted.
    Committed(CommitId),
    /// So many files with uncommitted changes stay.
    Kept(usize),
}

/// A released issue.
#[derive(Debug, Clone)]
pub struct Released {
    /// The issue, as it is now.
    pub issue: Issue,
    /// What was found in its checkout.
    pub work: ReleasedWork,
}

/// Gives an issue that a person has taken over back to agents. A run whose supervisor is dead is finished first.
///
/// # Errors
/// When nobody has taken it over, its session is still open, or git fails. Then it stays theirs.
pub fn release_issue(
    session: &mut Session,
    context: &Context,
    issue: &IssueId,
    uncommitted: Uncommitted,
) -> Result<Released, RunnerError> {
    finish_dead_run_of(&session.installation, &session.store, issue)?;
    // Before anything is committed. It is decided again below.
    if let Some(refusal) = session.store.release_refusal(issue)? {
        return Err(SessionRefusal::Issue(refusal).into());
    }
    let work = settle(session, issue, uncommitted)?;
    let released = session.store.release(context, issue)?;
    let issue = released.map_err(SessionRefusal::Issue)?;
    Ok(Released { issue, work })
}

fn settle(
    session: &Session,
    issue: &IssueId,
    uncommitted: Uncommitted,
) -> Result<ReleasedWork, RunnerError> {
    let config = session.config()?;
    let repository = open_repository(&session.project, &config)?;
    let place = issue_workspace(&repository, &config, issue)?;
    let worktree = match repository.worktree(&place.key, Some(&place.branch)) {
        Ok(worktree) => worktree,
        Err(WorkspaceError::WorktreeMissing { .. }) => return Ok(ReleasedWork::Clean),
        Err(error) => return Err(error.into()),
    };
    match uncommitted {
        Uncommitted::Commit => {
            let conflicted = repository.status(&worktree)?.conflicted;
            if !conflicted.is_empty() {
                let files = conflicted.iter().map(|path| path.display().to_string());
                return Err(SessionRefusal::Conflicts {
                    issue: issue.clone(),
                    files: files.collect(),
                }
                .into());
            }
            let message = work_in_progress(issue.as_str());
            let done = repository.auto_commit(&worktree, &message, Timestamp::now())?;
            Ok(done
                .commit
                .map_or(ReleasedWork::Clean, ReleasedWork::Committed))
        }
        Uncommitted::Keep => {
            let status = repository.status(&worktree)?;
            Ok(match status.tracked.len() + status.untracked.len() {
                0 => ReleasedWork::Clean,
                files => ReleasedWork::Kept(files),
            })
        }
    }
}

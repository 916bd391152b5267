//! The session of a run: whether it resumes one, with which prompt, and how it starts again if that is refused.

use std::path::PathBuf;

use symphony_core::config::{ResumeMode, SandboxLevel};
use symphony_core::run::{SandboxRecord, Usage};
use symphony_core::session::{ResumePlan, SessionId, SessionKey, SessionQuery, SessionRecord};
use symphony_mcp::StoreThread;
use symphony_prompt::BuiltPrompt;

use super::site::Site;
use crate::error::RunnerError;
use crate::paths::write_private;
use crate::provider::{AgentCli, AgentCommand, ProviderCall, Session, Sessions};
use crate::resume::{Resumption, kept_folder};
use crate::supervise::Job;

/// The session of a run.
#[derive(Debug)]
pub(crate) struct RunSession {
    /// What people are shown about it.
    pub(crate) record: SessionRecord,
    /// What is resumed; `None` for a new session.
    pub(crate) resumed: Option<Resumed>,
}

/// A session that is resumed.
#[derive(Debug)]
pub(crate) struct Resumed {
    /// Its id.
    pub(crate) session: SessionId,
    /// What was used in it before.
    pub(crate) used: Usage,
    /// The full prompt and its command, should the session be refused.
    pub(crate) full: FullStart,
}

/// How a run starts without an earlier session.
#[derive(Debug)]
pub(crate) struct FullStart {
    /// The prompts.
    pub(crate) built: BuiltPrompt,
    /// The command.
    pub(crate) command: AgentCommand,
}

/// Where the sessions of a run's CLI are kept, if it is confined.
#[derive(Debug, Clone)]
pub(crate) struct KeptSessions {
    /// The CLI.
    pub(crate) cli: &'static AgentCli,
    /// The folder.
    pub(crate) folder: PathBuf,
}

/// Decides whether a run resumes a session.
pub(super) async fn resumption(
    job: &Job<'_>,
    store: &StoreThread,
    site: &Site,
    call: &ProviderCall,
    model: Option<&str>,
    sandbox: SandboxRecord,
) -> Result<Resumption, RunnerError> {
    let confined = sandbox.level != SandboxLevel::Off;
    let query = SessionQuery {
        // Who opens a session asks for it.
        mode: match job.terminal {
            None => job.config.resume,
            Some(_) => ResumeMode::Auto,
        },
        form: sessions(call, confined).map(|sessions| sessions.form),
        key: key(job, call, model),
        confined,
        head: Some(site.repository.head(&site.worktree)?.as_str().to_owned()),
    };
    Resumption::load(job, store, query, &site.repository).await
}

/// Makes the folder of a confined run's sessions; `None` where its CLI keeps none, or no run continues this one.
pub(super) fn kept_sessions(
    job: &Job<'_>,
    call: &ProviderCall,
    model: Option<&str>,
) -> Result<Option<KeptSessions>, RunnerError> {
    let Some(cli) = cli_of(call).filter(|_| sessions(call, true).is_some()) else {
        return Ok(None);
    };
    let root = &job.project.root;
    let made = kept_folder(root, &job.run.target, &key(job, call, model))
        .map_err(|error| RunnerError::io("make a folder for sessions in", root, error))?;
    Ok(made.map(|folder| KeptSessions { cli, folder }))
}

fn key(job: &Job<'_>, call: &ProviderCall, model: Option<&str>) -> SessionKey {
    let mut key = SessionKey::of(&job.run, model.map(str::to_owned));
    // Where the configuration leaves the choice, it may be another one than at the claim.
    key.provider = call.full_name().to_string();
    key
}

/// Returns the sessions that a provider can resume.
fn sessions(call: &ProviderCall, confined: bool) -> Option<Sessions> {
    let sessions = cli_of(call)?.sessions?;
    (!confined || sessions.folder.is_some()).then_some(sessions)
}

const fn cli_of(call: &ProviderCall) -> Option<&'static AgentCli> {
    match call {
        ProviderCall::Cli { cli, .. } => Some(cli),
        ProviderCall::Command { .. } | ProviderCall::Acp { .. } | ProviderCall::Scripted { .. } => {
            None
        }
    }
}

impl RunSession {
    /// Puts it together. `full` is how the run would start without the session that it resumes.
    pub(super) fn new(plan: ResumePlan, full: Option<FullStart>) -> Self {
        let record = record_of(&plan);
        let resumed = match (plan, full) {
            (ResumePlan::Resume { session, used, .. }, Some(full)) => Some(Resumed {
                session,
                used,
                full,
            }),
            _ => None,
        };
        Self { record, resumed }
    }
}

/// Writes the files that a command needs.
///
/// # Errors
/// When one cannot be written.
pub(super) fn write_files(command: &AgentCommand) -> Result<(), RunnerError> {
    let mut files = command.files.iter();
    files.try_for_each(|(path, text)| write_private(path, text))
}

/// Returns what the provider is asked for.
pub(super) fn session_of(plan: &ResumePlan) -> Session {
    match plan {
        ResumePlan::Resume { session, .. } => Session::Resume(session.clone()),
        ResumePlan::New(_) => Session::New,
    }
}

/// Returns what is recorded about a plan.
pub(super) fn record_of(plan: &ResumePlan) -> SessionRecord {
    match plan {
        ResumePlan::Resume { run, .. } => SessionRecord::Resumed { run: run.clone() },
        ResumePlan::New(why) => SessionRecord::New { why: *why },
    }
}

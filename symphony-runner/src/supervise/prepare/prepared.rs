//! A run that is ready to start.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use symphony_core::id::CommentId;
use symphony_core::session::{RESUMED, SessionId, SessionRecord};
use symphony_mcp::Identity;
use symphony_workspace::Redactor;

use super::session::{FullStart, RunSession, write_files};
use super::site::Site;
use crate::error::RunnerError;
use crate::network::RunNetwork;
use crate::paths::write_private;
use crate::prompts::sent::{PROMPT_REPORT, keep_prompts};
use crate::provider::{AgentCommand, prompt_for_stdin};
use crate::sandbox::RunSandbox;
use crate::supervise::Job;

/// A run that is ready to start.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// The session that it resumes, if it does.
    pub(crate) session: RunSession,
    /// The session that a person works in, where its id is known before.
    pub(crate) opened: Option<SessionId>,
    pub(crate) command: AgentCommand,
    pub(crate) environment: BTreeMap<OsString, OsString>,
    /// What the agent is confined by.
    pub(crate) sandbox: RunSandbox,
    /// The ways out of the sandbox, served until this is dropped; `None` where the network is the machine's.
    pub(crate) network: Option<RunNetwork>,
    pub(crate) identity: Identity,
    pub(crate) site: Site,
    /// Removes secret values from everything that is written; `None` when there are none.
    pub(crate) redactor: Option<Arc<Redactor>>,
    /// The messages in its prompt.
    pub(crate) messages: Vec<CommentId>,
    /// How often the agent may search the web; `None` where its provider refuses searches.
    pub(crate) searches_max: Option<u32>,
}

impl Prepared {
    /// Turns to a new session with the full prompt, because the earlier one was refused. Returns what to add to the
    /// run's metadata.
    ///
    /// # Errors
    /// When the prompt cannot be written.
    pub(crate) fn start_again(
        &mut self,
        job: &Job<'_>,
        message: String,
    ) -> Result<Map<String, Value>, RunnerError> {
        let session = &mut self.session;
        let (Some(resumed), SessionRecord::Resumed { run }) =
            (session.resumed.take(), &session.record)
        else {
            return Ok(Map::new());
        };
        tracing::info!(%run, %message, "the session could not be resumed: the full prompt is used");
        let run = run.clone();
        session.record = SessionRecord::Refused { run, message };
        let FullStart { built, command } = resumed.full;
        write_private(&job.paths.user_prompt(), &prompt_for_stdin(&built.user))?;
        keep_prompts(&job.paths, &built, self.redactor.as_deref())?;
        write_files(&command)?;
        self.command = command;
        let added = [
            (RESUMED, json!(session.record)),
            (PROMPT_REPORT, json!(built.report)),
        ];
        let added = added
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value));
        Ok(added.collect())
    }
}

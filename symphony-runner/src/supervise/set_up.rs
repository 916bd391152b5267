//! The set-up command of a worktree, such as `npm ci`. It runs once, before anything else runs there (spec: lifecycle,
//! "Worktree").

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use symphony_core::config::WorktreeSettings;
use symphony_workspace::{Failpoint, Redactor, Repository, Worktree};

use super::command::{CommandCall, CommandOutcome, Company, run_command};
use crate::error::RunnerError;
use crate::paths::write_private;
use crate::process::Supervision;
use crate::sandbox::RunSandbox;

/// The file that records that the set-up command has passed. It is in the worktree's own git folder, so it disappears
/// with the worktree.
const SET_UP_FILE: &str = "symphony-set-up";

/// A set-up to be run.
#[derive(Debug)]
pub(crate) struct SetUp<'a> {
    /// Symphony's own executable.
    pub(crate) executable: &'a Path,
    /// The command, and its time limit.
    pub(crate) settings: &'a WorktreeSettings,
    /// Its whole environment.
    pub(crate) environment: BTreeMap<OsString, OsString>,
    /// Removes secret values from its output.
    pub(crate) redactor: Option<Arc<Redactor>>,
    /// The worktree, and its repository.
    pub(crate) worktree: &'a Worktree,
    pub(crate) repository: &'a Repository,
    /// The file for its output.
    pub(crate) log: PathBuf,
    /// What confines it.
    pub(crate) sandbox: &'a RunSandbox,
}

impl SetUp<'_> {
    /// Runs the command if it has not passed yet: once, and again when it failed or was interrupted. `None` when there
    /// is nothing to do.
    ///
    /// # Errors
    /// When it cannot be started, or its success cannot be recorded.
    pub(crate) async fn run(
        self,
        supervision: &Supervision,
    ) -> Result<Option<CommandOutcome>, RunnerError> {
        let Some(line) = &self.settings.setup else {
            return Ok(None);
        };
        if !is_due(self.settings, self.worktree) {
            return Ok(None);
        }
        let passed = passed_file(self.worktree);
        let call = CommandCall {
            executable: self.executable,
            line,
            limit: self.settings.setup_timeout_ms,
            environment: self.environment,
            directory: self.worktree.path(),
            input: None,
            redactor: self.redactor,
            log: self.log,
            live: None,
            company: Company::Alone,
            remark: None,
            sandbox: Some(self.sandbox),
        };
        let before = self.repository.status(self.worktree)?;
        let outcome = run_command(supervision, call).await?;
        // Before it counts as passed, and also after a failure: otherwise a death in between would leave its files to
        // be committed as an agent's work.
        self.repository.record_set_up(self.worktree, &before)?;
        Failpoint::PrepareSetUp.reach();
        if outcome.passed() {
            write_private(&passed, &line.to_string())?;
        }
        Ok(Some(outcome))
    }
}

/// Returns whether a worktree still has to be set up.
pub(crate) fn is_due(settings: &WorktreeSettings, worktree: &Worktree) -> bool {
    settings.setup.is_some() && !passed_file(worktree).exists()
}

fn passed_file(worktree: &Worktree) -> PathBuf {
    worktree.place().git_dir.join(SET_UP_FILE)
}

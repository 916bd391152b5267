//! Whether what Symphony and the person share with the agent changed while the run was at work.
//!
//! An agent that helps itself (`git config user.email …`) writes into a file that the user's git reads, too; one that writes
//! Symphony's configuration decides what its own gates are.

use std::io::ErrorKind;
use std::path::PathBuf;

use symphony_core::left_behind::{LeftKind, shown_setting};
use symphony_workspace::config_file::ConfigDigests;
use symphony_workspace::{Repository, SharedSettings};

use super::note::note;
use crate::error::RunnerError;
use crate::paths::write_private;
use crate::repository::open_repository;
use crate::shared_state::{configuration_now, digests_of};
use crate::supervise::Job;
use crate::supervise::agent::AgentOutcome;

/// File that holds the git settings as they were at dispatch.
const SETTINGS_FILE: &str = "shared-settings.json";
/// File that holds Symphony's configuration as it was at dispatch.
const CONFIGURATION_FILE: &str = "configuration.json";

/// Records both before the agent, or the first gate, is started.
pub(crate) fn record_settings(job: &Job<'_>, repository: &Repository) -> Result<(), RunnerError> {
    let digests = digests_of(job.installation.loaded(), &job.project);
    let text = serde_json::to_string(&digests).expect("digests have string keys only");
    write_private(&job.paths.dir.join(CONFIGURATION_FILE), &text)?;
    let Some(settings) = repository.shared_settings()? else {
        return Ok(());
    };
    let text = serde_json::to_string(&settings).expect("settings have string keys only");
    write_private(&job.paths.dir.join(SETTINGS_FILE), &text)
}

/// Notes what changed since the dispatch. A person may have changed it, too: nothing is undone.
pub(crate) fn note_settings(job: &Job<'_>, outcome: &mut AgentOutcome) -> Result<(), RunnerError> {
    if let Some(text) = read_record(job, SETTINGS_FILE)? {
        // a file that was spoilt is compared with nothing: all settings are named
        let before = serde_json::from_str::<SharedSettings>(&text).unwrap_or_default();
        let repository = open_repository(&job.project, &job.config)?;
        let now = repository.shared_settings()?.unwrap_or_default();
        let changed = now.changes_since(&before);
        let shown = changed.iter().map(|name| shown_setting(name)).collect();
        note(LeftKind::Setting, shown, outcome);
    }
    if let Some(text) = read_record(job, CONFIGURATION_FILE)? {
        let before = serde_json::from_str::<ConfigDigests>(&text).unwrap_or_default();
        let now = configuration_now(job.installation, &job.project);
        note(LeftKind::Configuration, now.changes_since(&before), outcome);
    }
    Ok(())
}

/// Reads what was recorded at dispatch; nothing when the run did not get as far as its agent.
fn read_record(job: &Job<'_>, file: &str) -> Result<Option<String>, RunnerError> {
    let path: PathBuf = job.paths.dir.join(file);
    match symphony_workspace::read_own_text(&path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        // something else in its place is a record that was spoilt
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::InvalidInput | ErrorKind::InvalidData
            ) =>
        {
            Ok(Some(String::new()))
        }
        Err(error) => Err(RunnerError::io("read", path, error)),
    }
}

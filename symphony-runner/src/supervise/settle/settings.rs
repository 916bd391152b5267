//! Whether the repository's own git configuration changed while the run was at work.
//!
//! An agent that helps itself (`git config user.email …`) writes into a file that the user's git reads, too.

use std::io::ErrorKind;

use serde_json::json;
use symphony_core::left_behind::{
    LEFT_BEHIND, LEFT_NAMED_MAX, LeftBehind, LeftKind, shown_setting,
};
use symphony_workspace::{Repository, SharedSettings};

use crate::error::RunnerError;
use crate::paths::write_private;
use crate::repository::open_repository;
use crate::supervise::Job;
use crate::supervise::agent::AgentOutcome;

/// File that holds the settings as they were at dispatch.
const SETTINGS_FILE: &str = "shared-settings.json";

/// Records the settings before the agent is started.
pub(crate) fn record_settings(job: &Job<'_>, repository: &Repository) -> Result<(), RunnerError> {
    let Some(settings) = repository.shared_settings()? else {
        return Ok(());
    };
    let text = serde_json::to_string(&settings).expect("settings have string keys only");
    write_private(&job.paths.dir.join(SETTINGS_FILE), &text)
}

/// Notes the settings that changed since the dispatch. A person may have changed them, too: nothing is undone.
pub(super) fn note_settings(job: &Job<'_>, outcome: &mut AgentOutcome) -> Result<(), RunnerError> {
    let path = job.paths.dir.join(SETTINGS_FILE);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        // the run did not get as far as its agent
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(RunnerError::io("read", path, error)),
    };
    // a file that was spoilt is compared with nothing: all settings are named
    let before = serde_json::from_str::<SharedSettings>(&text).unwrap_or_default();
    let repository = open_repository(&job.project, &job.config)?;
    let now = repository.shared_settings()?.unwrap_or_default();
    let mut changed = now.changes_since(&before);
    if changed.is_empty() {
        return Ok(());
    }
    changed.truncate(LEFT_NAMED_MAX);
    let changed = changed.iter().map(|name| LeftBehind {
        kind: LeftKind::Setting,
        path: shown_setting(name),
    });
    let noted = outcome.metadata.remove(LEFT_BEHIND);
    let noted: Vec<LeftBehind> = noted
        .and_then(|noted| serde_json::from_value(noted).ok())
        .unwrap_or_default();
    let left: Vec<LeftBehind> = noted.into_iter().chain(changed).collect();
    outcome.metadata.insert(LEFT_BEHIND.to_owned(), json!(left));
    Ok(())
}

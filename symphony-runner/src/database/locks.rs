//! Which runs and ticks are active: neither replacing a database nor moving a project may happen under them.

use std::path::Path;

use symphony_core::tick::LockState;

use crate::error::RunnerError;
use crate::paths::{RunPaths, runs_folder};
use crate::process::lock_state;

/// Returns the ids of the runs of a project whose locks are held, whether a database knows them or not.
pub(super) fn held_runs(root: &Path) -> Result<Vec<String>, RunnerError> {
    let folder = runs_folder(root);
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(RunnerError::io("read", folder, error)),
    };
    let mut held = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| RunnerError::io("read", &folder, error))?;
        let name = entry.file_name();
        let Some(run) = name
            .to_str()
            .and_then(|name| symphony_core::id::RunId::parse(name).ok())
        else {
            continue;
        };
        if lock_state(&RunPaths::new(root, &run).lock())? == LockState::Held {
            held.push(run.to_string());
        }
    }
    held.sort();
    Ok(held)
}

//! The state file that a skill's command is about.

use std::path::{Path, PathBuf};

use clap::Args;
use symphony_core::Timestamp;
use symphony_core::plan::state_file::{StateFile, StateFileError};
use symphony_workspace::WorkspaceError;
use symphony_workspace::plan_file::{LockedStateFile, read_state_file};

use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};

/// The state file of a command.
#[derive(Debug, Clone, Args)]
pub(super) struct StateArg {
    /// The state file
    pub(super) state: PathBuf,
}

/// Reads a state file.
///
/// # Errors
/// When it is not there, or is no state file.
pub(super) fn read_state(app: &App, file: &Path) -> anyhow::Result<StateFile> {
    let text = read_state_file(&app.surroundings.current.join(file)).map_err(not_there)?;
    StateFile::parse(&text).with_context(|| what(file))
}

/// Changes a state file: one process at a time, the file replaced as a whole, or left as it is when the operation is
/// refused.
///
/// # Errors
/// When it is not there, is no state file, the operation is refused, or it cannot be written.
pub(super) fn change_state<T>(
    app: &App,
    file: &Path,
    operation: impl FnOnce(&mut StateFile, Timestamp) -> Result<T, StateFileError>,
) -> anyhow::Result<T> {
    let locked = LockedStateFile::open(&app.surroundings.current.join(file)).map_err(not_there)?;
    let mut state = StateFile::parse(locked.text()).with_context(|| what(file))?;
    let answer = operation(&mut state, Timestamp::now()).with_context(|| what(file))?;
    locked.replace(&state.render()?)?;
    Ok(answer)
}

/// Says how a state file that is not there is made.
fn not_there(error: WorkspaceError) -> anyhow::Error {
    if matches!(error, WorkspaceError::FileMissing { .. }) {
        let stop = Stop::new(Exit::NotFound, format!("the state file {error}"));
        return stop
            .hint("`symphony plan init-state PLAN --output FILE` creates one")
            .into();
    }
    error.into()
}

fn what(file: &Path) -> String {
    format!("use the state file {}", file.display())
}

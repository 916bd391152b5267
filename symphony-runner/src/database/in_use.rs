//! What may use the database: nothing that would continue with a replaced one.

use std::path::Path;
use std::time::{Duration, Instant};

use symphony_store::Store;
use symphony_workspace::processes_with_open;

use super::locks::held_runs;
use super::refusal::DatabaseRefusal;
use crate::error::RunnerError;

/// How long a session may stay on the server after its command has ended.
const SESSION_END_MAX: Duration = Duration::from_secs(3);
/// Time between two looks.
const LOOK: Duration = Duration::from_millis(50);

/// Refuses while other commands, perhaps of other hosts, use the tables.
pub(super) fn refuse_sessions(store: &Store) -> Result<(), RunnerError> {
    let begun = Instant::now();
    loop {
        let sessions = store.other_sessions()?;
        if sessions.is_empty() {
            return Ok(());
        }
        if begun.elapsed() > SESSION_END_MAX {
            let sessions = sessions.iter().map(ToString::to_string).collect();
            return Err(DatabaseRefusal::HasSessions(sessions).into());
        }
        std::thread::sleep(LOOK);
    }
}

/// Refuses while runs are active in a repository.
pub(super) fn refuse_held(root: &Path) -> Result<(), RunnerError> {
    let held = held_runs(root)?;
    if held.is_empty() {
        return Ok(());
    }
    let (root, runs) = (root.to_owned(), held);
    Err(DatabaseRefusal::RunsAreActive { root, runs }.into())
}

/// Refuses while another process has the database open: it would go on writing to the file that was set aside.
pub(super) fn refuse_users(database: &Path) -> Result<(), RunnerError> {
    let real = database
        .canonicalize()
        .unwrap_or_else(|_gone| database.to_owned());
    let users = processes_with_open(&real);
    if users.is_empty() {
        return Ok(());
    }
    let pids = users.iter().map(ToString::to_string).collect();
    Err(DatabaseRefusal::IsOpen(pids).into())
}

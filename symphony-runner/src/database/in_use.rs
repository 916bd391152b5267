//! What may use the database: nothing that would continue with a replaced one.

use std::path::Path;
use std::time::{Duration, Instant};

use symphony_store::Store;
use symphony_workspace::processes_with_open;

use super::locks::held_runs;
use super::refusal::DatabaseRefusal;
use crate::error::RunnerError;

/// How long a process, or its session on a server, may take to end after its work has.
const END_MAX: Duration = Duration::from_secs(3);
/// Time between two looks.
const LOOK: Duration = Duration::from_millis(50);

/// Refuses while other commands, perhaps of other hosts, use the tables.
pub(super) fn refuse_sessions(store: &Store) -> Result<(), RunnerError> {
    let sessions = left_of(|| Ok(store.other_sessions()?))?;
    if sessions.is_empty() {
        return Ok(());
    }
    let sessions = sessions.iter().map(ToString::to_string).collect();
    Err(DatabaseRefusal::HasSessions(sessions).into())
}

/// Refuses while runs are active in a repository.
pub(super) fn refuse_held(root: &Path) -> Result<(), RunnerError> {
    let runs = left_of(|| held_runs(root))?;
    if runs.is_empty() {
        return Ok(());
    }
    let root = root.to_owned();
    Err(DatabaseRefusal::RunsAreActive { root, runs }.into())
}

/// Refuses while another process has the database open: it would go on writing to the file that was set aside.
pub(super) fn refuse_users(database: &Path) -> Result<(), RunnerError> {
    let real = database
        .canonicalize()
        .unwrap_or_else(|_gone| database.to_owned());
    let users = left_of(|| Ok(processes_with_open(&real)))?;
    if users.is_empty() {
        return Ok(());
    }
    let pids = users.iter().map(ToString::to_string).collect();
    Err(DatabaseRefusal::IsOpen(pids).into())
}

/// Returns who still uses the database, once those that are ending have had time to.
fn left_of<T>(look: impl Fn() -> Result<Vec<T>, RunnerError>) -> Result<Vec<T>, RunnerError> {
    let begun = Instant::now();
    loop {
        let users = look()?;
        if users.is_empty() || begun.elapsed() > END_MAX {
            return Ok(users);
        }
        std::thread::sleep(LOOK);
    }
}

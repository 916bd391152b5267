//! Moves an installation to another database: a file's content to a server, or back.

use std::time::{Duration, Instant};

use symphony_core::config::Database;
use symphony_store::{CopiedTable, Store};

use super::open::new_store;
use super::refusal::DatabaseRefusal;
use super::restore::{refuse_held, refuse_users};
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::tick::{Taken, Turn, TurnWish};

/// How long a session may stay on the server after its command has ended.
const SESSION_END_MAX: Duration = Duration::from_secs(3);
/// Time between two looks.
const LOOK: Duration = Duration::from_millis(50);

/// Copies the whole database to another place, which has none yet. The configuration still names the old one afterwards.
///
/// # Errors
/// While a tick or a run is active or another process has the database open; when the target has something in it, or the copy
/// differs. The target then keeps no rows.
pub fn copy_database(
    installation: &Installation,
    to: &Database,
) -> Result<Vec<CopiedTable>, RunnerError> {
    let from = &installation.config.database;
    if from == to {
        return Err(DatabaseRefusal::SameDatabase(to.clone()).into());
    }
    // Held to the end: what a tick wrote meanwhile would be missing in the copy.
    let Taken::Turn(_turn) = Turn::take(installation, TurnWish::Now)? else {
        return Err(DatabaseRefusal::TickAtWork.into());
    };
    if let Some(file) = from.file() {
        refuse_users(file)?;
    }
    let mut source = installation.require_store()?;
    refuse_sessions(&source)?;
    for project in source.projects()? {
        refuse_held(&project.root)?;
    }
    match to {
        Database::Server(address) => Ok(source.copy_to(&mut Store::create_on(address)?)?),
        Database::File(path) if path.exists() => {
            Err(DatabaseRefusal::AlreadyThere(path.clone()).into())
        }
        Database::File(path) => {
            let mut target = new_store(path)?;
            let copied = source.copy_to(&mut target);
            drop(target);
            if copied.is_err() {
                // A database without rows in its place would look like a lost one.
                let _left = std::fs::remove_file(path);
            }
            Ok(copied?)
        }
    }
}

/// Refuses while other commands, perhaps of other hosts, write to the tables.
fn refuse_sessions(source: &Store) -> Result<(), RunnerError> {
    let begun = Instant::now();
    loop {
        let sessions = source.other_sessions()?;
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

//! Moves an installation to another database: a file's content to a server, or back.

use symphony_core::config::Database;
use symphony_store::{CopiedTable, Store};

use super::in_use::{refuse_held, refuse_sessions, refuse_users};
use super::open::new_store;
use super::refusal::DatabaseRefusal;
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::tick::{Taken, Turn, TurnWish};

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

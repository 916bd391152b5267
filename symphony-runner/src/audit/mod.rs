//! The whole audit: the database's own, and what must hold of repositories, worktrees, processes and files
//! (reliability, "Invariants"). It only looks.

mod branches;
mod processes;
mod run_files;
mod secrets;
mod stranded;
mod unknown;
mod worktrees;

pub use stranded::check as check_stranded;
pub use unknown::unknown_branches;

use symphony_core::Timestamp;
use symphony_core::invariant::{Invariant, Violation};
use symphony_store::{AuditRequest, Store};

use crate::error::RunnerError;
use crate::installation::Installation;
use crate::repository::open_repository;
use crate::tick::observe_snapshot;

/// Checks every invariant that can be stated on the store, refs, worktrees, processes and files. What a command at work
/// is just changing may be found broken: look again.
///
/// # Errors
/// When the database, a repository or the table of processes cannot be read.
pub fn audit(
    installation: &Installation,
    store: &mut Store,
    now: Timestamp,
) -> Result<Vec<Violation>, RunnerError> {
    let snapshot = observe_snapshot(installation, store, now)?;
    let stranded = stranded::check(store, &snapshot, now)?;
    let request = AuditRequest {
        projects: snapshot.projects,
        slots: snapshot.slots,
    };
    let mut found = store.audit(&request)?;
    found.extend(snapshot.base.gone.iter().map(|gone| {
        let subject = format!("branch {} of project {}", gone.branch, gone.project);
        Violation::new(Invariant::L1, subject, gone.text())
    }));
    let left = snapshot.left_worktrees.iter();
    found.extend(
        left.filter(|left| left.is_for_person(now))
            .map(|left| Violation::new(Invariant::I13, left.path.clone(), left.text())),
    );
    found.extend(stranded);
    processes::check(store, now, &mut found)?;
    for project in store.projects()? {
        let config = match installation.project_config(&project) {
            Ok(config) => config,
            // without it nothing of the project can be found; `doctor` says what is wrong with it
            Err(error) => {
                let subject = format!("project {}", project.id);
                let detail = format!("its repository was not looked at: {error}");
                found.push(Violation::new(Invariant::I13, subject, detail));
                continue;
            }
        };
        let repository = open_repository(&project, &config)?;
        worktrees::check(store, &project, &repository, &mut found)?;
        branches::check(store, &project, &repository, &mut found)?;
        unknown::check(store, &repository, &mut found)?;
        secrets::check(store, &project, &repository, &mut found)?;
        run_files::check(store, &project, &config, now, &mut found)?;
    }
    Ok(found)
}

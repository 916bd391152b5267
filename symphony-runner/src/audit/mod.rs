//! The whole audit: the database's own, and the invariants of repositories, worktrees, processes and files
//! (reliability, "Invariants"). It only looks.

mod branches;
mod landed;
mod left_locks;
mod processes;
mod run_files;
mod secrets;
mod stranded;
mod unknown;
mod worktrees;

pub use stranded::check as check_stranded;
pub use unknown::unknown_branches;

use symphony_core::Timestamp;
use symphony_core::command_line::text_elsewhere;
use symphony_core::id::ProjectId;
use symphony_core::invariant::{Invariant, Violation};
use symphony_store::{AuditRequest, Project, Store};

use crate::error::RunnerError;
use crate::installation::Installation;
use crate::repository::{BaseProblem, open_repository};
use crate::tick::observe_with_phases;

/// What an audit does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditStep {
    /// Look at the database.
    Database(symphony_store::AuditStep),
    /// Look at the repository, the worktrees and the files of a project.
    Project(ProjectId),
}

/// Checks every invariant that can be stated on the store, refs, worktrees, processes and files. What a running command
/// is just changing may look broken: look again. Each step is reported before it is taken.
///
/// # Errors
/// When the database or the table of processes cannot be read.
pub fn audit(
    installation: &Installation,
    store: &mut Store,
    now: Timestamp,
    watch: &mut dyn FnMut(&AuditStep),
) -> Result<Vec<Violation>, RunnerError> {
    let snapshot = observe_with_phases(installation, store, now)?;
    let stranded = stranded::check(store, &snapshot, now)?;
    let request = AuditRequest {
        projects: snapshot.projects,
        slots: snapshot.slots,
    };
    let mut found = store.audit_watched(&request, &mut |step| watch(&AuditStep::Database(step)))?;
    found.extend(snapshot.base.gone.iter().map(|gone| {
        let subject = format!("branch {} of project {}", gone.branch, gone.project);
        Violation::new(Invariant::L1, subject, gone.text())
    }));
    let left = snapshot.left_worktrees.iter();
    found.extend(
        left.filter(|left| left.is_for_person(now))
            .map(|left| Violation::new(Invariant::I13, left.path.clone(), left.text())),
    );
    let lost = snapshot.lost_documents.iter();
    found.extend(lost.map(|lost| {
        let subject = format!("document {} of {}", lost.path, lost.issue);
        Violation::new(Invariant::I18, subject, lost.text())
    }));
    found.extend(stranded);
    processes::check(store, now, &mut found)?;
    for project in store.projects()? {
        watch(&AuditStep::Project(project.id.clone()));
        check_project(installation, store, &project, now, &mut found)?;
    }
    Ok(found)
}

/// Checks what can be seen of one project. What cannot be looked at is itself a finding: the rest is checked
/// nevertheless.
fn check_project(
    installation: &Installation,
    store: &mut Store,
    project: &Project,
    now: Timestamp,
    found: &mut Vec<Violation>,
) -> Result<(), RunnerError> {
    let config = match installation.project_config(project) {
        Ok(config) => config,
        // Without it, nothing of the project can be found; `doctor` says what is wrong with it.
        Err(error) => {
            found.push(unseen(
                project,
                "its repository was not checked",
                &error.to_string(),
            ));
            return Ok(());
        }
    };
    let seen = run_files::check(store, project, &config, now, found);
    or_unseen(seen, project, "its run files were not checked", found)?;
    let repository = match open_repository(project, &config) {
        Ok(repository) => repository,
        Err(error) => {
            let problem = BaseProblem::of(project, &error);
            found.push(unseen(
                project,
                "its repository was not checked",
                &problem.to_string(),
            ));
            return Ok(());
        }
    };
    let seen = worktrees::check(store, project, &repository, found);
    or_unseen(
        seen,
        project,
        "not all of its worktrees were checked",
        found,
    )?;
    let seen = branches::check(store, project, &repository, found);
    or_unseen(
        seen,
        project,
        "not all of its pull requests were checked",
        found,
    )?;
    let seen = unknown::check(store, &repository, found);
    or_unseen(seen, project, "not all of its branches were checked", found)?;
    let seen = left_locks::check(&repository, found);
    or_unseen(
        seen,
        project,
        "its repository was not searched for git's locks",
        found,
    )?;
    let base = match repository.base() {
        Ok(base) => base,
        Err(error) => {
            let what = "it was not searched for secret values, nor for merges that the database does not know";
            return or_unseen(Err(error.into()), project, what, found);
        }
    };
    let seen = landed::check(store, project, &repository, &base, found);
    or_unseen(
        seen,
        project,
        "it was not searched for merges that the database does not know",
        found,
    )?;
    let seen = secrets::check(store, project, &repository, &base, found);
    or_unseen(
        seen,
        project,
        "it was not searched for secret values",
        found,
    )
}

/// Turns an error in one project's files or repository into a finding. Without the database nothing is left to check.
fn or_unseen(
    seen: Result<(), RunnerError>,
    project: &Project,
    what: &str,
    found: &mut Vec<Violation>,
) -> Result<(), RunnerError> {
    match seen {
        Err(RunnerError::Workspace(error)) => {
            let problem = BaseProblem::of(project, &error).to_string();
            found.push(unseen(project, what, &problem));
            Ok(())
        }
        Err(error @ RunnerError::Io { .. }) => {
            found.push(unseen(project, what, &error.with_causes()));
            Ok(())
        }
        seen => seen,
    }
}

/// Creates the finding; its commands work from any folder.
fn unseen(project: &Project, what: &str, why: &str) -> Violation {
    let subject = format!("project {}", project.id);
    let why = if project.root.is_dir() {
        text_elsewhere(why, &project.root.display().to_string())
    } else {
        why.to_owned()
    };
    Violation::new(Invariant::I13, subject, format!("{what}: {why}"))
}

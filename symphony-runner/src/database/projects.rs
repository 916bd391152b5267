//! What a person does with a project as a whole: move it, or remove it from the installation.

use std::path::Path;

use symphony_core::Timestamp;
use symphony_core::id::ProjectId;
use symphony_core::issue::{DependentEffect, DependentsFate};
use symphony_store::{Project, Store};
use symphony_workspace::{
    BranchFate, BranchName, RemoveRequest, Repository, WorktreeKey, discover, read_marker,
    remove_marker,
};

use super::marker::adopt;
use super::moved::{refuse_held, repair_worktrees};
use super::refusal::DatabaseRefusal;
use crate::cancel::end_run_of;
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::person::as_person;
use crate::repository::open_repository;

/// What happens to the worktrees of a removed project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorktreesFate {
    /// They stay, with their content.
    Keep,
    /// They are removed; uncommitted work is saved to rescue refs. Branches stay.
    Remove,
}

/// What the removal of a project did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedProject {
    /// Worktrees that were removed.
    pub worktrees: Vec<String>,
    /// Rescue refs that were made.
    pub rescues: Vec<String>,
    /// Branches of Symphony's that stay.
    pub branches: Vec<String>,
    /// What happened to the issues of other projects that depended on it.
    pub dependents: Vec<DependentEffect>,
}

/// What happens to what a removed project leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProjectFates {
    /// To its worktrees.
    pub worktrees: WorktreesFate,
    /// To the open issues of other projects that depend on its own.
    pub dependents: DependentsFate,
}

/// Records that a project's repository was moved to another folder.
///
/// # Errors
/// When the folder is another repository, the project is still in its old one, or runs are active.
pub fn move_project(
    installation: &Installation,
    store: &mut Store,
    id: &ProjectId,
    to: &Path,
) -> Result<Project, RunnerError> {
    let project = store.project(id)?;
    let root = discover(to)?.root;
    if root == project.root {
        return Ok(project);
    }
    let known = |folder: &Path| {
        let marker = read_marker(folder)?;
        Some(marker.project == *id && Some(marker.installation) == store.installation().ok()?)
    };
    if known(&project.root) == Some(true) {
        let (project, root) = (project.id, project.root);
        return Err(DatabaseRefusal::StillThere { project, root }.into());
    }
    let is_free = known(&root).is_none() && !project.root.exists();
    if known(&root) != Some(true) && !is_free {
        let project = project.id;
        return Err(DatabaseRefusal::AnotherRepository { root, project }.into());
    }
    refuse_held(&root, &format!("project {id} is to be moved"))?;
    let from = project.root;
    let moved = store.move_project(&as_person(Timestamp::now()), id, &root)?;
    repair_worktrees(installation, &root, &from);
    adopt(installation, store, None, id, &root)?;
    Ok(moved)
}

/// Returns the names of a project's worktrees.
///
/// # Errors
/// When its repository cannot be read.
pub fn worktrees_of(
    installation: &Installation,
    project: &Project,
) -> Result<Vec<String>, RunnerError> {
    if !project.root.exists() {
        return Ok(Vec::new());
    }
    let listed = repository_of(installation, project)?.list_worktrees()?;
    Ok(listed.into_iter().map(|worktree| worktree.name).collect())
}

/// Removes a project from the installation. Branches and all its records stay.
///
/// # Errors
/// While its runs or plans are active, or when a worktree cannot be removed safely: the project stays then.
pub fn remove_project(
    installation: &Installation,
    store: &mut Store,
    id: &ProjectId,
    fates: ProjectFates,
) -> Result<RemovedProject, RunnerError> {
    let project = store.project(id)?;
    refuse_held(&project.root, &format!("project {id} is to be removed"))?;
    let mut removed = RemovedProject {
        worktrees: Vec::new(),
        rescues: Vec::new(),
        branches: Vec::new(),
        dependents: Vec::new(),
    };
    let exists = project.root.exists();
    if exists {
        let repository = repository_of(installation, &project)?;
        if fates.worktrees == WorktreesFate::Remove {
            remove_worktrees(&repository, &mut removed)?;
        }
        let branches = repository.branches()?.into_iter();
        removed.branches = branches
            .filter(|branch| symphony_workspace::is_own_branch(branch))
            .collect();
    }
    if fates.dependents == DependentsFate::Cancel {
        for effect in store.dependents_on_project(id)?.settled(fates.dependents) {
            end_run_of(
                installation,
                store,
                &as_person(Timestamp::now()),
                &effect.issue,
            )?;
        }
    }
    removed.dependents =
        store.remove_project(&as_person(Timestamp::now()), id, fates.dependents)?;
    if exists {
        remove_marker(&project.root)?;
    }
    Ok(removed)
}

fn remove_worktrees(
    repository: &Repository,
    removed: &mut RemovedProject,
) -> Result<(), RunnerError> {
    let base = repository.base()?.branch;
    for listed in repository.list_worktrees()? {
        let branch = listed
            .branch
            .as_deref()
            .map(BranchName::parse)
            .transpose()?;
        let done = repository.remove_worktree(&RemoveRequest {
            key: &WorktreeKey::from_folder(&listed.name),
            branch: branch.as_ref(),
            base: &base,
            fate: BranchFate::Keep,
            now: Timestamp::now(),
        })?;
        let submodules = done.submodules.into_iter().map(|saved| saved.rescue);
        let rescues = done.rescues.into_iter().chain(submodules);
        let rescues = rescues.map(|rescue| rescue.reference);
        removed.rescues.extend(rescues);
        removed.worktrees.push(listed.name);
    }
    Ok(())
}

fn repository_of(
    installation: &Installation,
    project: &Project,
) -> Result<Repository, RunnerError> {
    let config = installation.project_config(project)?;
    Ok(open_repository(project, &config)?)
}

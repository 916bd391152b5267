//! Worktrees: direct children of their folder, each of one issue or phase, on its branch (I13).

use std::collections::{BTreeMap, BTreeSet};

use symphony_core::invariant::{Invariant, Violation};
use symphony_core::tick::LockState;
use symphony_store::{IssueFilter, Project, Store};
use symphony_workspace::{BranchName, ListedWorktree, Repository, WorktreeKey, WorktreeState};

use crate::error::RunnerError;
use crate::gates::checkout_owner;
use crate::paths::RunPaths;
use crate::process::lock_state;

/// Prefix of temporary worktrees (`_scanner-…`, `_merge-…`): each belongs to a command or a run.
const TEMPORARY: &str = "_";
/// Prefix of the worktrees of plan phases.
const PLAN: &str = "plan-";

pub(super) fn check(
    store: &mut Store,
    project: &Project,
    repository: &Repository,
    found: &mut Vec<Violation>,
) -> Result<(), RunnerError> {
    if let Err(error) = repository.require_worktrees_folder() {
        let subject = repository.workspaces_dir().display().to_string();
        let detail = error.to_string();
        found.push(Violation::new(Invariant::I13, subject, detail));
    }
    let mut branches = BTreeMap::new();
    let filter = IssueFilter {
        project: Some(project.id.clone()),
        ..IssueFilter::default()
    };
    for issue in store.list_issues(&filter)?.items {
        let branch = BranchName::of_issue(&issue.id).as_str().to_owned();
        branches.insert(WorktreeKey::of(issue.id.as_str()).to_string(), branch);
    }
    // What an agent does in its worktree is settled when its run ends.
    let busy: BTreeSet<String> = store
        .live_runs()?
        .iter()
        .filter_map(|run| run.target.issue())
        .map(|id| WorktreeKey::of(id.as_str()).to_string())
        .collect();
    for listed in repository.list_worktrees()? {
        if let Some(detail) = problem(&listed, &branches)
            && !busy.contains(&listed.name)
            && !holds_gates(project, &listed.name)
        {
            let subject = listed.path.display().to_string();
            found.push(Violation::new(Invariant::I13, subject, detail));
        }
    }
    check_agents_folders(store, repository, found)?;
    check_depth(repository, found)
}

/// What an agent committed comes in when its run ends. Where it did not, the agent's git folder is still in place.
fn check_agents_folders(
    store: &Store,
    repository: &Repository,
    found: &mut Vec<Violation>,
) -> Result<(), RunnerError> {
    let live = store.live_runs()?.into_iter().map(|run| run.worktree);
    // of one that starts it is not known yet
    let Some(live) = live.collect::<Option<BTreeSet<String>>>() else {
        return Ok(());
    };
    for path in repository.worktrees_of_agents() {
        let is_live = |worktree: &String| path.ends_with(worktree);
        if !live.iter().any(is_live) {
            let detail = "its agent's git folder is still in place, and no run of it is live: what the agent committed comes in when \
                          the next run of its issue is prepared, or when `symphony clean` removes the worktree";
            let subject = path.display().to_string();
            found.push(Violation::new(Invariant::I13, subject, detail.to_owned()));
        }
    }
    Ok(())
}

/// Returns whether a folder is the checkout of running gates, of a run or of a command in the foreground: both hold a
/// lock.
fn holds_gates(project: &Project, folder: &str) -> bool {
    checkout_owner(folder).is_some_and(|id| {
        let lock = RunPaths::new(&project.root, &id).lock();
        matches!(lock_state(&lock), Ok(LockState::Held))
    })
}

fn problem(listed: &ListedWorktree, branches: &BTreeMap<String, String>) -> Option<String> {
    let is_link = listed
        .path
        .symlink_metadata()
        .is_ok_and(|meta| meta.is_symlink());
    if is_link {
        return Some("it is a link, not a folder".to_owned());
    }
    match &listed.state {
        WorktreeState::NotRegistered => return Some("git knows no worktree there".to_owned()),
        WorktreeState::FolderGone => {
            return Some(
                "its folder is gone; `symphony clean` removes git's record of it".to_owned(),
            );
        }
        // The next run completes an interrupted creation.
        _ => {}
    }
    if listed.name.starts_with(TEMPORARY) || listed.name.starts_with(PLAN) {
        return None;
    }
    let Some(expected) = branches.get(&listed.name) else {
        return Some("it belongs to no issue of the project".to_owned());
    };
    (listed.branch.as_ref() != Some(expected)).then(|| {
        let branch = listed.branch.as_deref().unwrap_or("no branch");
        format!("it has {branch} checked out, not {expected}")
    })
}

/// A worktree inside another one belongs to no one.
fn check_depth(repository: &Repository, found: &mut Vec<Violation>) -> Result<(), RunnerError> {
    let root = repository.workspaces_dir();
    let root = root.canonicalize().unwrap_or(root);
    for registration in repository.registrations()? {
        let below = registration.path.strip_prefix(&root).ok();
        if below.is_some_and(|below| below.components().count() > 1) {
            let subject = registration.path.display().to_string();
            let detail = format!("it is not a direct child of {}", root.display());
            found.push(Violation::new(Invariant::I13, subject, detail));
        }
    }
    Ok(())
}

//! Temporary worktrees of runs that have ended: found by their folders, since a run records nothing that lasts longer than it.

use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::config::ProjectConfig;
use symphony_core::id::RunId;
use symphony_core::inbox::LeftWorktree;
use symphony_core::run::Run;
use symphony_store::{Project, Store, StoreError};
use symphony_workspace::WorktreeKey;

use crate::error::RunnerError;
use crate::repository::open_repository;

/// What the folder of a temporary worktree begins with; no issue's does.
pub(crate) const MARK: &str = "_";
/// Folders that one look reads: the next one sees the rest.
const LOOKED_AT_MAX: usize = 50;

/// Lists the folders of temporary worktrees, with the runs they were made for, oldest run first.
pub(crate) fn temporary_folders(config: &ProjectConfig) -> Vec<(WorktreeKey, RunId)> {
    // not there before the first worktree is
    let Ok(entries) = std::fs::read_dir(&config.workspaces_dir) else {
        return Vec::new();
    };
    let mut found: Vec<(WorktreeKey, RunId)> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let (_, run) = name.strip_prefix(MARK)?.split_once('-')?;
            let run = RunId::parse(run).ok()?;
            Some((WorktreeKey::from_folder(&name), run))
        })
        .collect();
    found.sort_by(|a, b| a.1.cmp(&b.1));
    found.truncate(LOOKED_AT_MAX);
    found
}

/// Returns the temporary worktrees of a project's runs that have ended.
///
/// # Errors
/// When the database cannot be read, or git fails.
pub fn left_worktrees(
    store: &Store,
    project: &Project,
    config: &ProjectConfig,
) -> Result<Vec<LeftWorktree>, RunnerError> {
    let mut left = Vec::new();
    for (key, id) in temporary_folders(config) {
        let run = match store.run(&id) {
            Ok(run) => run,
            // its checkout may be that of a command, or of a run that an older copy of the database does not know
            Err(StoreError::NotFound { .. }) => continue,
            Err(error) => return Err(error.into()),
        };
        if run.status.is_live() || run.agent == AgentType::Gates {
            continue;
        }
        let rescues = open_repository(project, config)?.rescues_of(&key)?;
        left.push(left_worktree(project, config, run, &key, rescues));
    }
    Ok(left)
}

fn left_worktree(
    project: &Project,
    config: &ProjectConfig,
    run: Run,
    key: &WorktreeKey,
    rescues: Vec<String>,
) -> LeftWorktree {
    LeftWorktree {
        project: project.id.clone(),
        ended_at: run.ended_at.unwrap_or(run.started_at),
        agent: run.agent,
        status: run.status,
        error: run.error.map(|error| error.message),
        path: config
            .workspaces_dir
            .join(key.as_str())
            .display()
            .to_string(),
        // their names end with the time
        rescue: rescues.into_iter().next_back(),
        run: run.id,
    }
}

/// Saves what is in a temporary worktree whose run has ended, and removes it; returns what was done, in words. A person who asks for
/// it has looked at one that was tampered with.
///
/// # Errors
/// When something in it cannot be saved: it stays.
pub fn clear_left_worktree(
    project: &Project,
    config: &ProjectConfig,
    left: &LeftWorktree,
) -> Result<String, RunnerError> {
    let repository = open_repository(project, config)?;
    let key = left_key(left);
    let base = repository.base()?.branch;
    let cleared = repository.clear_temporary(&key, &base, Timestamp::now())?;
    let mut parts = vec![match &cleared.moved {
        Some(to) => format!(
            "{}: moved to {}, since git does not know it",
            key,
            to.display()
        ),
        None => format!("{key}: worktree removed"),
    }];
    parts.extend(
        cleared
            .rescues
            .iter()
            .map(|rescue| format!("unsaved work kept in {rescue}")),
    );
    Ok(parts.join(", "))
}

fn left_key(left: &LeftWorktree) -> WorktreeKey {
    WorktreeKey::of(&format!("{MARK}{}-{}", left.agent, left.run))
}

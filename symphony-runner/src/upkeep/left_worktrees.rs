//! Temporary worktrees of ended runs. They are found by their folders, since no record of them outlives the run.

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

/// The prefix of the folders of temporary worktrees, which no issue's worktree has.
pub(crate) const MARK: &str = "_";
/// How many folders are read at once. The next time reads the others.
const LOOKED_AT_MAX: usize = 50;

/// Lists the folders of temporary worktrees and the runs that they were made for, oldest run first.
pub(crate) fn temporary_folders(config: &ProjectConfig) -> Vec<(WorktreeKey, RunId)> {
    // The folder does not exist before the first worktree is made.
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

/// Returns the temporary worktrees of a project's ended runs.
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
            // It may be the checkout of a command, or of a run that an older copy of the database does not know.
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
        // Their names end with the time, so the last one is the newest.
        rescue: rescues.into_iter().next_back(),
        run: run.id,
    }
}

/// Saves the contents of a temporary worktree whose run has ended, and removes it. Returns a message about what was
/// done. For one that was tampered with, a person must have looked at it before.
///
/// # Errors
/// When its contents cannot be saved. Then it stays.
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

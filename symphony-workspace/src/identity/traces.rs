//! What earlier work left in a repository.

use std::fs;
use std::path::Path;

use symphony_core::id::{IssueId, RunId};
use symphony_core::identity::Traces;

use crate::error::WorkspaceError;
use crate::git::fields;
use crate::own_file::read_own_text;
use crate::repository::{Repository, RepositoryOptions};

/// Folders of runs, each with the files of one.
const RUNS: &str = ".symphony/runs";
/// The file in a run's folder that holds its fencing number.
const FENCE_FILE: &str = "fence";
/// Folder of worktrees that were moved out of the way.
const LEFTOVERS: &str = ".leftover";

/// Searches for traces of earlier work: folders of runs, branches, rescue refs, worktrees. A folder outside of a
/// repository can only have runs.
///
/// # Errors
/// When git fails.
pub fn find_traces(root: &Path, options: RepositoryOptions) -> Result<Traces, WorkspaceError> {
    let mut traces = Traces::default();
    for name in names_in(&root.join(RUNS)) {
        if let Ok(run) = RunId::parse(name) {
            let fence = read_own_text(&root.join(RUNS).join(run.as_str()).join(FENCE_FILE));
            let fence = fence.ok().and_then(|text| text.trim().parse().ok());
            traces.fence = traces.fence.max(fence);
            traces.runs.push(run);
        }
    }
    let repository = match Repository::open(root, options) {
        Ok(repository) => repository,
        Err(WorkspaceError::NotARepository { .. } | WorkspaceError::NoCommits { .. }) => {
            return Ok(traces);
        }
        Err(error) => return Err(error),
    };
    let refs = repository
        .git
        .command("for-each-ref")
        .args([
            "--format=%(refname)%00",
            "refs/heads/symphony/",
            "refs/symphony/rescue/",
        ])
        .run()?;
    for name in fields(&refs).filter_map(|name| str::from_utf8(name).ok()) {
        let name = name.trim_start_matches('\n');
        if let Some(branch) = name.strip_prefix("refs/heads/") {
            if is_own_branch(branch) {
                traces.branches.push(branch.to_owned());
            }
        } else if let Some(rest) = name.strip_prefix("refs/symphony/rescue/")
            && let Some((key, _time)) = rest.split_once('/')
        {
            traces.rescued.push(key.to_owned());
        }
    }
    let worktrees = repository.workspaces_dir();
    traces.worktrees = repository
        .list_worktrees()?
        .into_iter()
        .map(|listed| listed.name)
        .chain(names_in(&worktrees.join(LEFTOVERS)))
        .collect();
    Ok(traces)
}

/// Returns whether a branch name is one that Symphony creates: those of issues and of plans. Other branches below
/// `symphony/` are a person's.
pub fn is_own_branch(name: &str) -> bool {
    name.strip_prefix("symphony/").is_some_and(|rest| {
        IssueId::parse(rest).is_ok() || rest.starts_with("plan-") && rest.contains('/')
    })
}

/// Lists the names in a folder, sorted; empty for a folder that cannot be read.
fn names_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

//! Repositories inside a worktree that git holds as submodules: is anything only there?

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::status::tracked_changes;
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::git::{Git, Place, fields};

/// Returns the submodules whose loss would lose work: repositories of their own, other commits than
/// the recorded one, changed files.
pub(super) fn unsaved_submodules(git: &Git) -> Result<Vec<PathBuf>, WorkspaceError> {
    let list = git.command("ls-files").args(["--stage", "-z"]).run()?;
    let mut unsaved = Vec::new();
    for entry in fields(&list).filter(|entry| entry.starts_with(b"160000 ")) {
        let Some(tab) = entry.iter().position(|byte| *byte == b'\t') else {
            continue;
        };
        let path = Path::new(OsStr::from_bytes(entry.get(tab + 1..).unwrap_or_default()));
        let recorded = entry
            .get(7..)
            .and_then(|rest| str::from_utf8(rest.split(|byte| *byte == b' ').next()?).ok());
        if !is_saved(git, path, recorded.unwrap_or_default())? {
            unsaved.push(path.to_owned());
        }
    }
    Ok(unsaved)
}

fn is_saved(git: &Git, path: &Path, recorded: &str) -> Result<bool, WorkspaceError> {
    let folder = git.work_tree().join(path);
    let Ok(meta) = fs::symlink_metadata(folder.join(".git")) else {
        // Not checked out: git keeps an empty folder.
        return Ok(true);
    };
    let Some(git_dir) = meta.is_file().then(|| module_dir(git, &folder)).flatten() else {
        return Ok(false);
    };
    // Pinned and hardened like every other place: what it configures does not run.
    let inner = git.at(Place {
        git_dir: git_dir.clone(),
        common_dir: git_dir,
        work_tree: folder,
    });
    let answer = inner
        .command("rev-parse")
        .args(["--verify", "--quiet", "HEAD^{commit}"])
        .answer(&[0, 1, 128])?;
    let head = String::from_utf8_lossy(&answer.stdout)
        .trim_end()
        .to_owned();
    let same = CommitId::parse(&head).is_ok_and(|head| head.as_str() == recorded);
    Ok(same && tracked_changes(&inner)?.is_empty())
}

/// Returns the git folder of a submodule, when it is one that git keeps below the repository's own.
fn module_dir(git: &Git, folder: &Path) -> Option<PathBuf> {
    let bytes = fs::read(folder.join(".git")).ok()?;
    let target = bytes.strip_prefix(b"gitdir: ")?.trim_ascii_end();
    let real = folder.join(OsStr::from_bytes(target)).canonicalize().ok()?;
    let modules = [
        git.place().git_dir.join("modules"),
        git.place().common_dir.join("modules"),
    ];
    modules
        .iter()
        .filter_map(|modules| modules.canonicalize().ok())
        .any(|modules| real.starts_with(modules))
        .then_some(real)
}

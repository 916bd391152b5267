//! Repositories inside a worktree that its index holds as links: does any of their work exist only there?

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::status::status_of;
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::git::{Git, Link, Place, fields};
use crate::own_file::read_file;

/// What is checked out at a link.
#[derive(Debug)]
pub(crate) enum Inner {
    /// Nothing: git keeps an empty folder.
    Absent,
    /// A repository of its own, with its git folder inside.
    Own(Git),
    /// A submodule, whose git folder is below the repository's own.
    Module(Git),
    /// Something whose git folder is elsewhere: it is not inspected.
    Elsewhere,
}

/// Returns the links in the index.
pub(crate) fn links_of_index(git: &Git) -> Result<Vec<Link>, WorkspaceError> {
    let list = git.command("ls-files").args(["--stage", "-z"]).run()?;
    Ok(links(&list, 1))
}

/// Returns the links in a commit.
pub(crate) fn links_of_commit(git: &Git, commit: &CommitId) -> Result<Vec<Link>, WorkspaceError> {
    let list = git
        .command("ls-tree")
        .args(["-r", "-z", "--full-tree", commit.as_str()])
        .run()?;
    Ok(links(&list, 2))
}

/// Reads `160000 <commit> <stage>\t<path>` and `160000 commit <commit>\t<path>`; `field` is the commit's.
fn links(list: &[u8], field: usize) -> Vec<Link> {
    fields(list)
        .filter(|entry| entry.starts_with(b"160000 "))
        .filter_map(|entry| {
            let tab = entry.iter().position(|byte| *byte == b'\t')?;
            let (meta, path) = entry.split_at(tab);
            let commit = meta.split(|byte| *byte == b' ').nth(field)?;
            Some(Link {
                path: Path::new(OsStr::from_bytes(path.get(1..)?)).to_owned(),
                commit: str::from_utf8(commit).ok()?.to_owned(),
            })
        })
        .collect()
}

/// Returns what is checked out at a path. Git at the inner repository is pinned and hardened like every other: what it
/// configures does not run.
pub(crate) fn inner_at(git: &Git, path: &Path) -> Inner {
    let folder = git.work_tree().join(path);
    // A symbolic link in the path leads to a folder outside of the worktree.
    let mut above = path
        .ancestors()
        .filter(|above| !above.as_os_str().is_empty());
    let is_link = |above: &Path| {
        let meta = fs::symlink_metadata(git.work_tree().join(above));
        meta.is_ok_and(|meta| meta.is_symlink())
    };
    if above.any(is_link) {
        return Inner::Elsewhere;
    }
    let Ok(meta) = fs::symlink_metadata(folder.join(".git")) else {
        return Inner::Absent;
    };
    let at = |git_dir: PathBuf| {
        git.at(Place {
            common_dir: git_dir.clone(),
            git_dir,
            work_tree: folder.clone(),
        })
    };
    if meta.is_dir() {
        return Inner::Own(at(folder.join(".git")));
    }
    match meta.is_file().then(|| module_dir(git, &folder)).flatten() {
        Some(git_dir) => Inner::Module(at(git_dir)),
        None => Inner::Elsewhere,
    }
}

/// Returns the commit that an inner repository has checked out; `None` before its first commit.
fn inner_head(inner: &Git) -> Result<Option<CommitId>, WorkspaceError> {
    let answer = inner
        .command("rev-parse")
        .args(["--verify", "--quiet", "HEAD^{commit}"])
        .answer(&[0, 1, 128])?;
    let head = String::from_utf8_lossy(&answer.stdout)
        .trim_end()
        .to_owned();
    Ok(CommitId::parse(&head).ok())
}

/// Returns whether an inner repository has commits that none of its remote-tracking branches has.
pub(crate) fn has_unpublished_commits(inner: &Git) -> Result<bool, WorkspaceError> {
    let answer = inner
        .command("rev-list")
        .args(["-n", "1", "HEAD", "--not", "--remotes"])
        .answer(&[0, 128])?;
    Ok(answer.code != 0 || !answer.stdout.is_empty())
}

/// Returns whether an inner repository differs from its link by a commit or a change, or holds another repository. Its
/// untracked files do not count: they are mostly build output.
pub(crate) fn differs_from_link(inner: &Git, link: &Link) -> Result<bool, WorkspaceError> {
    if inner_head(inner)?.is_none_or(|head| head.as_str() != link.commit) {
        return Ok(true);
    }
    let status = status_of(inner, &BTreeSet::new())?;
    Ok(status.is_dirty() || !status.embedded.is_empty())
}

/// Returns the submodules whose loss would lose work: repositories of their own, other commits than
/// the recorded one, changed files.
pub(super) fn unsaved_submodules(git: &Git) -> Result<Vec<PathBuf>, WorkspaceError> {
    let mut unsaved = Vec::new();
    for link in links_of_index(git)? {
        let is_saved = match inner_at(git, &link.path) {
            Inner::Absent => true,
            Inner::Own(_) | Inner::Elsewhere => false,
            Inner::Module(inner) => !differs_from_link(&inner, &link)?,
        };
        if !is_saved {
            unsaved.push(link.path);
        }
    }
    Ok(unsaved)
}

/// Returns the git folder of a submodule if git keeps it below the repository's own.
fn module_dir(git: &Git, folder: &Path) -> Option<PathBuf> {
    let bytes = read_file(&folder.join(".git")).ok()?;
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

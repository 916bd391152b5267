//! Gives an agent its own git folder.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::exchange;
use super::note::{Note, Stage};
use super::place::Workbench;
use super::settings::{excludes_for_agent, kept, user_settings};
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::failpoint::Failpoint;
use crate::git::{copy_shallow, is_partial};
use crate::import::head_in_folder;
use crate::pristine::{borrow_objects, config_text};
use crate::repository::{BranchName, Repository, head_reference};
use crate::worktree::{Worktree, refuse_link};

/// Files of a worktree's registration that the agent's folder gets as they are.
const COPIED: &[&str] = &["index", "info/sparse-checkout"];

/// How the other parts of a split index begin.
const SHARED_INDEX: &str = "sharedindex.";

/// The most bytes of refs that a folder is given, a half of what is read when it is taken.
const REFS_BYTES_MAX: usize = 4 * 1024 * 1024;

const TAGS: &str = "refs/tags";

/// Where git keeps the repositories of submodules.
const MODULES: &str = "modules";

impl Repository {
    /// Gives the agent of a worktree a git folder of its own: the state of the worktree, its branch, `branches` to compare
    /// with, and the tags. It borrows the project's objects, and has no remote and no hooks. Returns whether it did: the
    /// user's own checkout stays as it is, as do worktrees of a partial clone, which fetches objects when they are read.
    ///
    /// Must be followed by [`Repository::take_git_folder`] when the agent has ended.
    ///
    /// # Errors
    /// When git fails, or a file cannot be read or written.
    pub fn give_git_folder(
        &self,
        worktree: &Worktree,
        branches: &[&BranchName],
    ) -> Result<bool, WorkspaceError> {
        let _one_at_a_time = exchange();
        let branches = branches.iter().map(|branch| branch.reference()).collect();
        self.give_git_folder_with(worktree, branches)
    }

    pub(super) fn give_git_folder_with(
        &self,
        worktree: &Worktree,
        branches: Vec<String>,
    ) -> Result<bool, WorkspaceError> {
        let place = worktree.place();
        if place.git_dir == place.common_dir || is_partial(&place.common_dir.join("objects")) {
            return Ok(false);
        }
        self.take_agents(worktree)?;
        self.forget_imported(worktree.key())?;
        let head = self.head(worktree)?;
        let tip = match worktree.branch() {
            Some(branch) => self.branch_head(branch)?,
            None => None,
        };
        let mut note = Note {
            stage: Stage::Making,
            head,
            tip,
            branches,
            logged: 0,
            branch_logged: 0,
        };
        note.write(&place.git_dir)?;
        let bench = Workbench::make(worktree)?;
        self.lay_out_agents(worktree, &note, &bench.new_git())?;
        bench.put()?;
        Failpoint::GitFolderMade.reach();
        note.stage = Stage::Given;
        note.write(&place.git_dir)?;
        Ok(true)
    }

    fn lay_out_agents(
        &self,
        worktree: &Worktree,
        note: &Note,
        folder: &Path,
    ) -> Result<(), WorkspaceError> {
        let place = worktree.place();
        let head = match head_reference(&worktree.git)? {
            Some(reference) => format!("ref: {reference}\n"),
            None => format!("{}\n", note.head),
        };
        let refs = self.refs_for_agent(worktree, &note.branches)?;
        let list = settings_of(worktree)?;
        let user = worktree.git.user();
        let settings = user_settings(user) + &kept(&list);
        let excludes = excludes_for_agent(&place.common_dir, &list, user)
            .map_err(|source| WorkspaceError::io("read the excludes of", &self.root, source))?;
        let write = || -> io::Result<()> {
            borrow_objects(folder, &place.common_dir)?;
            fs::create_dir_all(folder.join("logs/refs/heads"))?;
            fs::write(folder.join("HEAD"), head)?;
            fs::write(folder.join("packed-refs"), refs)?;
            fs::write(folder.join("info/exclude"), &excludes)?;
            for name in COPIED {
                copy(&place.git_dir.join(name), &folder.join(name))?;
            }
            for name in shared_indexes(&place.git_dir)? {
                copy(&place.git_dir.join(&name), &folder.join(&name))?;
            }
            // Repositories of submodules stay where they are: git makes new ones behind the link, and writes their full
            // path into the checkout.
            let modules = place.git_dir.join(MODULES);
            fs::create_dir_all(&modules)?;
            symlink(modules, folder.join(MODULES))?;
            let config = config_text(folder, &place.common_dir, note.head.is_sha256()) + &settings;
            fs::write(folder.join("config"), config)
        };
        write().map_err(|source| WorkspaceError::io("make the git folder", folder, source))?;
        copy_shallow(&place.common_dir, folder)
    }

    /// Returns the refs of an agent's folder, as the text of `packed-refs`.
    fn refs_for_agent(
        &self,
        worktree: &Worktree,
        branches: &[String],
    ) -> Result<Vec<u8>, WorkspaceError> {
        let project = self.base().ok().map(|base| base.branch.reference());
        let own = worktree.branch().map(BranchName::reference);
        let mut patterns: Vec<&str> = [own.as_deref(), project.as_deref()]
            .into_iter()
            .flatten()
            .chain(branches.iter().map(String::as_str))
            .collect();
        patterns.push(TAGS);
        let refs = self.refs_of(&patterns)?;
        if refs.len() <= REFS_BYTES_MAX {
            return Ok(refs);
        }
        // An agent hardly needs a hundred thousand tags, and could make them its own by the file that has them.
        patterns.retain(|pattern| *pattern != TAGS);
        self.refs_of(&patterns)
    }

    /// Returns the commit that the agent of a worktree has checked out now, without importing it.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn head_of_agent(&self, worktree: &Worktree) -> Result<CommitId, WorkspaceError> {
        match Note::read(&worktree.place().git_dir)? {
            Some(note) if note.stage == Stage::Given => {
                refuse_link(worktree.path())?;
                head_in_folder(worktree.path())
            }
            _ => self.head(worktree),
        }
    }
}

/// Lists the settings that count in a worktree, as NUL-terminated pairs of their scope and themselves.
fn settings_of(worktree: &Worktree) -> Result<Vec<u8>, WorkspaceError> {
    worktree
        .git
        .command("config")
        .args(["--includes", "--list", "--show-scope", "-z"])
        .run()
}

/// Copies a file, if it is there.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    match fs::copy(from, to) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn shared_indexes(git_dir: &Path) -> io::Result<Vec<std::ffi::OsString>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(git_dir)? {
        let name = entry?.file_name();
        if name
            .as_bytes()
            .starts_with(OsStr::new(SHARED_INDEX).as_bytes())
        {
            names.push(name);
        }
    }
    Ok(names)
}

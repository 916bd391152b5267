//! What an agent committed in a git folder of its own comes into the project's repository.
//!
//! Everything in that folder is the agent's: its configuration can name programs, its alternates another repository,
//! a link another folder. So git never opens it. Symphony reads its refs as text, copies its objects, which are data,
//! into a folder of Symphony's own, and git fetches from there: it checks every object, and that nothing is missing.

mod objects;
mod refs;

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use symphony_core::id::RunId;

use crate::commit_id::CommitId;
use crate::deep::remove_deep;
use crate::error::WorkspaceError;
use crate::git::copy_shallow;
use crate::linux::{Folder, is_link_error};
use crate::pristine::{FOLDERS, config_text};
use crate::repository::Repository;

/// Where objects wait to be checked, in the repository's git folder.
const WAITING: &str = "symphony-imports";

/// A folder there that is older belongs to a process that is dead.
const OLD: Duration = Duration::from_hours(6);

/// What keeps git's memory small: an agent can make an object of any size, which is tiny as a file, and git would compare them
/// with each other in memory. Larger ones are passed on as they are read.
const SETTINGS: &str = "[core]\n\tbigFileThreshold = 1m\n[pack]\n\tthreads = 1\n\twindow = 0\n";

/// The refs of what was imported, by run.
const IMPORTED: &str = "refs/symphony/runs";

/// What came from an agent's git folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The commit that was checked out.
    pub head: CommitId,
    /// The full name of the branch that was checked out; `None` when detached.
    pub branch: Option<String>,
    /// Other branches, and the newest entry of the stash, whose commits the repository did not have, by full name. They
    /// are kept below the head's ref.
    pub others: Vec<(String, CommitId)>,
    /// Names of other refs that were left out: their commits are not complete, or git would not take them.
    pub left_out: Vec<String>,
}

impl Repository {
    /// Brings the commits of an agent's own git folder into this repository, and keeps them by refs: the head by
    /// `refs/symphony/runs/<run>/head`, others by numbers beside it. Other refs stay as they are, and nothing in the
    /// agent's folder is executed, followed or changed.
    ///
    /// An agent can name any commit that the repository has as its head. Whether it descends from the commit that the run
    /// began with is the caller's question.
    ///
    /// # Errors
    /// [`WorkspaceError::Tampered`] when the folder is not what a git folder is made of, names no commit, lacks objects,
    /// or has more than can be copied; [`WorkspaceError::Git`] when git refuses an object.
    pub fn import(&self, checkout: &Path, run: &RunId) -> Result<Imported, WorkspaceError> {
        let tampered = |what: String| WorkspaceError::Tampered {
            path: checkout.to_owned(),
            what,
        };
        let folder = open_git_folder(checkout).map_err(|error| tampered(reason(&error)))?;
        let found = refs::read(&folder).map_err(|error| tampered(reason(&error)))?;
        let mut others = Vec::new();
        for (reference, commit) in found.others {
            if commit != found.head && !self.reader().has_commit(&commit)? {
                others.push((reference, commit));
            }
        }
        let waiting = Waiting::make(self.common_dir())
            .map_err(|source| WorkspaceError::io("make a folder in", self.common_dir(), source))?;
        self.lay_out_waiting(&waiting.0, &found.head, &others)?;
        objects::copy(&folder, &waiting.0.join("objects"))
            .map_err(|error| tampered(reason(&error)))?;
        self.fetch_waiting(&waiting.0, run, "head")?;
        let mut left_out = found.left_out;
        let mut kept = Vec::new();
        for (number, (reference, commit)) in others.into_iter().enumerate() {
            // One that is not complete must not cost the run's work.
            match self.fetch_waiting(&waiting.0, run, &number.to_string()) {
                Ok(()) => kept.push((reference, commit)),
                Err(WorkspaceError::Git { code: Some(_), .. }) => left_out.push(reference),
                Err(error) => return Err(error),
            }
        }
        Ok(Imported {
            head: found.head,
            branch: found.branch,
            others: kept,
            left_out,
        })
    }

    /// Makes a repository that has the refs to fetch, and borrows the objects of this one.
    fn lay_out_waiting(
        &self,
        git_dir: &Path,
        head: &CommitId,
        others: &[(String, CommitId)],
    ) -> Result<(), WorkspaceError> {
        let write = || -> io::Result<()> {
            for folder in FOLDERS {
                fs::create_dir_all(git_dir.join(folder))?;
            }
            let mut line = self
                .common_dir()
                .join("objects")
                .as_os_str()
                .as_bytes()
                .to_vec();
            line.push(b'\n');
            fs::write(git_dir.join("objects/info/alternates"), line)?;
            fs::write(git_dir.join("HEAD"), "ref: refs/heads/head\n")?;
            fs::write(git_dir.join("refs/heads/head"), format!("{head}\n"))?;
            for (number, (_, commit)) in others.iter().enumerate() {
                let path = git_dir.join(format!("refs/heads/{number}"));
                fs::write(path, format!("{commit}\n"))?;
            }
            let config = config_text(git_dir, self.common_dir(), head) + SETTINGS;
            fs::write(git_dir.join("config"), config)
        };
        write().map_err(|source| WorkspaceError::io("lay out", git_dir, source))?;
        copy_shallow(self.common_dir(), git_dir)
    }

    fn fetch_waiting(&self, git_dir: &Path, run: &RunId, from: &str) -> Result<(), WorkspaceError> {
        self.git
            .command("fetch")
            .fetching_a_folder()
            .args(["--quiet", "--no-tags", "--no-write-fetch-head"])
            .args(["--no-recurse-submodules", "--no-auto-maintenance", "--"])
            .arg(git_dir)
            .arg(format!("+refs/heads/{from}:{IMPORTED}/{run}/{from}"))
            .slow()
            .run()
            .map(drop)
    }
}

/// Opens the git folder in a checkout, without following a link.
fn open_git_folder(checkout: &Path) -> io::Result<Folder> {
    let checkout = Folder::open(checkout)?;
    checkout.folder(Path::new(".git"))
}

fn reason(error: &io::Error) -> String {
    if is_link_error(error) {
        "a link is in its git folder, or in the place of it".to_owned()
    } else {
        format!("its git folder: {error}")
    }
}

/// A folder for objects that are not checked yet. It is removed with this value.
struct Waiting(PathBuf);

impl Waiting {
    fn make(common_dir: &Path) -> io::Result<Self> {
        let above = common_dir.join(WAITING);
        fs::create_dir_all(&above)?;
        remove_old(&above)?;
        let made = tempfile::Builder::new().prefix("i").tempdir_in(&above)?;
        Ok(Self(made.keep()))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Err(error) = remove_deep(&self.0) {
            tracing::warn!(path = %self.0.display(), %error, "a folder of imported objects stays");
        }
    }
}

/// Removes what dead processes left.
fn remove_old(above: &Path) -> io::Result<()> {
    for entry in fs::read_dir(above)? {
        let entry = entry?;
        let age = entry
            .metadata()
            .and_then(|meta| meta.modified())
            .map(|modified| {
                SystemTime::now()
                    .duration_since(modified)
                    .unwrap_or_default()
            });
        if age.is_ok_and(|age| age > OLD) {
            remove_deep(&entry.path())?;
        }
    }
    Ok(())
}

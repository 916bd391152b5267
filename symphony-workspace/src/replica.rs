//! A replica: a repository of its own that has the history of another one up to a commit, and nothing that came after
//! it.

use std::fs;
use std::path::Path;

use crate::change::overwrite;
use crate::commit_id::CommitId;
use crate::copy::{CopyReport, copy_into};
use crate::error::WorkspaceError;
use crate::git::{Git, Place, copy_shallow};
use crate::pristine::{FOLDERS, config_text};
use crate::repository::{BranchName, Repository};

/// Settings that a replica takes over: without them git does not know who commits.
const IDENTITY: [&str; 2] = ["user.name", "user.email"];

impl Repository {
    /// Creates a replica in a new or empty folder: one branch, checked out, whose head is a commit of this repository,
    /// with the configuration files that a worktree would get. It shares no object and no ref with this repository, and
    /// does not contain the objects of later commits. A shallow clone's replica is equally shallow.
    ///
    /// # Errors
    /// [`WorkspaceError::CommitMissing`], [`WorkspaceError::ObjectsNotFetched`] in a partial clone; otherwise when a
    /// part of the history is not there, or the folder cannot be written.
    pub fn replicate(
        &self,
        folder: &Path,
        branch: &BranchName,
        head: &CommitId,
    ) -> Result<CopyReport, WorkspaceError> {
        self.require_commit(head)?;
        let git_dir = folder.join(".git");
        self.lay_out_replica(&git_dir, branch, head)?;
        self.git
            .command("pack-objects")
            .args(["--revs", "-q", "--delta-base-offset"])
            .arg(git_dir.join("objects/pack/pack"))
            .stdin(format!("{head}\n").into_bytes())
            .slow()
            .run()?;
        let replica = self.git.at(Place {
            common_dir: git_dir.clone(),
            git_dir,
            work_tree: folder.to_owned(),
        });
        self.copy_identity(&replica)?;
        replica
            .command("update-ref")
            .args([&branch.reference(), head.as_str()])
            .run()?;
        overwrite(&replica, head)?;
        copy_into(self, folder)
    }

    /// Creates the git folder of a replica without a template: it gets neither the template's hooks nor its settings.
    fn lay_out_replica(
        &self,
        git_dir: &Path,
        branch: &BranchName,
        head: &CommitId,
    ) -> Result<(), WorkspaceError> {
        for folder in FOLDERS {
            let path = git_dir.join(folder);
            fs::create_dir_all(&path).map_err(|source| WorkspaceError::io("make", path, source))?;
        }
        let settings = config_text(git_dir, self.common_dir(), head.is_sha256());
        let head = format!("ref: {}\n", branch.reference());
        for (name, text) in [("config", settings), ("HEAD", head)] {
            let path = git_dir.join(name);
            fs::write(&path, text).map_err(|source| WorkspaceError::io("write", path, source))?;
        }
        copy_shallow(self.common_dir(), git_dir)
    }

    /// Takes over who commits, where this repository says so itself; what the user's own configuration says holds in a
    /// replica, too.
    fn copy_identity(&self, replica: &Git) -> Result<(), WorkspaceError> {
        for name in IDENTITY {
            let known = self
                .git
                .command("config")
                .args(["--local", "--includes", "-z", "--get", name])
                .answer(&[0, 1])?;
            let value = known.stdout.strip_suffix(&[0]).unwrap_or(&known.stdout);
            if !value.is_empty() {
                let value = String::from_utf8_lossy(value).into_owned();
                let set = ["--local", name, &value];
                replica.command("config").args(set).run()?;
            }
        }
        Ok(())
    }
}

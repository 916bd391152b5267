//! The registration of a worktree gets the state of its agent's git folder.

use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use super::note::Note;
use crate::change::operation;
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::import::{Imported, LogEntry, Unfinished, imported_folder};
use crate::repository::{Expect, Repository, head_reference, move_ref, point_head, set_own_ref};
use crate::worktree::Worktree;

/// The reason in the log of refs.
const WHY: &str = "symphony: taken over from the agent";

impl Repository {
    /// Takes over what an agent did since the last time, and returns the new note, which is written.
    pub(super) fn take_over(
        &self,
        worktree: &Worktree,
        mut note: Note,
    ) -> Result<Note, WorkspaceError> {
        let git_dir = &worktree.place().git_dir;
        // The agent removed it: there is nothing to take over.
        if !worktree.path().join(".git").try_exists().unwrap_or(true) {
            return Ok(note);
        }
        let mut imported = self.import(worktree.path(), worktree.key(), worktree.branch())?;
        self.keep_own_parents(worktree, &note, &mut imported.unfinished)?;
        for name in &imported.left_out {
            tracing::warn!(key = %worktree.key(), name, "commits of the agent are incomplete and left out");
        }
        // First the logs: they name commits that no ref has.
        append_logs(worktree, &mut note, &imported)?;
        note.write(git_dir)?;
        self.move_branch(worktree, &mut note, &imported)?;
        self.move_head(worktree, &imported)?;
        note_unfinished(git_dir, &imported.unfinished)
            .map_err(|source| WorkspaceError::io("write in", git_dir, source))?;
        // Not the agent's if that is on no commit, or on one that is not complete.
        let head = self.head(worktree)?;
        if note.head != head {
            read_index(worktree, &head)?;
        }
        note.head = head;
        note.write(git_dir)?;
        Ok(note)
    }

    /// Leaves out parents of an unfinished merge that the agent neither was given nor made: it can write any commit that the
    /// project has into the file that has them, and whoever completes the merge would bring in another branch.
    fn keep_own_parents(
        &self,
        worktree: &Worktree,
        note: &Note,
        unfinished: &mut Unfinished,
    ) -> Result<(), WorkspaceError> {
        let mut own = Vec::new();
        for commit in std::mem::take(&mut unfinished.merged) {
            if self.is_agents(worktree, note, &commit)? {
                own.push(commit);
            } else {
                tracing::warn!(key = %worktree.key(), %commit, "an unfinished merge names a commit that its agent was not given");
            }
        }
        unfinished.merged = own;
        Ok(())
    }

    /// Returns whether something that the agent of a worktree was given, or made, has a commit.
    fn is_agents(
        &self,
        worktree: &Worktree,
        note: &Note,
        commit: &CommitId,
    ) -> Result<bool, WorkspaceError> {
        for tip in [Some(&note.head), note.tip.as_ref()].into_iter().flatten() {
            if self.is_merged(commit, tip)? {
                return Ok(true);
            }
        }
        let base = self.base().ok().map(|base| base.branch.reference());
        let found = self
            .git
            .command("for-each-ref")
            .args(["--count=1", "--format=%(refname)"])
            .arg(format!("--contains={commit}"))
            .args(note.branches.iter().chain(&base))
            .arg("refs/tags/")
            .arg(imported_folder(worktree.key()))
            .run()?;
        Ok(!found.is_empty())
    }

    /// Moves the worktree's branch to where the agent's is, unless somebody else moved it meanwhile to where the agent's does not
    /// come from. The agent's commits have refs of their own then.
    fn move_branch(
        &self,
        worktree: &Worktree,
        note: &mut Note,
        imported: &Imported,
    ) -> Result<(), WorkspaceError> {
        let Some(branch) = worktree.branch() else {
            return Ok(());
        };
        let reference = branch.reference();
        let made = imported.branch_log.last().map(|entry| &entry.commit);
        // If its last commit is not complete, the one before counts.
        let Some(agents) = imported.branches.get(&reference).or(made) else {
            return Ok(());
        };
        let now = self.branch_head(branch)?;
        if now.as_ref() != Some(agents) && note.tip.as_ref() != Some(agents) {
            let is_free = match &now {
                Some(now) => note.tip.as_ref() == Some(now) || self.is_merged(now, agents)?,
                None => true,
            };
            if !is_free {
                tracing::warn!(branch = %branch, commit = %agents, "the branch was moved while its agent worked; the agent's commits are kept beside it");
                return Ok(());
            }
            let expect = now.as_ref().map_or(Expect::Absent, Expect::At);
            move_ref(&self.git, &reference, expect, agents, WHY)?;
        }
        note.tip = Some(agents.clone());
        Ok(())
    }

    /// Points `HEAD` to the branch if the agent's is there, and otherwise to the agent's commit.
    fn move_head(&self, worktree: &Worktree, imported: &Imported) -> Result<(), WorkspaceError> {
        let git = &worktree.git;
        let at = head_reference(git)?;
        let own = worktree
            .branch()
            .filter(|branch| imported.branch.as_deref() == Some(branch.reference().as_str()));
        if let Some(branch) = own {
            return match at {
                Some(found) if found == branch.reference() => Ok(()),
                _ => point_head(git, branch, WHY),
            };
        }
        let Some(head) = &imported.head else {
            return Ok(());
        };
        if at.is_none() && self.head(worktree)? == *head {
            return Ok(());
        }
        set_own_ref(git, "HEAD", head, WHY)
    }
}

fn append_logs(
    worktree: &Worktree,
    note: &mut Note,
    imported: &Imported,
) -> Result<(), WorkspaceError> {
    let append = |log: PathBuf, entries: &[LogEntry], taken: &mut usize| {
        append_log(&log, entries, taken).map_err(|source| WorkspaceError::io("write", log, source))
    };
    let place = worktree.place();
    let log = place.git_dir.join("logs/HEAD");
    append(log, &imported.log, &mut note.logged)?;
    if let Some(branch) = worktree.branch() {
        let log = place.common_dir.join("logs").join(branch.reference());
        append(log, &imported.branch_log, &mut note.branch_logged)?;
    }
    Ok(())
}

/// Appends the entries after those that were taken before. Without a log nothing is written: git keeps none then.
fn append_log(log: &Path, entries: &[LogEntry], taken: &mut usize) -> io::Result<()> {
    let new: String = entries
        .iter()
        .skip(*taken)
        .flat_map(|entry| [entry.line.as_str(), "\n"])
        .collect();
    *taken = entries.len().max(*taken);
    if new.is_empty() {
        return Ok(());
    }
    match fs::OpenOptions::new().append(true).open(log) {
        Ok(mut file) => file.write_all(new.as_bytes()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Leaves the marks of an unfinished merge or rebase that the commands of this crate look for.
fn note_unfinished(git_dir: &Path, unfinished: &Unfinished) -> io::Result<()> {
    let merge = git_dir.join("MERGE_HEAD");
    if unfinished.merged.is_empty() {
        match fs::remove_file(&merge) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    } else {
        let lines = unfinished.merged.iter().map(|commit| format!("{commit}\n"));
        fs::write(&merge, lines.collect::<String>())?;
    }
    let sequence = git_dir.join(operation::SEQUENCE_MARK);
    if unfinished.in_sequence {
        return fs::create_dir_all(sequence);
    }
    match fs::remove_dir(&sequence) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Makes the index that of a commit. Files that are the same in both keep their marks, so that they need not be read
/// again.
fn read_index(worktree: &Worktree, commit: &CommitId) -> Result<(), WorkspaceError> {
    worktree
        .git
        .command("read-tree")
        .args(["--reset", commit.as_str()])
        .slow()
        .run()
        .map(drop)
}

//! What can go wrong with git and with files, by what the caller can do next.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use symphony_core::git_lock::KeepReason;

use crate::commit_id::CommitId;
use crate::error_text::{age_text, exit_text, held_by, list};
use crate::remote::no_answer::NoAnswer;
use crate::repository::{OWN_BRANCHES, Unwritable};

/// A failure of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// Install git, or fix `PATH`.
    #[error("the program `git` was not found in PATH ({searched})")]
    GitMissing {
        /// The folders that were searched, joined by `:`.
        searched: String,
    },
    /// Git ran and refused; its words are in `stderr`.
    #[error("`{command}` failed in {}: {}{stderr}", place.display(), exit_text(*code))]
    Git {
        /// The subcommand and its arguments, without the hardening.
        command: String,
        /// Where it ran.
        place: PathBuf,
        /// Exit code; `None` if a signal ended it.
        code: Option<i32>,
        /// The end of its error output.
        stderr: String,
    },
    /// Git did not end in time and was killed.
    #[error("`{command}` in {} did not end within {seconds} s", place.display())]
    GitTimedOut {
        /// The subcommand and its arguments.
        command: String,
        /// Where it ran.
        place: PathBuf,
        /// The limit.
        seconds: u64,
    },
    /// Git answered something that this version of Symphony cannot read.
    #[error("the output of `{command}` was not understood: expected {expected}, found `{found}`")]
    GitAnswer {
        /// The subcommand and its arguments.
        command: String,
        /// What was expected.
        expected: &'static str,
        /// The beginning of what came.
        found: String,
    },
    /// The repository has no such remote: `git remote add`, or another name in the configuration.
    #[error("the repository {} has no remote `{name}`; `git remote -v` lists those it has", place.display())]
    NoRemote {
        /// The name.
        name: String,
        /// The repository.
        place: PathBuf,
    },
    /// A remote did not answer a push or a fetch.
    #[error("`{call}` with the remote `{name}` failed: {detail}")]
    RemoteSilent {
        /// The name of the remote.
        name: String,
        /// The subcommand.
        call: String,
        /// Why, as far as git says it.
        why: NoAnswer,
        /// Git's words.
        detail: String,
    },
    /// A remote has more to say than is read, and none of it is used: remove refs there that no one needs.
    #[error(
        "the answer of the remote `{name}` to `{call}` is longer than {} MiB and was not used: `git ls-remote {name}` lists its refs, and \
         `git push {name} --delete REF…` removes those that no one needs any longer", bytes_max / (1024 * 1024)
    )]
    AnswerCut {
        /// The name of the remote.
        name: String,
        /// The subcommand.
        call: String,
        /// The limit.
        bytes_max: usize,
    },
    /// The remote with this name or address has objects with SHA-256, and this repository with SHA-1, or the other way: use another hub.
    #[error(
        "`{0}` uses another hash algorithm than this repository (one SHA-1, the other SHA-256): runs on several hosts need a hub with the same one"
    )]
    OtherObjectFormat(String),
    /// The folder is no repository: `git init`, or go to another folder.
    #[error("no git repository was found at {} or above it", path.display())]
    NotARepository {
        /// Where the search began.
        path: PathBuf,
    },
    /// A bare repository has no checkout to work from: use a clone of it.
    #[error("{} is a bare repository; expected one with a checkout", path.display())]
    Bare {
        /// The repository.
        path: PathBuf,
    },
    /// A repository with a checkout, although `core.bare` says that it has none: set `core.bare` to false.
    #[error("`core.bare` is true in the git configuration of {}, which has a checkout; expected false", root.display())]
    BareSetting {
        /// The repository's root.
        root: PathBuf,
        /// Whether the setting is one of the main checkout alone (`git config --worktree`).
        is_of_main: bool,
    },
    /// The folder belongs to a linked worktree: go to the main one.
    #[error(
        "{} is a linked worktree of the repository {}; expected that repository's main checkout",
        path.display(), common_dir.display()
    )]
    LinkedWorktree {
        /// The linked worktree.
        path: PathBuf,
        /// The git folder it belongs to.
        common_dir: PathBuf,
    },
    /// Nothing to start a branch from: make a first commit.
    #[error("the repository {} has no commit yet", path.display())]
    NoCommits {
        /// The repository's root.
        path: PathBuf,
    },
    /// Neither the configuration nor the repository names the base branch: set `base_branch`.
    #[error("the default branch of {} is not known: its branches are {}", root.display(), list(branches))]
    NoDefaultBranch {
        /// The repository's root.
        root: PathBuf,
        /// The branches it has.
        branches: Vec<String>,
    },
    /// The branch does not exist.
    #[error("there is no branch `{branch}` in {}", root.display())]
    BranchMissing {
        /// The branch.
        branch: String,
        /// The repository's root.
        root: PathBuf,
    },
    /// The base branch is only another name of a branch that agents work on: give it a commit of its own again.
    #[error("the branch `{branch}` of {} is a symbolic ref that leads to {target}; expected a real branch", root.display())]
    SymbolicBase {
        /// The branch.
        branch: String,
        /// The full name of the ref that it points to.
        target: String,
        /// The repository's root.
        root: PathBuf,
    },
    /// A filter that git must run on files lacks its program: install it.
    #[error("the files of {} cannot be checked out: the user's git configuration runs `{program}` on {}, and that program is not in PATH", root.display(), list(patterns))]
    FilterMissing {
        /// The filter.
        name: String,
        /// The program.
        program: String,
        /// The patterns of the files.
        patterns: Vec<String>,
        /// The repository's root.
        root: PathBuf,
    },
    /// A filter works on files for the user alone: name it in `git.trusted_filters`, with its commands in the user's
    /// global configuration.
    #[error("the files of {} cannot be checked out: the filter `{name}` applies to {}, and Symphony may not run it; expected it in git.trusted_filters and in the user's global git configuration", root.display(), list(patterns))]
    FilterNotRun {
        /// The filter.
        name: String,
        /// The patterns of the files.
        patterns: Vec<String>,
        /// The repository's root.
        root: PathBuf,
    },
    /// The text cannot name a branch.
    #[error("`{name}` cannot be the name of a branch: {reason}")]
    BranchName {
        /// The text.
        name: String,
        /// Which rule it breaks.
        reason: &'static str,
    },
    /// A branch has the name of a folder of branches that is needed: rename it.
    #[error(
        "the branch `{branch}` cannot be created: the branch `{blocker}` is in the way, because git cannot have a branch and a \
         folder of branches with the same name"
    )]
    BranchBlocked {
        /// The branch wanted.
        branch: String,
        /// The branch in the way.
        blocker: String,
    },
    /// A branch has the name of the folder of Symphony's branches: rename it.
    #[error(
        "branches `{OWN_BRANCHES}/…` cannot be created: the branch `{OWN_BRANCHES}` is in the way, because git cannot have a \
         branch and a folder of branches with the same name"
    )]
    OwnBranchesBlocked,
    /// A folder of the git folder cannot be written: return it to the user, or make it writable.
    #[error("git cannot write to {}: {why}", path.display())]
    NotWritable {
        /// The git folder.
        git_dir: PathBuf,
        /// The folder in it.
        path: PathBuf,
        /// The reason.
        why: Unwritable,
    },
    /// Another checkout has the branch: switch that one to another branch.
    #[error("the branch `{branch}` is already checked out at {}", path.display())]
    BranchCheckedOut {
        /// The branch.
        branch: String,
        /// The worktree that uses it.
        path: PathBuf,
    },
    /// The commit is not in the repository (a shallow or partial clone, or pruned).
    #[error("there is no commit `{commit}` in {}", root.display())]
    CommitMissing {
        /// The commit that was searched for.
        commit: String,
        /// The repository's root.
        root: PathBuf,
    },
    /// Objects of a partial clone were never fetched, and no call of git here fetches: the human does.
    #[error(
        "the files of {} cannot be read: its repository is a partial clone that lacks some of them; `git fetch --refetch --no-filter` there gets them", place.display()
    )]
    ObjectsNotFetched {
        /// Where git ran.
        place: PathBuf,
    },
    /// No worktree of that name is registered.
    #[error("there is no worktree at {}", path.display())]
    WorktreeMissing {
        /// Where it would be.
        path: PathBuf,
    },
    /// A symbolic link is in the place of a real file or folder: check it, then remove it.
    #[error("the path {} goes through a symbolic link; expected a real path", path.display())]
    Link {
        /// The path.
        path: PathBuf,
    },
    /// A file or a link is in the place of the folder of worktrees, or of a folder above it in the project.
    #[error("worktrees cannot be created: {} is a file or a link; expected a folder", path.display())]
    NoWorktreesFolder {
        /// The path.
        path: PathBuf,
    },
    /// A pristine checkout was removed, or replaced by something else, while commands ran there: create another one.
    #[error("the checkout {} was removed or replaced while commands ran in it, so their results do not \
             count", path.display())]
    CheckoutGone {
        /// The checkout.
        path: PathBuf,
    },
    /// Something else than a regular file.
    #[error("{} is not a regular file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// A file over its limit.
    #[error("{} has {bytes} bytes; expected at most {bytes_max}", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// The limit.
        bytes_max: u64,
    },
    /// Another tool's settings are not what that tool reads: fix the file.
    #[error("{} cannot be changed: {reason}", path.display())]
    Settings {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Claude Code has another status line: remove it, or call Symphony's from it.
    #[error("{} already has a status line: {found}", path.display())]
    StatuslineTaken {
        /// The file.
        path: PathBuf,
        /// What is set.
        found: String,
    },
    /// A file with binary contents.
    #[error("{}: line {line} is not UTF-8", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
        /// The first line that is wrong, from 1.
        line: usize,
    },
    /// A file that is in none of the searched places.
    #[error("`{path}` was not found: looked for {}", list(&places.iter().map(|place| place.display().to_string()).collect::<Vec<_>>()))]
    FileMissing {
        /// The relative path.
        path: String,
        /// The full paths that were tried, in order.
        places: Vec<PathBuf>,
    },
    /// A pattern of `worktree.copy` that cannot be used.
    #[error("the pattern `{pattern}` of worktree.copy cannot be used: {reason}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong.
        reason: String,
    },
    /// Processes work in the folder: end them, or wait.
    #[error("{} cannot be changed: processes are working in it (pid {})", path.display(), list(&pids.iter().map(u32::to_string).collect::<Vec<_>>()))]
    Busy {
        /// The folder or file.
        path: PathBuf,
        /// The processes.
        pids: Vec<u32>,
    },
    /// A lock file of git that may be in use: wait, or remove it as the reason says.
    #[error("git's lock file {} is in the way: it was made {} ago{}; {reason}", lock.display(), age_text(*age), held_by(pids))]
    GitLocked {
        /// The lock file.
        lock: PathBuf,
        /// How long ago it was last touched.
        age: Duration,
        /// Processes that have it open, and git processes in the checkout.
        pids: Vec<u32>,
        /// Why it stays.
        reason: KeepReason,
    },
    /// A worktree holds a file that is too deep for any path: inspect it with programs that go down folder by folder.
    #[error(
        "the worktree {} cannot be removed: a file in it is {depth} folders deep, too deep for any path, and could not be saved",
        path.display()
    )]
    OutOfReach {
        /// The worktree.
        path: PathBuf,
        /// How deep the file is.
        depth: usize,
    },
    /// Another process held the repository's lock for too long: try again.
    #[error("another process held the lock {} for more than {seconds} s", path.display())]
    LockTimeout {
        /// The lock file.
        path: PathBuf,
        /// How long was waited.
        seconds: u64,
    },
    /// The worktree is not what was made: a human has to look.
    #[error("the worktree {} cannot be trusted: {what}", path.display())]
    Tampered {
        /// The worktree.
        path: PathBuf,
        /// What differs.
        what: String,
    },
    /// A repository inside the worktree cannot be saved with it: move it away, or remove it.
    #[error("the work in {} cannot be saved: it contains other repositories ({})", path.display(), list(embedded))]
    Embedded {
        /// The worktree.
        path: PathBuf,
        /// The repositories inside, relative.
        embedded: Vec<String>,
    },
    /// Commits of a submodule cannot be saved in this repository, since their history is not whole: push them first.
    #[error("the commits of submodule {name} cannot be saved: it is a shallow clone; push them from {}", folder.display())]
    ShallowSubmodule {
        /// Its git folder.
        folder: PathBuf,
        /// Its name.
        name: String,
    },
    /// Nothing was removed, since what would be lost could not be saved.
    #[error("nothing was removed, because the work in {} cannot be saved to a rescue ref", path.display())]
    RescueFailed {
        /// The worktree.
        path: PathBuf,
        /// The cause.
        #[source]
        source: Box<WorkspaceError>,
    },
    /// Two sides changed the same places: merge the base into the branch and resolve it there.
    #[error(
        "`{head}` cannot be merged into `{base}`: conflicts in {}",
        list(files)
    )]
    Conflict {
        /// The branch merged into.
        base: String,
        /// What is merged.
        head: String,
        /// The files.
        files: Vec<String>,
    },
    /// The two sides have no common commit.
    #[error("`{head}` cannot be merged into `{base}`: they have no common history")]
    Unrelated {
        /// One side.
        base: String,
        /// The other.
        head: String,
    },
    /// A ref has moved: look again and repeat.
    #[error("`{reference}` has moved: expected it at {expected}, found it at {}", found.as_ref().map_or("nothing", CommitId::as_str))]
    RefMoved {
        /// The full name of the ref.
        reference: String,
        /// Where it was expected.
        expected: CommitId,
        /// Where it is; `None` if it does not exist.
        found: Option<CommitId>,
    },
    /// The checkout of the base has changes of its own: commit them, or put them away.
    #[error("the checkout {} cannot be updated: it has changes in {}", path.display(), list(files))]
    CheckoutDirty {
        /// The checkout.
        path: PathBuf,
        /// The files.
        files: Vec<String>,
    },
    /// A hook of the repository refused the commit (`worktree.run_hooks` is on).
    #[error("a hook refused the commit in {}: {stderr}", path.display())]
    HookRefused {
        /// The worktree.
        path: PathBuf,
        /// What the hook said.
        stderr: String,
    },
    /// The operating system refused.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried, as a verb phrase that the path completes.
        action: &'static str,
        /// The path.
        path: PathBuf,
        /// The system's word.
        #[source]
        source: io::Error,
    },
}

impl WorkspaceError {
    pub(crate) fn io(action: &'static str, path: impl AsRef<Path>, source: io::Error) -> Self {
        Self::Io {
            action,
            path: path.as_ref().to_owned(),
            source,
        }
    }

    /// Returns whether git met a path that is longer than the kernel allows.
    pub(crate) fn is_name_too_long(&self) -> bool {
        matches!(self, Self::Git { code: Some(_), stderr, .. } if stderr.contains("File name too long"))
    }

    /// Returns whether the disk is full, which is no one's failure (lifecycle.md, "Error classes").
    pub fn is_disk_full(&self) -> bool {
        match self {
            Self::Io { source, .. } => matches!(
                source.kind(),
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
            ),
            // Git's own message for a short write, beside those of the system.
            Self::Git { stderr, .. } => [
                "No space left on device",
                "Disk quota exceeded",
                "write error. Out of diskspace",
            ]
            .iter()
            .any(|words| stderr.contains(words)),
            Self::RescueFailed { source, .. } => source.is_disk_full(),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_counted() {
        let files: Vec<String> = (0..12).map(|n| format!("f{n}")).collect();
        let error = WorkspaceError::Conflict {
            base: "main".into(),
            head: "symphony/SYM-1".into(),
            files,
        };
        assert_eq!(
            error.to_string(),
            "`symphony/SYM-1` cannot be merged into `main`: conflicts in f0, f1, f2, f3, f4, f5, f6, f7, f8, f9 and 2 more"
        );
    }

    #[test]
    fn a_full_disk_is_known_by_errno_and_by_gits_words() {
        let full = WorkspaceError::io("write", "/x", io::ErrorKind::StorageFull.into());
        assert!(full.is_disk_full());
        let git = WorkspaceError::Git {
            command: "git write-tree".into(),
            place: "/x".into(),
            code: Some(128),
            stderr: "fatal: unable to write new index file: No space left on device".into(),
        };
        let wrapped = WorkspaceError::RescueFailed {
            path: "/x".into(),
            source: Box::new(git),
        };
        assert!(wrapped.is_disk_full());
        assert!(!WorkspaceError::NoCommits { path: "/x".into() }.is_disk_full());
    }
}

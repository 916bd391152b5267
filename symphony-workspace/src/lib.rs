//! Git worktrees, configuration files, artifacts on disk, diffs, auto-commit.
//!
//! The front door is [`Repository`]: it finds a project's git repository and changes it, each change
//! under the repository's lock and repeatable after a crash. All calls block; a caller with a runtime
//! gives them a thread. What an agent may have touched is never trusted: the `git` module says how.

mod agent_git;
pub mod artifact;
mod change;
mod claude_settings;
mod commit_id;
pub mod config_file;
mod context_file;
mod copy;
mod deep;
mod error;
mod error_text;
mod exit_fault;
mod failpoint;
pub mod file_system;
mod fingerprint;
mod git;
mod hex;
mod hub;
mod identity;
mod import;
mod kept_refs;
mod left;
mod linux;
mod merge;
mod outside;
mod own_file;
pub mod plan_file;
mod pristine;
mod project;
pub mod proposal;
mod remote;
mod replica;
mod repository;
mod secrets;
mod setting_digests;
mod shared_refs;
mod shared_settings;
mod threads;
mod warm;
mod whole_file;
mod worktree;

pub use change::{
    AutoCommit, ChangeKind, DiffSnapshot, FileChange, RescueRef, Reset, Status, TreeEntry,
    work_in_progress,
};
pub use claude_settings::{CLAUDE_SETTINGS, StatuslineInstall, install_statusline};
pub use commit_id::{CommitId, CommitIdError};
pub use context_file::{
    CONTEXT_FILE_BYTES_MAX, CONTEXT_FILES_MAX, CONTEXT_TOTAL_BYTES_MAX, ContextFile,
    ContextFileProblem, load_context_files,
};
pub use copy::{CopyProblem, CopyReport};
pub use deep::remove_deep;
pub use error::WorkspaceError;
pub use failpoint::Failpoint;
#[cfg(feature = "failpoints")]
pub use failpoint::{FAILPOINTS_VARIABLE, Unwound, unwind_after};
pub use fingerprint::Fingerprint;
#[cfg(feature = "failpoints")]
pub use git::{GIT_FAULTS_VARIABLE, GitCall, GitDeath, GitFaults};
pub use git::{GIT_VERSION_MIN, GitProgram, Identity, Place};
pub use hub::{
    HubClone, HubUpdate, OtherHub, PromoteRequest, Promotion, RunRef, SilentHubs, UpdatedClone,
    result_reference, saved_reference,
};
pub use identity::{
    MarkPlaces, find_traces, is_own_branch, read_marker, remove_marker, write_marker,
};
pub use import::Imported;
pub use left::{Absorbed, KnownWork, SavedSubmodule, StrayWork, UnpublishedLink};
pub use linux::processes_with_open;
pub use merge::{BaseCheckout, MergePlan, MergeStyle, MergedBy, MergedTrees};
pub use outside::{ChangeQuery, FoundChange};
pub use own_file::{open_own_file, read_file, read_own_file, read_own_text, read_text};
pub use pristine::{Planted, Pristine};
pub use project::{DetectedProject, detect_part, detect_project};
pub use remote::{NoAnswer, Pushed, Remote, RemoteAddress, read_address};
pub use repository::{
    Base, BranchName, CommitLine, Discovered, DocumentPlaces, DocumentProblem, Elsewhere,
    FilterUse, FoundDocument, LFS_FILTER, LeftLock, Repository, RepositoryLock, RepositoryOptions,
    Unwritable, discover,
};
pub use secrets::{
    CopiedLeak, LineRedactor, Redactor, SecretFinder, SecretLeak, SecretName, SecretScan,
    is_secret_name, secret_of_variable, tokens_in,
};
pub use shared_settings::SharedSettings;
pub use warm::{DisabledPool, Donation, Generation, PackageMarks, WarmPool};
pub use whole_file::{remove_unwritten, write_new, write_private, write_whole};
pub use worktree::{
    BaseMerge, BranchFate, BranchOutcome, ClearedTemporary, ListedWorktree, MergeOfBase, Prepared,
    Recovery, Registration, RemoveRequest, Removed, Worktree, WorktreeKey, WorktreeRequest,
    WorktreeState,
};

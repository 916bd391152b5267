//! What a worker names as evidence, and whether it is what the worker says.

use thiserror::Error;

use super::path::PathError;
use super::proposal::{DoneEvidence, EvidenceKind};
use crate::id::IssueId;

/// Most items of evidence of one proposal: a reader checks each of them.
pub const EVIDENCE_MAX: usize = 50;
/// Characters of the remark on an item.
pub const NOTE_CHARS_MAX: usize = 2_000;
/// Most characters of an item's reference: the longest paths that git accepts.
const REFERENCE_CHARS_MAX: usize = 4_096;
/// Most files that are kept of a commit or a pull request; if it touches more, every change of the base counts.
pub const FILES_OF_EVIDENCE_MAX: usize = 200;

/// An item of evidence as a worker names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvidence {
    /// The kind of evidence.
    pub kind: EvidenceKind,
    /// The reference: a commit, the number of a pull request, the name of a gate, a path.
    pub reference: String,
    /// What it shows.
    pub note: String,
}

/// What was found of an item of evidence, in the repository and the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EvidenceFound {
    /// The commit, its files, and whether the worktree's commit has it.
    Commit {
        /// Its full name.
        commit: String,
        /// The files that it changes.
        files: Vec<String>,
    },
    /// A commit that the base has, but not the worktree.
    NewerCommit {
        /// The base branch.
        base: String,
    },
    /// A commit that exists, but not in the base.
    CommitElsewhere {
        /// The base branch.
        base: String,
    },
    /// A pull request of a sub-task that was merged, with its files.
    MergedPullRequest {
        /// The files that it changes.
        files: Vec<String>,
    },
    /// A pull request of a sub-task that was not merged.
    UnmergedPullRequest {
        /// Its state.
        state: String,
    },
    /// A pull request of another issue.
    OtherPullRequest {
        /// What it is for.
        of: String,
    },
    /// A gate of the project.
    Gate,
    /// A gate that the project does not have.
    UnknownGate {
        /// Those that it has.
        known: Vec<String>,
    },
    /// A file of the commit.
    File {
        /// Its path, as git writes it.
        path: String,
    },
    /// A folder of the commit.
    Folder {
        /// Its path, as git writes it.
        path: String,
    },
    /// A text that is not a path of a tree.
    NoPath(PathError),
    /// Nothing of the kind.
    Missing,
}

/// What is wrong with an item of evidence. The text names the item, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("evidence {number} ({kind} `{reference}`): {problem}")]
pub struct EvidenceError {
    /// Which item, from 1.
    pub number: usize,
    /// The kind of evidence.
    pub kind: EvidenceKind,
    /// Its reference.
    pub reference: String,
    /// What is wrong.
    pub problem: String,
}

/// Checks how many items there are.
///
/// # Errors
/// What is wrong with their number, as a sentence for the agent.
pub fn check_count(count: usize) -> Result<(), String> {
    match count {
        0 => Err(
            "`evidence` is empty: name at least one commit, pull request of a sub-task, gate or file that a judge can check"
                .to_owned(),
        ),
        count if count > EVIDENCE_MAX => Err(format!(
            "`evidence` has {count} items; at most {EVIDENCE_MAX} are taken: name the ones that decide"
        )),
        _ => Ok(()),
    }
}

/// Turns what a worker named, and what was found, into evidence that is kept.
///
/// # Errors
/// When the item is not what the worker says.
pub fn check_evidence(
    number: usize,
    new: &NewEvidence,
    issue: &IssueId,
    found: EvidenceFound,
) -> Result<DoneEvidence, EvidenceError> {
    let refuse = |problem: String| EvidenceError {
        number,
        kind: new.kind,
        reference: new.reference.chars().take(200).collect(),
        problem,
    };
    if new.reference.trim().is_empty() || new.reference.chars().count() > REFERENCE_CHARS_MAX {
        return Err(refuse(format!(
            "`reference` is empty or longer than {REFERENCE_CHARS_MAX} characters"
        )));
    }
    let note_chars = new.note.chars().count();
    if note_chars > NOTE_CHARS_MAX {
        return Err(refuse(format!(
            "its note has {note_chars} characters; at most {NOTE_CHARS_MAX} are taken"
        )));
    }
    let (reference, files) = match found {
        EvidenceFound::Commit { commit, files } => (commit, files),
        EvidenceFound::MergedPullRequest { files } => (new.reference.clone(), files),
        EvidenceFound::Gate => (new.reference.clone(), Vec::new()),
        EvidenceFound::File { path } => (path.clone(), vec![path]),
        EvidenceFound::Folder { path } => {
            // The slash means that everything in it counts.
            let folder = format!("{path}/");
            (folder.clone(), vec![folder])
        }
        EvidenceFound::NoPath(why) => return Err(refuse(why.to_string())),
        EvidenceFound::NewerCommit { base } => {
            return Err(refuse(format!(
                "`{base}` has it, but your worktree does not yet: `git merge --ff-only {base}`, look at the result, then call \
                 propose_done again"
            )));
        }
        EvidenceFound::CommitElsewhere { base } => {
            return Err(refuse(format!(
                "it is not on `{base}`: only what is merged counts"
            )));
        }
        EvidenceFound::UnmergedPullRequest { state } => {
            return Err(refuse(format!("it is {state}: only a merged one counts")));
        }
        EvidenceFound::OtherPullRequest { of } => {
            return Err(refuse(format!(
                "it is the pull request of {of}, which is not a sub-task of {issue}; name its commit instead"
            )));
        }
        EvidenceFound::UnknownGate { known } => {
            return Err(refuse(if known.is_empty() {
                "the project has no gates".to_owned()
            } else {
                format!(
                    "the project has no such gate; its gates are {}",
                    known.join(", ")
                )
            }));
        }
        EvidenceFound::Missing => {
            return Err(refuse(match new.kind {
                EvidenceKind::Commit => {
                    "there is no such commit; `git log` shows those of the base".to_owned()
                }
                EvidenceKind::PullRequest => {
                    "there is no such pull request; `get_issue` of a sub-task shows its number"
                        .to_owned()
                }
                EvidenceKind::Gate | EvidenceKind::File => {
                    "the base has no such file or folder; paths begin at the root of the repository"
                        .to_owned()
                }
            }));
        }
    };
    let touches_all = files.len() > FILES_OF_EVIDENCE_MAX;
    Ok(DoneEvidence {
        kind: new.kind,
        reference,
        note: new.note.trim().to_owned(),
        files: if touches_all { Vec::new() } else { files },
        touches_all,
    })
}

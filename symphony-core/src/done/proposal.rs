//! The record of a proposal.

use serde::{Deserialize, Serialize};

use crate::closed_set::closed_set;

/// The title of a proposal in the record of reviews.
pub const PROPOSAL_TITLE: &str = "Nothing left to do";

closed_set!(
    /// What an item of evidence names.
    EvidenceKind, "kind of evidence", {
        /// A commit of the base.
        Commit = "commit",
        /// The merged pull request of a sub-task.
        PullRequest = "pull_request",
        /// A gate that passes.
        Gate = "gate",
        /// A file of the base, or a folder with all that is in it.
        File = "file",
    }
);

/// An item of evidence that was checked when it was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoneEvidence {
    /// The kind of evidence.
    pub kind: EvidenceKind,
    /// The reference: a whole commit id, the number of a pull request, the name of a gate, a path.
    pub reference: String,
    /// What it shows.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// The files that it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Whether it is about more files than are kept, so that any change of the base concerns it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub touches_all: bool,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
const fn is_false(value: &bool) -> bool {
    !*value
}

impl DoneEvidence {
    /// Returns in one line what it is and what it shows.
    pub fn line(&self) -> String {
        let what = match self.kind {
            EvidenceKind::Commit => {
                let short = self.reference.get(..10).unwrap_or(&self.reference);
                format!("commit {short}")
            }
            EvidenceKind::PullRequest => format!("pull request {}", self.reference),
            EvidenceKind::Gate => format!("gate {}", self.reference),
            EvidenceKind::File => self.reference.clone(),
        };
        match self.note.lines().next() {
            Some(note) => format!("{what}: {note}"),
            None => what,
        }
    }
}

/// What makes a record of reviews the proposal that nothing is left to do. Its reason is the record's body, its
/// recorded base commit the record's head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoneProposal {
    /// What shows it.
    pub evidence: Vec<DoneEvidence>,
}

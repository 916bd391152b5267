//! The record of a proposal.

use serde::{Deserialize, Serialize};

use super::evidence::EvidenceKind;
use crate::pull_request::{PullRequest, VerdictKind};

/// What stands as the title of a proposal in the record of reviews.
pub const PROPOSAL_TITLE: &str = "Nothing left to do";

/// An item of evidence that was checked when it was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoneEvidence {
    /// What it names.
    pub kind: EvidenceKind,
    /// Which: a whole commit id, the number of a pull request, the name of a gate, a path.
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
    /// Says in a line what it is and what it shows.
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

/// What makes a record of reviews the proposal that nothing is left to do. Its reason is the record's body, its recorded base
/// commit the record's head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoneProposal {
    /// What shows it.
    pub evidence: Vec<DoneEvidence>,
}

/// Returns why a proposal cannot be confirmed without a person's `issue close`; none when it can.
///
/// A judge has to approve it before Symphony confirms it by itself (`auto_done`); a person does not wait for one.
pub fn confirm_obstacle(
    proposal: &PullRequest,
    by_itself: bool,
    open_must: usize,
) -> Option<String> {
    if !proposal.state.is_open() {
        return Some(format!("it is {}", proposal.state));
    }
    if open_must > 0 {
        return Some(format!("{open_must} `must` points of its reviews are open"));
    }
    let gates = proposal.gates_of_head();
    if gates.is_some_and(|gates| !gates.green()) {
        return Some("required gates are red on its base commit".to_owned());
    }
    if !by_itself {
        return None;
    }
    if gates.is_none() {
        return Some("its gates have not run".to_owned());
    }
    let verdict = proposal.verdict_on_head();
    if verdict.is_none_or(|verdict| verdict.kind != VerdictKind::Approved) {
        return Some("no judge has approved it".to_owned());
    }
    None
}

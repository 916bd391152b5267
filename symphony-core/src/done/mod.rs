//! Nothing left to do: the proposal of a worker that its issue can end without a commit (`docs/design/0025`).
//!
//! A proposal is kept in the record of reviews that pull requests use, with the evidence in place of a change. Here is
//! what the evidence must be, what a moved base does to a proposal, and what is in the way of its confirmation.

mod base;
mod evidence;
mod path;
mod proposal;
mod stands;

#[cfg(test)]
mod tests;

pub use base::{BaseEffect, MovedProposal, StaleLook, StaleProposal, base_effect};
pub use evidence::{
    EVIDENCE_MAX, EvidenceError, EvidenceFound, FILES_OF_EVIDENCE_MAX, NOTE_CHARS_MAX, NewEvidence,
    check_count, check_evidence,
};
pub use path::{PathError, normal_path};
pub use proposal::{DoneEvidence, DoneProposal, EvidenceKind, PROPOSAL_TITLE};
pub use stands::{BaseNow, ConfirmedBy, DoneRecord, Obstacle, list_obstacles, stands};

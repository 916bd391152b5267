//! What a base that moves does to a proposal that is in review.

use serde::Serialize;

use super::path::About;
use super::proposal::DoneProposal;
use crate::closed_set::closed_set;
use crate::id::{IssueId, PrId, ProjectId};
use crate::listing::list_few;

/// Files that a sentence names; the rest is counted.
const NAMED_MAX: usize = 5;

/// What a moved base does to a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BaseEffect {
    /// The verdict stands: nothing that the evidence is about has changed.
    Stands,
    /// A worker has to look again.
    CheckAgain {
        /// Why, in a sentence without a full stop.
        why: String,
    },
}

/// A proposal whose base has moved in a way that concerns it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MovedProposal {
    /// Its project.
    pub project: ProjectId,
    /// Its issue.
    pub issue: IssueId,
    /// Its number.
    pub pr: PrId,
    /// Why it has to be checked again.
    pub why: String,
}

closed_set!(
    /// Which look at a proposal is older than what there is now.
    StaleLook, "look at a proposal", {
        /// The gates: the base has moved since, or they are defined in another way now.
        Gates = "gates",
        /// The judge's: a person changed the issue, or said something on it.
        Verdict = "verdict",
    }
);

/// A proposal that has to be looked at again before it can be confirmed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StaleProposal {
    /// Its project.
    pub project: ProjectId,
    /// Its issue.
    pub issue: IssueId,
    /// Its number.
    pub pr: PrId,
    /// Which look is too old.
    pub what: StaleLook,
}

/// Decides what a base that has moved does to a proposal. `changed` are the paths that differ between the recorded commit and the
/// base; none where the recorded commit is not part of the base any more.
pub fn base_effect(proposal: &DoneProposal, base: &str, changed: Option<&[String]>) -> BaseEffect {
    let Some(changed) = changed else {
        return BaseEffect::CheckAgain {
            why: format!("`{base}` no longer has the commit that the proposal was made on"),
        };
    };
    if changed.is_empty() {
        return BaseEffect::Stands;
    }
    let concerned: Vec<&str> = if proposal.evidence.iter().any(|item| item.touches_all) {
        changed.iter().map(String::as_str).collect()
    } else {
        let files = proposal.evidence.iter().flat_map(|item| &item.files);
        let about = About::of(files.map(String::as_str));
        let changed = changed.iter().map(String::as_str);
        changed.filter(|path| about.concerns(path)).collect()
    };
    if concerned.is_empty() {
        return BaseEffect::Stands;
    }
    let names = list_few(concerned.iter().copied(), NAMED_MAX);
    BaseEffect::CheckAgain {
        why: format!("`{base}` has moved, and changed what the evidence is about: {names}"),
    }
}

//! How a moved base affects a proposal in review.

use serde::Serialize;

use super::path::About;
use super::proposal::DoneProposal;
use crate::closed_set::closed_set;
use crate::id::{IssueId, PrId, ProjectId};
use crate::listing::list_few;

/// Most files that a sentence lists; the rest is counted.
const NAMED_MAX: usize = 5;

/// What a moved base does to a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BaseEffect {
    /// The verdict is still valid: nothing that the evidence is about has changed.
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
    /// Why it must be checked again.
    pub why: String,
}

closed_set!(
    /// Which look at a proposal is out of date.
    StaleLook, "look at a proposal", {
        /// The gates: the base has moved since, or their definition has changed.
        Gates = "gates",
        /// The judge's: a person changed the issue, or commented on it.
        Verdict = "verdict",
    }
);

/// A proposal that must be looked at again before it can be confirmed.
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

/// Decides what a moved base does to a proposal. `changed` are the paths that differ between the recorded commit and
/// the base; `None` if the recorded commit is no longer part of the base.
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

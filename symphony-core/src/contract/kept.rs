//! Which commits of documents are protected from git's garbage collection: deleting a branch must not delete an
//! accepted document.

use std::collections::BTreeSet;

use crate::Timestamp;
use crate::id::{IssueId, PhaseName};

/// A document that agents will still read: of the newest accepted delivery of a phase, or of one that is still to be
/// judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NeededDocument {
    /// The issue.
    pub issue: IssueId,
    /// The phase.
    pub phase: PhaseName,
    /// Where the document is; `None` if the delivery names none.
    pub path: Option<String>,
    /// The commit that has it.
    pub commit: String,
    /// Whether it was accepted.
    pub is_accepted: bool,
    /// When it was claimed.
    pub since: Timestamp,
}

/// A commit that a separate ref keeps for an issue.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeptCommit {
    /// The issue.
    pub issue: IssueId,
    /// The commit.
    pub commit: String,
}

/// Refs to make and to remove.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeepPlan {
    /// Commits that have no ref.
    pub keep: Vec<KeptCommit>,
    /// Commits that are no longer needed.
    pub release: Vec<KeptCommit>,
}

/// Decides which commits get a ref, and which lose theirs. `known` are the issues of the database: what another one
/// keeps in the same repository, or an older copy did, is left alone.
pub fn plan_kept(
    needed: &[NeededDocument],
    kept: &[KeptCommit],
    known: &BTreeSet<IssueId>,
) -> KeepPlan {
    let wanted: BTreeSet<KeptCommit> = needed
        .iter()
        .map(|document| KeptCommit {
            issue: document.issue.clone(),
            commit: document.commit.clone(),
        })
        .collect();
    let is_kept = |commit: &&KeptCommit| kept.contains(commit);
    KeepPlan {
        keep: wanted
            .iter()
            .filter(|commit| !is_kept(commit))
            .cloned()
            .collect(),
        release: kept
            .iter()
            .filter(|commit| known.contains(&commit.issue) && !wanted.contains(*commit))
            .cloned()
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit(text: &str) -> KeptCommit {
        let (issue, commit) = text.split_once(' ').unwrap();
        KeptCommit {
            issue: IssueId::parse(issue).unwrap(),
            commit: commit.to_owned(),
        }
    }

    fn needed(text: &str) -> NeededDocument {
        let KeptCommit { issue, commit } = commit(text);
        NeededDocument {
            issue,
            phase: PhaseName::parse("research").unwrap(),
            path: None,
            commit,
            is_accepted: true,
            since: Timestamp::from_millisecond(0).unwrap(),
        }
    }

    #[test]
    fn what_is_needed_is_kept_and_what_nobody_needs_is_released() {
        let known = BTreeSet::from(["A-1", "A-2"].map(|id| IssueId::parse(id).unwrap()));
        for (wanted, kept, keep, release) in [
            (&["A-1 a"][..], &[][..], &["A-1 a"][..], &[][..]),
            (&["A-1 a", "A-1 a"], &["A-1 a"], &[], &[]),
            (
                &["A-1 b"],
                &["A-1 a", "A-2 c"],
                &["A-1 b"],
                &["A-1 a", "A-2 c"],
            ),
            (&[], &["A-1 a", "B-1 x"], &[], &["A-1 a"]),
            (&["A-1 a", "A-2 a"], &["A-1 a"], &["A-2 a"], &[]),
        ] {
            let wanted: Vec<NeededDocument> = wanted.iter().map(|text| needed(text)).collect();
            let list = |texts: &[&str]| texts.iter().map(|text| commit(text)).collect::<Vec<_>>();
            let expected = KeepPlan {
                keep: list(keep),
                release: list(release),
            };
            assert_eq!(
                plan_kept(&wanted, &list(kept), &known),
                expected,
                "{kept:?}"
            );
        }
    }
}

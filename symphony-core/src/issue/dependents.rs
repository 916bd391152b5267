//! What happens to the issues that depend on one that was cancelled: they would wait for ever.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::closed_set::closed_set;
use crate::id::IssueId;

closed_set!(
    /// What a person wants for the issues that depend on one that is cancelled.
    DependentsFate, "choice for dependent issues", {
        /// They wait until a person decides; the inbox lists them.
        Keep = "keep",
        /// They are cancelled too, and so is what depends on them.
        Cancel = "cancel",
        /// They no longer depend on it and go on without it.
        Release = "release",
    }
);

/// An open issue and one that must be done before it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dependency {
    /// The open issue.
    pub issue: IssueId,
    /// What it depends on.
    pub depends_on: IssueId,
}

/// What happens to one dependent issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DependentEffect {
    /// The dependent issue.
    pub issue: IssueId,
    /// The issue that it depends on, which is cancelled.
    pub because_of: IssueId,
    /// What happens to it.
    pub fate: DependentsFate,
}

/// Decides what happens to the open issues that depend on `cancelled`.
///
/// Keeping and releasing concern those that name it. Cancelling also concerns those that depend on what it cancels;
/// each issue appears once, after the one because of which it is cancelled. `dependencies` are all pairs among the open
/// issues that depend on it, directly or through others.
pub fn settle_dependents(
    cancelled: &IssueId,
    fate: DependentsFate,
    dependencies: &[Dependency],
) -> Vec<DependentEffect> {
    let mut effects: Vec<DependentEffect> = Vec::new();
    let mut seen = BTreeSet::from([cancelled.clone()]);
    let mut reached = vec![cancelled.clone()];
    while !reached.is_empty() {
        let mut next = Vec::new();
        for gone in &reached {
            let dependents = dependencies.iter().filter(|pair| pair.depends_on == *gone);
            let dependents: BTreeSet<&IssueId> = dependents.map(|pair| &pair.issue).collect();
            for issue in dependents {
                if seen.insert(issue.clone()) {
                    effects.push(DependentEffect {
                        issue: issue.clone(),
                        because_of: gone.clone(),
                        fate,
                    });
                    next.push(issue.clone());
                }
            }
        }
        if fate != DependentsFate::Cancel {
            break;
        }
        reached = next;
    }
    effects
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u64) -> IssueId {
        IssueId::new("SYM", number).unwrap()
    }

    fn settled(fate: DependentsFate, pairs: &[(u64, u64)]) -> Vec<(String, String)> {
        let dependencies: Vec<Dependency> = pairs
            .iter()
            .map(|(issue, depends_on)| Dependency {
                issue: id(*issue),
                depends_on: id(*depends_on),
            })
            .collect();
        settle_dependents(&id(1), fate, &dependencies)
            .into_iter()
            .map(|effect| (effect.issue.to_string(), effect.because_of.to_string()))
            .collect()
    }

    fn pairs(expected: &[(u64, u64)]) -> Vec<(String, String)> {
        expected
            .iter()
            .map(|(issue, because)| (id(*issue).to_string(), id(*because).to_string()))
            .collect()
    }

    #[test]
    fn only_a_cancellation_goes_on_to_what_depends_on_the_dependents() {
        use DependentsFate::{Cancel, Keep, Release};
        let chain = [(2, 1), (3, 2), (4, 2), (4, 3), (5, 1)];
        for (fate, graph, expected) in [
            (Keep, &chain[..], &[(2, 1), (5, 1)][..]),
            (Release, &chain, &[(2, 1), (5, 1)]),
            (Cancel, &chain, &[(2, 1), (5, 1), (3, 2), (4, 2)]),
            (Cancel, &[], &[]),
            // it depends on another one only
            (Cancel, &[(3, 2)], &[]),
            // a circle in a damaged database ends
            (Cancel, &[(2, 1), (3, 2), (2, 3), (1, 3)], &[(2, 1), (3, 2)]),
        ] {
            assert_eq!(settled(fate, graph), pairs(expected), "{fate} {graph:?}");
        }
    }
}

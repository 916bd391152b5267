//! What happens to the issues that depend on one that was cancelled, or that left with its project: they would wait for
//! ever.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::closed_set::closed_set;
use crate::id::IssueId;

closed_set!(
    /// What happens to the issues that depend on one that is cancelled or removed with its project.
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
    /// The issue that it depends on, which is cancelled or gone.
    pub because_of: IssueId,
    /// What happens to it.
    pub fate: DependentsFate,
}

/// Decides what happens to the open issues that depend on those that are `gone`: cancelled, or out of the installation
/// with their project.
///
/// Keeping and releasing concern those that name it. Cancelling also concerns those that depend on what it cancels;
/// each issue appears once, after the one because of which it is cancelled. `dependencies` are all pairs among the open
/// issues that depend on it, directly or through others.
pub fn settle_dependents(
    gone: &[IssueId],
    fate: DependentsFate,
    dependencies: &[Dependency],
) -> Vec<DependentEffect> {
    let mut effects: Vec<DependentEffect> = Vec::new();
    let mut seen: BTreeSet<IssueId> = gone.iter().cloned().collect();
    let mut reached = gone.to_vec();
    let is_gone = |issue: &IssueId| gone.contains(issue);
    while !reached.is_empty() {
        let mut next = Vec::new();
        for gone in &reached {
            let dependents = dependencies.iter().filter(|pair| pair.depends_on == *gone);
            let dependents: BTreeSet<&IssueId> = dependents.map(|pair| &pair.issue).collect();
            for issue in dependents {
                let is_new = seen.insert(issue.clone());
                let lets_go = fate == DependentsFate::Release && !is_gone(issue);
                if is_new || lets_go {
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

    fn settled<const N: usize>(
        gone: [u64; N],
        fate: DependentsFate,
        pairs: &[(u64, u64)],
    ) -> Vec<(String, String)> {
        let dependencies: Vec<Dependency> = pairs
            .iter()
            .map(|(issue, depends_on)| Dependency {
                issue: id(*issue),
                depends_on: id(*depends_on),
            })
            .collect();
        settle_dependents(&gone.map(id), fate, &dependencies)
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
            assert_eq!(
                settled([1], fate, graph),
                pairs(expected),
                "{fate} {graph:?}"
            );
        }
    }

    #[test]
    fn issues_that_leave_together_are_no_dependents_of_each_other() {
        use DependentsFate::{Cancel, Keep, Release};
        // 1 and 2 leave; 3 waits for one of them, 4 for both, 5 for 3
        let graph = [(2, 1), (3, 2), (4, 1), (4, 2), (5, 3)];
        for (fate, expected) in [
            (Keep, &[(4, 1), (3, 2)][..]),
            (Cancel, &[(4, 1), (3, 2), (5, 3)]),
            // an issue is let go from each that leaves
            (Release, &[(4, 1), (3, 2), (4, 2)]),
        ] {
            assert_eq!(settled([1, 2], fate, &graph), pairs(expected), "{fate}");
        }
    }
}

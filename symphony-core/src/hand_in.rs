//! Work that an agent could not hand in: why `create_pr` was refused, and how often it may be for the same reason.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::closed_set::closed_set;

/// Runs in a row whose `create_pr` was refused for one reason, the last one included, at which it counts as a failure: one may
/// have run out of time before it had put it right.
pub const REFUSED_FAILS: u32 = 2;
/// The same at which the issue waits for a person: three agents were told what to do, and none of them could.
pub const REFUSED_STOPS: u32 = 3;
/// Characters of a refusal that are kept.
const MESSAGE_CHARS_MAX: usize = 2_000;

closed_set!(
    /// Why `create_pr` was refused.
    RefusalKind, "refusal of create_pr", {
        /// There are uncommitted changes.
        Uncommitted = "uncommitted",
        /// Something else than the branch is checked out.
        OtherBranch = "other_branch",
        /// The branch has no commits of its own.
        NothingCommitted = "nothing_committed",
        /// The commits change nothing.
        NothingChanged = "nothing_changed",
        /// A git repository inside the worktree holds work that no commit has.
        NestedRepository = "nested_repository",
        /// A commit holds secrets.
        Secrets = "secrets",
        /// Anything else.
        Other = "other",
    }
);

/// A pull request that was not opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedHandIn {
    /// Why.
    pub kind: RefusalKind,
    /// What the agent was told.
    pub message: String,
}

impl RefusedHandIn {
    /// Makes it of what the agent was told.
    pub fn new(kind: RefusalKind, message: &str) -> Self {
        Self {
            kind,
            message: message.chars().take(MESSAGE_CHARS_MAX).collect(),
        }
    }

    /// Says whether another one is for the same reason: the files that it names may be others.
    pub fn is_like(&self, other: &Self) -> bool {
        self.kind == other.kind
            && (self.kind != RefusalKind::Other || self.message == other.message)
    }
}

/// What was refused and why, as a sentence without its full stop.
impl fmt::Display for RefusedHandIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`create_pr`, which opens the pull request, was refused: {}",
            self.message
        )
    }
}

/// What a run's refused `create_pr` does to its issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalEffect {
    /// The work goes on at once.
    Continues,
    /// The run has failed: the next one waits, longer each time.
    Fails,
    /// Another run would end alike: the circuit breaker opens.
    Stops,
}

/// Decides what a refusal does after `before` runs in a row whose `create_pr` was refused for the same reason.
pub const fn refusal_effect(before: u32) -> RefusalEffect {
    let count = before.saturating_add(1);
    if count >= REFUSED_STOPS {
        RefusalEffect::Stops
    } else if count >= REFUSED_FAILS {
        RefusalEffect::Fails
    } else {
        RefusalEffect::Continues
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_like_another_whatever_files_it_names() {
        use RefusalKind::{Other, Secrets, Uncommitted};
        let refused = RefusedHandIn::new;
        let first = refused(Uncommitted, "uncommitted changes (a.rs)");
        assert!(first.is_like(&refused(Uncommitted, "uncommitted changes (b.rs)")));
        assert!(!first.is_like(&refused(Secrets, "uncommitted changes (a.rs)")));
        // of these nothing is known but their words
        assert!(refused(Other, "no title").is_like(&refused(Other, "no title")));
        assert!(!refused(Other, "no title").is_like(&refused(Other, "no body")));
        assert_eq!(
            refused(Other, &"ä".repeat(9_999)).message.chars().count(),
            2_000
        );
    }

    #[test]
    fn the_second_refusal_in_a_row_fails_and_the_third_stops() {
        use RefusalEffect::{Continues, Fails, Stops};
        let effects: Vec<RefusalEffect> = (0..5).map(refusal_effect).collect();
        assert_eq!(effects, [Continues, Fails, Stops, Stops, Stops]);
        assert_eq!(refusal_effect(u32::MAX), Stops);
    }
}

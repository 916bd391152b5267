//! A merge that was not made by Symphony, and how the base shows it.

use serde::{Deserialize, Serialize};

use crate::closed_set::closed_set;

closed_set!(
    /// How the base shows that it has a change.
    Evidence, "evidence of a merge", {
        /// Its history holds the approved head itself: a fast-forward or a merge commit.
        History = "history",
        /// Merging the head into it changes no file: a squash, a rebase, picked commits.
        Tree = "tree",
        /// It has a commit with the same patch for each commit of the branch, and was edited afterwards.
        Patch = "patch",
        /// The forge says that it merged the pull request, and which commit of the base has it.
        Forge = "forge",
    }
);

impl Evidence {
    /// Describes how the change got there, as far as is known.
    pub const fn words(self) -> &'static str {
        match self {
            Self::History => "with its commits",
            Self::Tree => "with the same files",
            Self::Patch => "with the same patches",
            Self::Forge => "by the forge",
        }
    }
}

/// A merge that was not made by Symphony.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutsideMerge {
    /// The first commit of the base that has the whole change.
    pub commit: String,
    /// How the base shows it.
    pub evidence: Evidence,
    /// Who made it, if git says so.
    pub by: Option<String>,
}

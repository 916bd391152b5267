//! What the section `forge` says: where a project's pull requests are mirrored, and how they are merged there.

use std::collections::BTreeMap;

use super::tracker::TokenSource;
use super::value::Millis;
use crate::closed_set::closed_set;
use crate::user::UserName;

closed_set!(
    /// A forge that Symphony can exchange pull requests with.
    ForgeKind, "kind of forge", {
        /// Pull requests of a repository on GitHub.
        Github = "github",
    }
);

closed_set!(
    /// When a branch is pushed.
    PushWhen, "time of the push", {
        /// As soon as its pull request is opened here and its gates are green.
        Opened = "opened",
        /// Once its pull request is approved here.
        Approved = "approved",
    }
);

closed_set!(
    /// Where a pull request is merged.
    MergeWhere, "place of the merge", {
        /// At the forge if the base branch is protected there, otherwise here.
        Auto = "auto",
        /// At the forge.
        Forge = "forge",
        /// Here; the base branch is pushed then.
        Local = "local",
    }
);

closed_set!(
    /// How the forge merges.
    ForgeMethod, "merge method", {
        /// By a commit with two parents.
        Merge = "merge",
        /// As one commit.
        Squash = "squash",
        /// By repeating the commits on the base.
        Rebase = "rebase",
    }
);

/// A repository at a forge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgeRepository {
    /// Whose it is.
    pub owner: String,
    /// Its name.
    pub name: String,
}

/// The forge of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgeSettings {
    /// Which one it is.
    pub kind: ForgeKind,
    /// The repository; `None` to read it from the address of the remote.
    pub repository: Option<ForgeRepository>,
    /// The remote of git that branches are pushed to and the base is fetched from.
    pub remote: String,
    /// The address of its API, without a slash at the end.
    pub endpoint: String,
    /// Where its token comes from.
    pub token: TokenSource,
    /// When a branch is pushed.
    pub push: PushWhen,
    /// Where it is merged.
    pub merge: MergeWhere,
    /// How the forge merges.
    pub method: ForgeMethod,
    /// Who may approve and reject there: a name here, and the user's id at the forge, which no rename changes.
    pub reviewers: BTreeMap<UserName, String>,
    /// Checks that have to pass, beside those that the base branch requires there.
    pub checks: Vec<String>,
    /// Whether a failed check is run a second time before it counts.
    pub rerun: bool,
    /// Least time between two looks.
    pub poll: Millis,
}

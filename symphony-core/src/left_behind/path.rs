//! A path that no commit has, and why.

use serde::{Deserialize, Serialize};

use crate::closed_set::closed_set;
use crate::config_change::SharedChanges;

closed_set!(
    /// Why a path is in no commit.
    LeftKind, "kind of path that is left behind", {
        /// It is a git repository of its own, whose files no commit of the worktree can hold.
        Repository = "nested_repository",
        /// Git ignores it, and it is nothing that builds and tools usually make.
        Ignored = "ignored",
        /// Symphony copied it into the worktree, and the agent changed it there.
        Copied = "copied_file",
        /// A submodule with commits or changes that exist nowhere else.
        Submodule = "submodule",
        /// A file with a git filter that Symphony may not run, and the filter.
        Unfiltered = "unfiltered",
        /// A rescue ref that has what came after the commit that was handed in.
        PutAside = "put_aside",
        /// A ref that has what the agent had done when its host, which was lost, last saved it.
        Saved = "saved",
        /// A setting of the git configuration that all checkouts of the repository share, which changed meanwhile.
        Setting = "shared_setting",
        /// A key of Symphony's configuration, or a file of the project's prompts, that changed meanwhile.
        Configuration = "configuration",
        /// A branch, a tag or a stash entry of the repository that was deleted or rewritten meanwhile, in words.
        Ref = "shared_ref",
        /// Another branch than the run's own that has commits of the agent.
        OtherBranch = "other_branch",
        /// A rescue ref that has commits of the agent which were on no branch.
        Unreferenced = "unreferenced",
        /// A rescue ref that has what the agent put into the stash.
        Stash = "stash",
    }
);

/// A path that is left behind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LeftBehind {
    /// Why no commit has it.
    pub kind: LeftKind,
    /// The path, relative to the worktree; a folder includes everything in it. For a rescue ref, a setting and a key,
    /// their names.
    pub path: String,
}

impl LeftBehind {
    /// Returns whether it is work, and not something that changed meanwhile.
    pub fn is_work(&self) -> bool {
        !matches!(
            self.kind,
            LeftKind::Setting | LeftKind::Configuration | LeftKind::Ref
        )
    }
}

/// Returns what changed during a run in the state that it shares with the person.
pub fn shared_changes(left: &[LeftBehind]) -> SharedChanges {
    let of = |kind| {
        let of_kind = left.iter().filter(|left| left.kind == kind);
        of_kind.map(|left| left.path.clone()).collect()
    };
    SharedChanges {
        settings: of(LeftKind::Setting),
        configuration: of(LeftKind::Configuration),
        refs: of(LeftKind::Ref),
    }
}

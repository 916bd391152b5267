//! Merging: the base into a worktree, and an approved head into the base.

mod in_the_way;
mod into_base;
mod into_worktree;
mod journal;
mod plan;
mod style;

pub use in_the_way::BaseCheckout;
pub use into_base::MergedBy;
pub(crate) use plan::merge_trees;
pub use plan::{MergePlan, MergedTrees};
pub use style::MergeStyle;

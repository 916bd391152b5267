//! What a run changed: status, auto-commit, rescue refs, reset to a recorded head, diff snapshot.

mod auto_commit;
mod commit;
mod diff;
mod generated;
mod inner;
pub(crate) mod operation;
mod overwrite;
mod rescue;
mod rescue_ref;
mod reset;
mod scope;
mod stage;
mod status;
mod touched;
mod unfiltered;

pub use auto_commit::{AutoCommit, work_in_progress};
pub use commit::TreeEntry;
pub use diff::{ChangeKind, DiffSnapshot, FileChange};
pub use rescue_ref::RescueRef;
pub use reset::Reset;
pub use status::Status;

pub(crate) use auto_commit::is_work_in_progress;
pub(crate) use diff::paths_of;
pub(crate) use inner::{
    Inner, differs_from_link, has_unpublished_commits, inner_at, links_of_commit, links_of_index,
};
pub(crate) use overwrite::overwrite;
pub(crate) use status::{repo_path_text, status_of, tracked_changes};
pub(crate) use touched::{Touched, touched};

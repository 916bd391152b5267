//! Issues: added, read, changed, moved, ended.

pub(crate) mod add;
pub(crate) mod cascade;
pub(crate) mod case;
pub(crate) mod clean_up_fault;
pub(crate) mod delete;
pub(crate) mod dependency;
pub(crate) mod edit;
pub(crate) mod end;
pub(crate) mod import;
pub(crate) mod message;
pub(crate) mod note;
pub(crate) mod query;
pub(crate) mod refusal;
pub(crate) mod reparent;
pub(crate) mod stream;
pub(crate) mod subtask;
pub(crate) mod worktree;
pub(crate) mod write;

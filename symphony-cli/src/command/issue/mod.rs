//! The backlog: `symphony issue`.

mod add;
mod comment;
mod edit;
mod export;
mod format;
mod import;
mod list;
mod relocate;
mod retry;
mod show;
mod tree;

pub(crate) use tree::IssueCommand;

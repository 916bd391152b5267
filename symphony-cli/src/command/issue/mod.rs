//! The backlog: `symphony issue`.

mod add;
mod close;
mod comment;
mod delete;
mod edit;
mod ending;
mod export;
mod format;
mod history;
mod import;
mod list;
mod release;
mod relocate;
mod repair;
mod retry;
mod show;
mod tree;

pub(crate) use tree::IssueCommand;

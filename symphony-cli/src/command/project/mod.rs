//! Projects of the installation: `symphony project`.

mod add;
mod find;
mod list;
mod relocate;
mod remove;
mod rename_prefix;
mod show;
mod tree;
mod wizard;

pub(crate) use tree::ProjectCommand;

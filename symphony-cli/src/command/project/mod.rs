//! Projects of the installation: `symphony project`.

mod add;
mod find;
mod list;
mod show;
mod tree;
mod wizard;

pub(crate) use tree::ProjectCommand;

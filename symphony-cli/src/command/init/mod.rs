//! `symphony init`: sets a repository up.

mod args;
mod file;
mod ignore;
mod register;
mod view;
mod wizard;

pub(crate) use args::{InitArgs, Place, TrialArgs, propose};
pub(crate) use wizard::ask_wizard;

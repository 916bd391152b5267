//! `symphony init`: sets a repository up.

mod args;
mod file;
mod ignore;
mod register;
mod sandbox;
mod view;
mod wizard;

pub(crate) use args::{InitArgs, Place, TrialArgs, propose};
pub(crate) use sandbox::LEVEL_KEY;
pub(crate) use wizard::ask_wizard;

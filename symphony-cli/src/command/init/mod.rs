//! `symphony init`: sets a repository up.

mod args;
mod file;
mod ignore;
mod register;
mod view;

pub(crate) use args::{InitArgs, Place, TrialArgs};

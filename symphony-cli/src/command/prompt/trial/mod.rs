//! `symphony prompt trial`: recorded issues are done again with two sets of prompts, and the sets are compared.

mod args;
mod case;
mod drive;
mod folder;
mod sets;
mod view;

pub(super) use args::TrialArgs;

//! `symphony prompt trial`: recorded issues are done again with two sets of prompts, or issues in real work are given one of
//! two, and the sets are compared.

mod args;
mod case;
mod drive;
mod folder;
mod issues;
mod limits;
mod live;
mod live_view;
mod lock;
mod measured;
mod sets;
mod spent;
mod texts;
mod view;

pub(super) use args::TrialArgs;

//! The forge that pull requests are mirrored with: `symphony forge`.

mod check;
mod configured;
mod remedy;
mod status;
mod sync;
mod tree;

pub(crate) use remedy::Remedy;
pub(crate) use tree::ForgeCommand;

//! The forge that pull requests are mirrored with: `symphony forge`.

mod check;
mod configured;
mod status;
mod sync;
mod tree;

pub(crate) use check::hint_for;
pub(crate) use tree::ForgeCommand;

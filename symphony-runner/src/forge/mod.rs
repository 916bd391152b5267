//! The exchange with forges: what `symphony-forge` decides, carried out (design 0048).
//!
//! `helper` is the process that does it, `place` which repository it is, `due` which projects are looked at, `client` how a forge
//! is reached, `round` one look, and `sick` what one pull request's fault means for the others.
//! `base` keeps the base branch as it is there (`kept_base` is one that a person has to push), `push` and `open` bring a pull request there, `hear` takes reviews in,
//! `checks` what CI says (`log` the end of a job's log), `reply` answers people there, and `ended` and `end` follow merges and closes. `merge` decides where a merge
//! that a person orders is made, and `order` has it made there.

mod base;
mod checks;
mod client;
mod due;
mod end;
mod ended;
mod fault;
mod hear;
mod helper;
mod kept_base;
mod log;
mod merge;
mod open;
mod order;
mod place;
mod push;
mod reply;
mod report;
mod round;
mod sick;
mod trouble;

pub use client::{ForgeAccess, ForgeFault, ForgeProblem, check_forge};
pub use helper::{forge_due, forge_now};
pub use report::ForgeReport;

pub(crate) use helper::start_forge;
pub(crate) use merge::ForgeMerge;
pub(crate) use trouble::forge_in_trouble;

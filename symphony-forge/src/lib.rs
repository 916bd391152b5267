//! Pure decisions of the exchange with forges (the specification's `trackers.md`, "Forges"; design 0048).
//!
//! A forge has a pull request for a branch that Symphony made. This crate decides what each side has to change; it reads no
//! network, database, repository or clock. `symphony-sync` speaks to forges, `symphony-workspace` pushes and fetches,
//! `symphony-store` keeps what was agreed, and `symphony-runner` composes them.
//!
//! [`remote`] has what a forge says of a pull request, [`change`] what Symphony asks it to change. [`branch`] decides whether a
//! branch is pushed, [`base`] what happens to a base that both sides have, [`text`] what the pull request there says, [`reading`]
//! whether a conversation was read to its end, [`review`] what people's reviews there mean here, [`check`] what its checks mean and
//! [`unseen`] which of them nothing reports, [`fault`] what a fault says about the other pull requests, and [`end`] what follows if
//! one side has merged or closed it.

mod act;
mod asked;
pub mod base;
pub mod branch;
pub mod change;
pub mod check;
pub mod end;
pub mod fault;
mod opinion;
pub mod reading;
pub mod remote;
pub mod review;
mod room;
pub mod text;
pub mod unseen;

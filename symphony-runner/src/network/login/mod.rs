//! A CLI's own login in a sandbox: a private copy, and what comes back of it.
//!
//! The home of a sandbox is empty, so a CLI that is logged in by a file gets a copy. A CLI that refreshes its login makes
//! the old one invalid, so the new one has to come back, or the user would be logged out. Only the tokens come back, and only
//! for the same account: whatever else an agent writes into its copy stays there.

mod copy;
mod decide;
mod key;

pub(crate) use copy::LoginCopy;
pub(crate) use key::kept_key;

//! `symphony serve`: the web page.

mod args;
mod checking;
mod doors;
mod reach;
mod ticking;
mod user;

pub(crate) use args::{ServeCommand, ServeOptions};

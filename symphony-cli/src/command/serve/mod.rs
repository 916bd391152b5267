//! `symphony serve`: the web page.

mod args;
mod ticking;

pub(crate) use args::{ServeCommand, ServeOptions};

//! Turning what agents wrote into safe HTML: pure functions, each escapes all that it is given.
//!
//! The output has no inline style and no script, so that it works under a strict Content-Security-Policy. Its classes
//! are styled by [`STYLE`].

pub mod ansi;
pub mod chart;
pub mod dag;
pub mod diff;
pub mod log;
pub mod markdown;
pub mod meter;
mod safe;
pub mod time;

/// The rules for the classes that this module writes; they use the variables of the page's stylesheet.
pub const STYLE: &str = include_str!("style.css");

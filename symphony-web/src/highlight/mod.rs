//! Colours for the code of diffs: classes, no styles.
//!
//! Agents write the code, and a syntax is a set of regular expressions that backtrack. So a thread of its own colours, and a page waits
//! for it only for a moment: what is not coloured by then is plain.

mod class;
mod paint;
mod worker;

pub use worker::highlight;
#[cfg(test)]
pub(crate) use worker::highlight_until;

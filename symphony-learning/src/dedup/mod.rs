//! Which texts are contained in others, exactly, in nearly linear time.
//!
//! The relation depends on the texts alone (and, between equal ones, on their age and id), never on scores. So there
//! are two ways to it that must agree: [`full`] decides every text, [`few`] a handful against all.

mod classes;
pub(crate) mod few;
pub(crate) mod full;
mod gram;
pub(crate) mod limits;
mod order;
mod rolling;
mod sampled;
mod short;
mod sketch;
mod sought;
mod state;
mod stretches;

pub use state::Work;

#[cfg(test)]
mod tests;

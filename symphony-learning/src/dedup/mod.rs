//! Which texts are contained in others, exactly, in nearly linear time.
//!
//! The relation depends on the texts alone (and, between equal ones, on their age and id), never on scores. So there
//! are two ways to it that must agree: [`full`] decides every text, [`few`] a handful against all.

mod classes;
pub(crate) mod few;
pub(crate) mod full;
mod gram;
mod order;
mod rolling;
mod sampled;
mod short;
mod sketch;

pub use full::Work;

/// How many steps the ways that hashes lead may take before an automaton takes over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Steps allowed in any case, so that small inputs need no second way.
    free: u64,
    /// Bytes read for each step that is allowed besides.
    bytes_per_step: u64,
}

/// A step may miss every cache and then costs as much as reading some 30 bytes. Natural texts stay far below.
pub(crate) const LIMITS: Limits = Limits {
    free: 4_096,
    bytes_per_step: 4,
};

impl Limits {
    fn steps_max(self, bytes: usize) -> u64 {
        self.free + bytes as u64 / self.bytes_per_step
    }
}

#[cfg(test)]
mod tests;

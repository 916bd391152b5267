//! Which texts are contained in others, exactly, in nearly linear time.
//!
//! The relation depends on the texts alone (and, between equal ones, on their age and id), never on scores. So there
//! are two ways to it that must agree: [`full`] decides every text, [`few`] a handful against all.

pub(crate) mod few;
pub(crate) mod full;
mod gram;
mod order;
mod sampled;
mod sketch;

pub use full::Work;

/// How many steps the ways that hashes lead may take before an automaton takes over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Steps allowed in any case, so that small inputs need no second way.
    free: u64,
    /// Steps allowed besides for each byte that is read.
    per_byte: u64,
}

/// Natural texts need about 0.05 steps per byte; a step costs a few times as much as reading a byte.
pub(crate) const LIMITS: Limits = Limits {
    free: 4_096,
    per_byte: 1,
};

impl Limits {
    fn steps_max(self, bytes: usize) -> u64 {
        self.free + self.per_byte * bytes as u64
    }
}

#[cfg(test)]
mod tests;

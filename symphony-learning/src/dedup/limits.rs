//! How many steps the ways that hashes lead may take.

/// How many steps the ways that hashes lead may take before an automaton takes over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Steps allowed in any case, so that small inputs need no second way.
    pub(super) free: u64,
    /// Bytes read for each step that is allowed besides.
    pub(super) bytes_per_step: u64,
}

/// A step may miss every cache and then costs as much as reading some 30 bytes. Natural texts stay far below.
pub(crate) const LIMITS: Limits = Limits {
    free: 4_096,
    bytes_per_step: 4,
};

impl Limits {
    pub(super) fn steps_max(self, bytes: usize) -> u64 {
        self.free + bytes as u64 / self.bytes_per_step
    }
}

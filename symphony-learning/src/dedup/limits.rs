//! How many steps the search by hashes may take.

/// How many steps the search by hashes may take before an automaton takes over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Steps that are always allowed, so that small inputs need no automaton.
    pub(super) free: u64,
    /// Bytes of input for each further step that is allowed.
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

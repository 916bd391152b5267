//! The classes of failures.

use crate::closed_set::closed_set;

closed_set!(
    /// What kind of failure a phase met. The order is that of the search: the first class that fits counts.
    FailureClass, "failure class", {
        /// A limit of time or turns.
        Timeout = "timeout",
        /// Something that does not fix itself: syntax, configuration, a missing module.
        Permanent = "permanent",
        /// The work is wrong: tests, types, lints, a merge conflict.
        Logic = "logic",
        /// The network or a service.
        Transient = "transient",
        /// Files, permissions, memory, disk.
        Resource = "resource",
        /// A check of the phase, that Symphony ran itself.
        CheckFailed = "check_failed",
        /// Anything else.
        Unknown = "unknown",
    }
);

impl FailureClass {
    /// The names of the classes that a project may have patterns for.
    pub const OF_TEXTS: &[&str] = &["timeout", "permanent", "logic", "transient", "resource"];

    /// Returns the class as a person reads it; `None` if nothing is known.
    pub const fn words(self) -> Option<&'static str> {
        Some(match self {
            Self::Timeout => "a time limit",
            Self::Permanent => "a lasting fault",
            Self::Logic => "a fault of the work",
            Self::Transient => "a fault of the network or a service",
            Self::Resource => "a fault of the machine",
            Self::CheckFailed => "a red check",
            Self::Unknown => return None,
        })
    }

    /// Returns whether such a failure is retried without asking.
    pub const fn is_retried(self) -> bool {
        !matches!(self, Self::Permanent | Self::Logic)
    }
}

//! How far an audit is.

/// What an audit of the database does next. In a large installation each step takes a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditStep {
    /// Check the file that holds the rows.
    File,
    /// Ask one question about all rows.
    Rows {
        /// How many questions have been answered.
        done: usize,
        /// How many there are.
        total: usize,
    },
    /// Replay the logs of the next issues.
    Logs {
        /// How many issues have been checked.
        done: i64,
        /// How many there are.
        total: i64,
    },
}

/// Hears of each step before it is taken.
pub type AuditWatch<'a> = &'a mut dyn FnMut(AuditStep);

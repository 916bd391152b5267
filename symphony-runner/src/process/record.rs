//! What the table of processes tells of one process.

/// What the table of processes tells of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessRecord {
    /// The process number.
    pub pid: i32,
    /// The short name of its program, as the process chose it.
    pub name: String,
    /// False for one that has ended and only waits to be reaped.
    pub is_alive: bool,
    /// Number of its parent.
    pub parent: i32,
    /// Number of its process group.
    pub group: i32,
    /// Number of its session.
    pub session: i32,
    /// When it started, in clock ticks since boot.
    pub start_time: u64,
    /// Number of its controlling terminal, 0 for none.
    pub terminal: i32,
}

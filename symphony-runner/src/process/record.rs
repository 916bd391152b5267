//! An entry of the table of processes.

/// What the table of processes contains about one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessRecord {
    /// The pid.
    pub pid: i32,
    /// The short name of its program, which the process can choose.
    pub name: String,
    /// False for a zombie, which has ended and waits to be reaped.
    pub is_alive: bool,
    /// The pid of its parent.
    pub parent: i32,
    /// The number of its process group.
    pub group: i32,
    /// The number of its session.
    pub session: i32,
    /// When it started, in clock ticks since boot.
    pub start_time: u64,
    /// The number of its controlling terminal, 0 for none.
    pub terminal: i32,
}

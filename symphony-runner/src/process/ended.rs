//! The result of ending the processes of a run.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use super::error::ProcessError;
use super::record::ProcessRecord;

/// How long a sweep tries. A killed process is gone within milliseconds unless it hangs in the kernel, and then more
/// time does not help either.
pub const SWEEP_TIME_MAX: Duration = Duration::from_secs(10);

/// How many ended processes are listed by name.
pub const ENDED_LISTED_MAX: usize = 64;

/// How many survivors an error names.
const SURVIVORS_NAMED_MAX: usize = 8;

/// A process that a sweep ended.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct EndedProcess {
    /// Its number.
    pub pid: i32,
    /// The short name of its program.
    pub name: String,
}

/// What a sweep ended, for the record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ended {
    listed: Vec<EndedProcess>,
    pub(super) seen: BTreeSet<(i32, u64)>,
}

impl Ended {
    /// Returns the number of processes.
    pub fn count(&self) -> usize {
        self.seen.len()
    }

    /// Returns the first ones, at most [`ENDED_LISTED_MAX`].
    pub fn listed(&self) -> &[EndedProcess] {
        &self.listed
    }

    pub(super) fn note(&mut self, process: &ProcessRecord) {
        let is_new = self.seen.insert((process.pid, process.start_time));
        if is_new && self.listed.len() < ENDED_LISTED_MAX {
            self.listed.push(EndedProcess {
                pid: process.pid,
                name: process.name.clone(),
            });
        }
    }
}

impl fmt::Display for EndedProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.pid, self.name)
    }
}

/// Returns the error that names the surviving processes.
pub(super) fn survivors(left: &[ProcessRecord]) -> ProcessError {
    let names: Vec<String> = left
        .iter()
        .take(SURVIVORS_NAMED_MAX)
        .map(|process| format!("{} ({})", process.pid, process.name))
        .collect();
    ProcessError::Survivors {
        count: left.len(),
        seconds: SWEEP_TIME_MAX.as_secs(),
        examples: names.join(", "),
    }
}

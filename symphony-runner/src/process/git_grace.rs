//! Git gets SIGTERM before SIGKILL. A git that is killed at once leaves its locks, and no one can commit any longer.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::error::ProcessError;
use super::record::ProcessRecord;
use super::system::{ProcessHandle, Signal};

/// How long all git processes of a run together have between SIGTERM and SIGKILL. Git removes its locks within
/// milliseconds.
pub const GIT_GRACE: Duration = Duration::from_secs(1);

/// What to do with a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LastWord {
    /// Send SIGTERM.
    Request,
    /// Wait, since it got SIGTERM already.
    Patience,
    /// Send SIGKILL.
    Kill,
}

/// The time that one sweep gives to the git processes that it meets.
#[derive(Debug)]
pub(super) struct GitGrace {
    until: Instant,
    asked: BTreeSet<(i32, u64)>,
}

impl GitGrace {
    /// Starts with the sweep. A process that is started later has only the rest of the time.
    pub(super) fn begin() -> Self {
        Self {
            until: Instant::now() + GIT_GRACE,
            asked: BTreeSet::new(),
        }
    }

    /// Returns what to do with a process now.
    pub(super) fn word_for(&self, process: &ProcessRecord) -> LastWord {
        let is_asked = self.asked.contains(&(process.pid, process.start_time));
        last_word(&process.name, is_asked, Instant::now() >= self.until)
    }

    /// Does it. Returns false when the process is gone.
    pub(super) fn tell(
        &mut self,
        process: &ProcessRecord,
        handle: &ProcessHandle,
    ) -> Result<bool, ProcessError> {
        match self.word_for(process) {
            LastWord::Kill => handle.send(Signal::Kill),
            LastWord::Patience => Ok(true),
            LastWord::Request => {
                self.asked.insert((process.pid, process.start_time));
                // The request goes first, so that a stopped process handles it as soon as it continues.
                let is_there = handle.send(Signal::Terminate)?;
                Ok(handle.send(Signal::Continue)? && is_there)
            }
        }
    }
}

fn last_word(name: &str, is_asked: bool, is_time_over: bool) -> LastWord {
    let is_git = name == "git" || name.starts_with("git-");
    match (is_git && !is_time_over, is_asked) {
        (false, _) => LastWord::Kill,
        (true, false) => LastWord::Request,
        (true, true) => LastWord::Patience,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_git_is_asked_once_and_not_for_long() {
        for (name, is_asked, is_time_over, expected) in [
            ("git", false, false, LastWord::Request),
            ("git", true, false, LastWord::Patience),
            ("git", true, true, LastWord::Kill),
            ("git", false, true, LastWord::Kill),
            ("git-remote-http", false, false, LastWord::Request),
            ("bash", false, false, LastWord::Kill),
            ("gitk", false, false, LastWord::Kill),
            ("digit", true, false, LastWord::Kill),
        ] {
            let found = last_word(name, is_asked, is_time_over);
            assert_eq!(found, expected, "{name} {is_asked} {is_time_over}");
        }
    }
}

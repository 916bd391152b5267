//! Git is asked before it is killed: one that gets SIGKILL at once leaves its locks, and no one can commit any more.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::error::ProcessError;
use super::record::ProcessRecord;
use super::system::{ProcessHandle, Signal};

/// Time that the git processes of a run have between SIGTERM and SIGKILL, all together. Git removes its locks within
/// milliseconds.
pub const GIT_GRACE: Duration = Duration::from_secs(1);

/// What a process gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LastWord {
    /// SIGTERM.
    Request,
    /// Time: it was asked already.
    Patience,
    /// SIGKILL.
    Kill,
}

/// The time that one sweep gives the git processes it meets.
#[derive(Debug)]
pub(super) struct GitGrace {
    until: Instant,
    asked: BTreeSet<(i32, u64)>,
}

impl GitGrace {
    /// Begins with the sweep: what is born later gets what is left of the time.
    pub(super) fn begin() -> Self {
        Self {
            until: Instant::now() + GIT_GRACE,
            asked: BTreeSet::new(),
        }
    }

    /// Says what a process gets now.
    pub(super) fn word_for(&self, process: &ProcessRecord) -> LastWord {
        let is_asked = self.asked.contains(&(process.pid, process.start_time));
        last_word(&process.name, is_asked, Instant::now() >= self.until)
    }

    /// Gives it to the process; false when it is gone.
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
                // First the request: awake, a stopped one finds it at once.
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

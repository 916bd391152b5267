//! Exit handling that failed: when it is retried, and when it is given up (spec: lifecycle, "Exit handling").
//!
//! The agent has ended and its outcome is recorded; a dead git, a lock or a full disk say nothing about its work. So
//! the run stays as it is, uses no attempt and holds no slot, and any later tick continues it.

use serde::{Deserialize, Serialize};

use crate::Timestamp;
use crate::backoff::Backoff;
use crate::retry::after;

/// First wait before exit handling is retried, in milliseconds.
pub const EXIT_WAIT_FIRST_MS: u64 = 5_000;
/// Longest wait, in milliseconds.
pub const EXIT_WAIT_MAX_MS: u64 = 600_000;
/// Tries if git refused, or the database's server refused to prepare a run: what an agent left may be the reason, and then the next try
/// fails, too.
pub const REFUSED_TRIES_MAX: u32 = 4;
/// Tries if the machine was the reason: more than an hour, including all waits.
pub const MACHINE_TRIES_MAX: u32 = 12;

/// Why exit handling did not finish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitFault {
    /// What is in the worktree: the next try would find the same.
    Work,
    /// Git refused, or in the preparation of a run the database's server.
    Refused,
    /// Git was killed or too slow, a lock is taken, a file cannot be read or written, the database does not answer.
    Machine,
}

/// What happens after a try that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterFault {
    /// It is tried again, after this many milliseconds.
    Again(u64),
    /// The run ends with the reason; its work is in the worktree as the agent left it.
    GiveUp,
}

/// Decides what happens after `tries` tries, the failed one included; no wait is longer than `wait_max_ms`.
pub fn after_fault(fault: ExitFault, tries: u32, wait_max_ms: u64) -> AfterFault {
    let tries_max = match fault {
        ExitFault::Work => 0,
        ExitFault::Refused => REFUSED_TRIES_MAX,
        ExitFault::Machine => MACHINE_TRIES_MAX,
    };
    if tries >= tries_max {
        return AfterFault::GiveUp;
    }
    let backoff = Backoff::steady(EXIT_WAIT_FIRST_MS, EXIT_WAIT_MAX_MS.min(wait_max_ms));
    AfterFault::Again(backoff.delay_ms("", tries))
}

/// Returns whether a run whose preparation failed uses no attempt, after `tries` such runs in a row, including this
/// one. If git or the server refused, what an earlier agent left may be the reason: then it counts in the end.
pub const fn is_unprepared(fault: ExitFault, tries: u32) -> bool {
    match fault {
        ExitFault::Work => false,
        ExitFault::Refused => tries < REFUSED_TRIES_MAX,
        ExitFault::Machine => true,
    }
}

/// Returns how long the next run waits, in milliseconds, after `tries` in a row that could not be prepared. There is no
/// limit: a person finds it in the inbox, and the machine may be repaired at any time.
pub fn unprepared_wait_ms(tries: u32, wait_max_ms: u64) -> u64 {
    match after_fault(
        ExitFault::Machine,
        tries.clamp(1, MACHINE_TRIES_MAX - 1),
        wait_max_ms,
    ) {
        AfterFault::Again(wait) => wait,
        AfterFault::GiveUp => wait_max_ms.min(EXIT_WAIT_MAX_MS),
    }
}

/// Postponed exit handling.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PutOff {
    /// How often it was tried.
    pub tries: u32,
    /// The earliest time of the next try.
    pub due_at: Timestamp,
    /// Why the last try did not finish.
    pub problem: String,
}

impl PutOff {
    /// Returns whether it is due; a time beyond the longest wait is from before the clock was set back.
    pub fn is_due(&self, now: Timestamp) -> bool {
        self.due_at <= now || self.due_at > after(now, EXIT_WAIT_MAX_MS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_end() {
        use AfterFault::{Again, GiveUp};
        let max = u64::MAX;
        for (fault, tries, wait_max_ms, expected) in [
            (ExitFault::Work, 1, max, GiveUp),
            (ExitFault::Refused, 1, max, Again(5_000)),
            (ExitFault::Refused, 3, max, Again(20_000)),
            (ExitFault::Refused, 4, max, GiveUp),
            (ExitFault::Machine, 1, max, Again(5_000)),
            (ExitFault::Machine, 7, max, Again(320_000)),
            (ExitFault::Machine, 8, max, Again(600_000)),
            (ExitFault::Machine, 11, max, Again(600_000)),
            (ExitFault::Machine, 11, 1_000, Again(1_000)),
            (ExitFault::Machine, 12, max, GiveUp),
            (ExitFault::Machine, u32::MAX, max, GiveUp),
        ] {
            let decided = after_fault(fault, tries, wait_max_ms);
            assert_eq!(decided, expected, "{fault:?} {tries} {wait_max_ms}");
        }
    }

    #[test]
    fn a_run_that_cannot_be_prepared_waits_longer_and_longer_without_an_end() {
        let waits = [1, 2, 7, 8, 11, 12, u32::MAX].map(|tries| unprepared_wait_ms(tries, u64::MAX));
        assert_eq!(
            waits,
            [5_000, 10_000, 320_000, 600_000, 600_000, 600_000, 600_000]
        );
        assert_eq!(unprepared_wait_ms(12, 300_000), 300_000);
        assert_eq!(unprepared_wait_ms(0, 300_000), 5_000);
        for (fault, tries, expected) in [
            (ExitFault::Work, 1, false),
            (ExitFault::Refused, 3, true),
            (ExitFault::Refused, 4, false),
            (ExitFault::Machine, 400, true),
        ] {
            assert_eq!(is_unprepared(fault, tries), expected, "{fault:?} {tries}");
        }
    }

    #[test]
    fn a_lock_that_a_person_may_hold_is_waited_out() {
        // ten minutes: see `git_lock`
        let waited: u64 = (1..MACHINE_TRIES_MAX)
            .map(
                |tries| match after_fault(ExitFault::Machine, tries, u64::MAX) {
                    AfterFault::Again(wait) => wait,
                    AfterFault::GiveUp => 0,
                },
            )
            .sum();
        assert!(waited > 3_600_000 / 2, "{waited}");
    }

    #[test]
    fn a_time_before_the_clock_was_set_back_is_due() {
        let at = |second| Timestamp::from_second(second).unwrap();
        for (due, is_due) in [
            (99, true),
            (100, true),
            (101, false),
            (700, false),
            (701, true),
        ] {
            let put_off = PutOff {
                tries: 1,
                due_at: at(due),
                problem: String::new(),
            };
            assert_eq!(put_off.is_due(at(100)), is_due, "{due}");
        }
    }
}

//! Whether a call of git still does anything.
//!
//! A connection that is lost without a word keeps git waiting for as long as the system tries to reach the other side. Over ssh and
//! `git://`, whoever gets something on a slow line reads all the time, and a server that thinks sends a sign of life every five seconds
//! (`uploadpack.keepAlive`). What goes over HTTP cannot be seen in this way, nor can work that waits for a disk: neither counts as idle.

use std::time::{Duration, Instant};

use crate::linux::{GroupWork, work_of_group};

/// How much of a processor is more than waiting: one hundredth, in parts of a second.
const BUSY: f64 = 0.01;

/// How many looks find nothing before a call has been idle for too long.
const LOOKS: u32 = 24;

/// The processes of a call, and how many looks at them found nothing. Looks are counted and not time, since a machine that sleeps does not look.
#[derive(Debug)]
pub(super) struct Idle {
    group: u32,
    limit: Duration,
    seen: Option<GroupWork>,
    since: Instant,
    looks: u32,
}

impl Idle {
    /// Begins to watch a group of processes.
    pub(super) fn watch(group: u32, limit: Duration) -> Self {
        Self {
            group,
            limit,
            seen: None,
            since: Instant::now(),
            looks: 0,
        }
    }

    /// Returns the time between two looks.
    pub(super) fn pause(&self) -> Duration {
        self.limit / LOOKS
    }

    /// Looks whether the group has done nothing for too long. Where that cannot be seen, it has not.
    pub(super) fn is_too_long(&mut self) -> bool {
        let now = work_of_group(self.group);
        let is_idle = match (self.seen, now) {
            (Some(before), Some(now)) => !has_worked(before, now, self.since.elapsed()),
            _ => false,
        };
        self.looks += 1;
        if !is_idle {
            (self.seen, self.since, self.looks) = (now, Instant::now(), 0);
        }
        self.looks >= LOOKS
    }
}

/// Returns whether a group has read or written anything since it was seen, or computed for longer than waiting needs.
fn has_worked(before: GroupWork, now: GroupWork, since: Duration) -> bool {
    before.bytes != now.bytes
        || now.processor.saturating_sub(before.processor).as_secs_f64()
            > since.as_secs_f64().max(1.0) * BUSY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_no_work() {
        let at = |bytes, milliseconds| GroupWork {
            bytes,
            processor: Duration::from_millis(milliseconds),
        };
        for (before, now, seconds, expected) in [
            (at(1, 10), at(1, 10), 60, false),
            (at(1, 10), at(2, 10), 60, true),
            // a helper that has ended is gone from both
            (at(9, 90), at(1, 10), 60, true),
            (at(1, 90), at(1, 10), 60, false),
            // looking for what may come costs a little
            (at(1, 10), at(1, 500), 60, false),
            (at(1, 10), at(1, 700), 60, true),
            (at(1, 10), at(1, 20), 0, false),
            (at(1, 10), at(1, 30), 0, true),
        ] {
            let found = has_worked(before, now, Duration::from_secs(seconds));
            assert_eq!(found, expected, "{before:?} {now:?} {seconds}");
        }
    }
}

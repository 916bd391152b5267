//! What a host knows of a run that it began: by its own clock alone, whether to beat, and whether its agent must end.

use super::lease::Lease;

/// Milliseconds since the machine started, with the time that it was suspended (`CLOCK_BOOTTIME`). No one can set this clock, and it
/// does not rest while the machine sleeps: an agent that wakes up late has lost its lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct BootMs(u64);

impl BootMs {
    /// Wraps a reading of the clock.
    pub const fn new(ms: u64) -> Self {
        Self(ms)
    }

    /// Returns the reading.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns how long ago an earlier reading was; `None` if it is later, and so of another start of the machine.
    const fn since(self, earlier: Self) -> Option<u64> {
        self.0.checked_sub(earlier.0)
    }
}

/// A host's own view of a run that it began.
///
/// An answer counts from the moment at which its beat was sent, not from when the answer arrived: that is the latest moment of which the
/// host knows that the database had not yet heard from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    answered: BootMs,
    sent: BootMs,
}

impl Held {
    /// Begins with the reading of the clock before the run was asked for.
    pub const fn begun(asked: BootMs) -> Self {
        Self {
            answered: asked,
            sent: asked,
        }
    }

    /// Notes that a beat is sent now.
    pub fn send(&mut self, now: BootMs) {
        self.sent = self.sent.max(now);
    }

    /// Notes an answer that said that the run lives, to a beat that was sent at this reading. An answer that was overtaken changes nothing.
    pub fn answer(&mut self, sent: BootMs) {
        self.answered = self.answered.max(sent);
    }

    /// Returns whether the next beat is due. Beats without an answer are repeated no sooner than others.
    pub fn is_beat_due(&self, lease: Lease, now: BootMs) -> bool {
        now.since(self.sent).is_none_or(|ms| ms >= lease.beat_ms())
    }

    /// Returns whether the agent and all its descendants must end now, because the run may soon be given up.
    pub fn must_end(&self, lease: Lease, now: BootMs) -> bool {
        now.since(self.answered)
            .is_none_or(|ms| ms >= lease.fence_ms())
    }

    /// Returns how long to wait until the next beat is due or the agent must end, whichever comes first.
    pub fn next_in_ms(&self, lease: Lease, now: BootMs) -> u64 {
        let left = |since, limit: u64| {
            now.since(since)
                .map_or(0, |passed| limit.saturating_sub(passed))
        };
        left(self.sent, lease.beat_ms()).min(left(self.answered, lease.fence_ms()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: u64 = 1_000_000;

    fn at(ms: u64) -> BootMs {
        BootMs::new(START + ms)
    }

    #[test]
    fn a_host_beats_in_time_and_ends_what_is_not_answered() {
        let lease = Lease::default();
        // begun at 0; the last beat sent, the last one answered, now: due, must end, next look
        for (sent, answered, now, due, end, next) in [
            (0, 0, 0, false, false, 20_000),
            (0, 0, 19_999, false, false, 1),
            (0, 0, 20_000, true, false, 0),
            (20_000, 0, 20_000, false, false, 20_000),
            (40_000, 0, 59_999, false, false, 1),
            (40_000, 0, 60_000, true, true, 0),
            (50_000, 0, 59_000, false, false, 1_000),
            (40_000, 40_000, 60_000, true, false, 0),
            (80_000, 40_000, 99_999, false, false, 1),
            (80_000, 40_000, 100_000, true, true, 0),
        ] {
            let mut held = Held::begun(at(0));
            held.send(at(sent));
            held.answer(at(answered));
            let found = (
                held.is_beat_due(lease, at(now)),
                held.must_end(lease, at(now)),
                held.next_in_ms(lease, at(now)),
            );
            assert_eq!(found, (due, end, next), "{sent} {answered} {now}");
        }
    }

    #[test]
    fn an_answer_that_was_overtaken_shortens_nothing() {
        let mut held = Held::begun(at(0));
        held.answer(at(40_000));
        held.answer(at(20_000));
        assert!(!held.must_end(Lease::default(), at(99_999)));
        assert!(held.must_end(Lease::default(), at(100_000)));
    }

    #[test]
    fn a_reading_of_another_start_of_the_machine_ends_the_agent() {
        let held = Held::begun(at(0));
        let (lease, after_restart) = (Lease::default(), BootMs::new(10));
        assert!(held.must_end(lease, after_restart));
        assert!(held.is_beat_due(lease, after_restart));
        assert_eq!(held.next_in_ms(lease, after_restart), 0);
    }
}

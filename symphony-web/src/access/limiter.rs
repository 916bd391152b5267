//! How often wrong secrets are answered.

use symphony_core::Timestamp;

/// Wrong secrets that are answered at once.
const BURST: u32 = 20;

/// Time after which one more is answered, in milliseconds.
const REFILL_MS: i64 = 3_000;

/// A token bucket of answers to wrong secrets, for all visitors together: a secret has 256 bits, so this only keeps guessing from using
/// the machine, and whoever has a session is not kept out by it.
#[derive(Debug, Clone)]
pub struct FailureLimiter {
    left: u32,
    at: Timestamp,
}

impl FailureLimiter {
    /// Makes a full bucket.
    pub const fn new(now: Timestamp) -> Self {
        Self {
            left: BURST,
            at: now,
        }
    }

    /// Counts a wrong secret; returns whether it is answered as such, not with "try later".
    pub fn admit(&mut self, now: Timestamp) -> bool {
        let passed = now
            .as_millisecond()
            .saturating_sub(self.at.as_millisecond());
        // a clock that was set back starts over
        let gained = if passed < 0 { 0 } else { passed / REFILL_MS };
        if gained > 0 || passed < 0 {
            self.left = self
                .left
                .saturating_add(u32::try_from(gained).unwrap_or(BURST))
                .min(BURST);
            self.at = now;
        }
        let admitted = self.left > 0;
        self.left = self.left.saturating_sub(1);
        admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_answered_then_one_each_interval() {
        let at = |ms: i64| Timestamp::from_millisecond(1_700_000_000_000 + ms).unwrap();
        let mut limiter = FailureLimiter::new(at(0));
        for _ in 0..BURST {
            assert!(limiter.admit(at(0)));
        }
        assert!(!limiter.admit(at(REFILL_MS - 1)));
        assert!(limiter.admit(at(REFILL_MS)));
        assert!(!limiter.admit(at(REFILL_MS)));
        assert!(!limiter.admit(at(-5)), "a clock set back gains nothing");
        assert!(
            limiter.admit(at(-5 + REFILL_MS)),
            "and blocks nobody for ever"
        );
    }
}

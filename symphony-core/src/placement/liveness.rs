//! What the silence of a run means, by the database's clock alone.

use serde::Serialize;

use super::lease::Lease;

/// What the age of a run's last beat says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Liveness {
    /// Its host was there a moment ago.
    Alive,
    /// Its agent has ended, since no host lets one run for so long without an answer. Its own host may still end the run and save its work.
    Silent,
    /// Its host did not come back. The control ends the run without its worktree.
    Lost,
}

impl Lease {
    /// Returns what the age of a run's last beat means: the database's time now, less that of the beat. An age below zero comes from a
    /// clock that was set back; that never ends a run.
    pub fn liveness(self, age_ms: i64) -> Liveness {
        let age = u64::try_from(age_ms).unwrap_or(0);
        if age >= self.lost_ms() {
            Liveness::Lost
        } else if age >= self.dead_ms() {
            Liveness::Silent
        } else {
            Liveness::Alive
        }
    }

    /// Returns whether a worker that was last seen this long ago, by the database's clock, is gone. Its supervisors may still run.
    pub fn is_worker_gone(self, age_ms: i64) -> bool {
        self.liveness(age_ms) != Liveness::Alive
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_has_two_steps() {
        let lease = Lease::default();
        for (age, expected) in [
            (i64::MIN, Liveness::Alive),
            (-1, Liveness::Alive),
            (0, Liveness::Alive),
            (89_999, Liveness::Alive),
            (90_000, Liveness::Silent),
            (209_999, Liveness::Silent),
            (210_000, Liveness::Lost),
            (i64::MAX, Liveness::Lost),
        ] {
            assert_eq!(lease.liveness(age), expected, "{age}");
            assert_eq!(
                lease.is_worker_gone(age),
                expected != Liveness::Alive,
                "{age}"
            );
        }
    }
}

//! The lease of a run: how often its host shows that it is there, and what follows when it does not.

use std::error::Error;
use std::fmt;
use std::num::NonZeroU64;

/// Longest time that a host needs to end an agent and its descendants once its lease is over: 10 s between the two signals, and what
/// looking and killing take.
pub const END_MS_MAX: u64 = 15_000;
/// Least time between the end of the host's lease and the moment at which a run is silent: [`END_MS_MAX`], and 5 s for clocks of
/// different speed.
pub const MARGIN_MS: u64 = END_MS_MAX + 5_000;
/// Most millionths by which a clock may be faster or slower than real time: a crystal is off by 100, and NTP adds at most 500.
pub const CLOCK_PPM_MAX: u64 = 600;
/// Longest time of a lease: an hour, in which two clocks drift apart by less than those 5 s.
pub const LEASE_MS_MAX: u64 = 3_600_000;
/// Shortest time between two beats: each is a write to the database.
pub const BEAT_MS_MIN: u64 = 1_000;
/// How long a silent run waits for its own host, whose worktree has its work.
const RETURN_MS: u64 = 120_000;

/// Why three times make no lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeaseProblem {
    /// Beats would load the database.
    BeatTooOften {
        /// The time between two beats.
        found: u64,
    },
    /// The host would end agents before a beat could be answered.
    FenceTooShort {
        /// The time without an answer after which a host ends an agent.
        fence: u64,
        /// The time between two beats.
        beat: u64,
    },
    /// A run could be given up while its agent still runs.
    DeadTooShort {
        /// The time without a beat after which a run is silent.
        dead: u64,
        /// The time without an answer after which a host ends an agent.
        fence: u64,
    },
    /// The clocks of two machines could drift apart by more than the margin.
    DeadTooLong {
        /// The time without a beat after which a run is silent.
        found: u64,
    },
}

impl LeaseProblem {
    /// Returns the key of the configuration that is wrong.
    pub const fn key(self) -> &'static str {
        match self {
            Self::BeatTooOften { .. } => "lease.beat_ms",
            Self::FenceTooShort { .. } => "lease.fence_ms",
            Self::DeadTooShort { .. } | Self::DeadTooLong { .. } => "lease.dead_ms",
        }
    }

    /// Returns its value, in milliseconds.
    pub const fn found(self) -> u64 {
        match self {
            Self::BeatTooOften { found } | Self::DeadTooLong { found } => found,
            Self::FenceTooShort { fence, .. } => fence,
            Self::DeadTooShort { dead, .. } => dead,
        }
    }

    /// Returns what must be there instead, as part of a sentence: "expected …".
    pub fn expected(self) -> String {
        match self {
            Self::BeatTooOften { .. } => format!("at least {BEAT_MS_MIN}"),
            Self::FenceTooShort { beat, .. } => format!(
                "more than `lease.beat_ms` ({beat}), so that a host does not end its agents before their next beat"
            ),
            Self::DeadTooShort { fence, .. } => format!(
                "more than `lease.fence_ms` + {MARGIN_MS} ({}), so that an agent has ended before its run is given up",
                fence.saturating_add(MARGIN_MS)
            ),
            Self::DeadTooLong { .. } => format!("at most {LEASE_MS_MAX}"),
        }
    }
}

impl fmt::Display for LeaseProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (key, found) = (self.key(), self.found());
        write!(f, "`{key}` is {found}; expected {}", self.expected())
    }
}

impl Error for LeaseProblem {}

/// The times of a lease, which fit together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    // in milliseconds
    beat: u64,
    fence: u64,
    dead: u64,
    /// How long a silent run waits for its own host.
    return_for: u64,
}

impl Default for Lease {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl Lease {
    /// The times that hold where the configuration names none.
    pub const DEFAULT: Self = Self {
        beat: 20_000,
        fence: 60_000,
        dead: 90_000,
        return_for: RETURN_MS,
    };

    /// Checks the times of `lease.beat_ms`, `lease.fence_ms` and `lease.dead_ms`, in milliseconds.
    ///
    /// # Errors
    /// When a run could have two agents, none would live long enough to beat, or the database would get too many beats.
    pub const fn new(beat_ms: u64, fence_ms: u64, dead_ms: u64) -> Result<Self, LeaseProblem> {
        if beat_ms < BEAT_MS_MIN {
            return Err(LeaseProblem::BeatTooOften { found: beat_ms });
        }
        if fence_ms <= beat_ms {
            return Err(LeaseProblem::FenceTooShort {
                fence: fence_ms,
                beat: beat_ms,
            });
        }
        if dead_ms <= fence_ms.saturating_add(MARGIN_MS) {
            return Err(LeaseProblem::DeadTooShort {
                dead: dead_ms,
                fence: fence_ms,
            });
        }
        if dead_ms > LEASE_MS_MAX {
            return Err(LeaseProblem::DeadTooLong { found: dead_ms });
        }
        Ok(Self {
            beat: beat_ms,
            fence: fence_ms,
            dead: dead_ms,
            return_for: RETURN_MS,
        })
    }

    /// Returns a fraction of all its times, for tests of whole processes, which cannot wait for minutes. The result does not keep
    /// [`MARGIN_MS`]: on a slow machine it may give a run up whose agent still runs.
    #[must_use]
    pub const fn shortened(self, divisor: NonZeroU64) -> Self {
        let by = divisor.get();
        Self {
            beat: self.beat / by,
            fence: self.fence / by,
            dead: self.dead / by,
            return_for: self.return_for / by,
        }
    }

    /// Returns the time between two beats.
    pub const fn beat_ms(self) -> u64 {
        self.beat
    }

    /// Returns the time without an answered beat after which a host ends an agent, by the host's clock.
    pub const fn fence_ms(self) -> u64 {
        self.fence
    }

    /// Returns the time without a beat after which a run is silent, by the database's clock.
    pub const fn dead_ms(self) -> u64 {
        self.dead
    }

    /// Returns the time without a beat after which the control ends a run whose host did not come back.
    pub const fn lost_ms(self) -> u64 {
        self.dead.saturating_add(self.return_for)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_of_a_lease_fit_together() {
        use LeaseProblem::{BeatTooOften, DeadTooLong, DeadTooShort, FenceTooShort};
        let problem = |beat, fence, dead| Lease::new(beat, fence, dead).err();
        for ((beat, fence, dead), expected) in [
            ((20_000, 60_000, 90_000), None),
            ((1_000, 1_001, 21_002), None),
            ((999, 60_000, 90_000), Some(BeatTooOften { found: 999 })),
            (
                (60_000, 60_000, 90_000),
                Some(FenceTooShort {
                    fence: 60_000,
                    beat: 60_000,
                }),
            ),
            (
                (20_000, 60_000, 80_000),
                Some(DeadTooShort {
                    dead: 80_000,
                    fence: 60_000,
                }),
            ),
            ((20_000, 60_000, 80_001), None),
            (
                (20_000, 60_000, LEASE_MS_MAX + 1),
                Some(DeadTooLong {
                    found: LEASE_MS_MAX + 1,
                }),
            ),
            (
                (20_000, u64::MAX, u64::MAX),
                Some(DeadTooShort {
                    dead: u64::MAX,
                    fence: u64::MAX,
                }),
            ),
        ] {
            assert_eq!(
                problem(beat, fence, dead),
                expected,
                "{beat} {fence} {dead}"
            );
        }
        let known = Lease::default();
        let checked = Lease::new(known.beat, known.fence, known.dead);
        assert_eq!(checked, Ok(known));
        assert_eq!(known.lost_ms(), 210_000);
    }

    #[test]
    fn a_lease_for_tests_keeps_the_proportions() {
        let tenth = Lease::default().shortened(NonZeroU64::new(10).unwrap());
        let times = (tenth.beat_ms(), tenth.fence_ms(), tenth.dead_ms());
        assert_eq!(times, (2_000, 6_000, 9_000));
        assert_eq!(tenth.lost_ms(), 21_000);
    }

    #[test]
    fn a_problem_names_the_keys_and_what_they_need() {
        let problem = Lease::new(20_000, 60_000, 70_000).unwrap_err();
        assert_eq!(
            problem.to_string(),
            "`lease.dead_ms` is 70000; expected more than `lease.fence_ms` + 20000 (80000), so that an agent has ended before its run is given up"
        );
    }

    #[test]
    fn the_margin_covers_the_slowest_end_and_the_longest_drift() {
        let drift = LEASE_MS_MAX * 2 * CLOCK_PPM_MAX / 1_000_000;
        assert!(END_MS_MAX + drift < MARGIN_MS, "{drift}");
    }
}

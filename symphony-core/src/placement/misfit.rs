//! Why a worker that is there takes nothing.

use super::{CLOCKS_APART_MS_MAX, MARGIN_MS, PROTOCOL};

/// What decides whether a worker takes anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fit {
    /// The version of the protocol that it speaks.
    pub speaks: u32,
    /// The one that the control requires; `None` before its first tick with a pool.
    pub required: Option<u32>,
    /// How far its clock is ahead of the database's, in milliseconds.
    pub ahead_ms: i64,
    /// How often in a row its host failed ([`super::Rest::failures`]).
    pub failures: u32,
    /// Its `lease.fence_ms`; 0 if it has not said so.
    pub fence_ms: u64,
    /// The control's `lease.dead_ms`; `None` before its first tick with a pool.
    pub dead_ms: Option<u64>,
}

/// Why a worker takes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misfit {
    /// The control expects something else of its workers.
    Protocol {
        /// The version that the worker speaks.
        speaks: u32,
        /// The one that the control requires.
        required: u32,
    },
    /// Events and spending would have wrong times.
    Clock {
        /// How far the worker's clock is ahead of the database's, in milliseconds.
        ahead_ms: i64,
    },
    /// Its agents would work on when the control has given their runs to others.
    Lease {
        /// The worker's `lease.fence_ms`.
        fence_ms: u64,
        /// The control's `lease.dead_ms`.
        dead_ms: u64,
    },
    /// What it took could not be prepared on its host: it rests ([`super::Rest`]).
    Unprepared {
        /// How often in a row.
        failures: u32,
    },
}

impl Misfit {
    /// Decides whether a worker takes nothing, and why.
    pub const fn of(fit: &Fit) -> Option<Self> {
        let Fit {
            speaks,
            ahead_ms,
            failures,
            fence_ms,
            ..
        } = *fit;
        let required = match fit.required {
            Some(required) => required,
            None => PROTOCOL,
        };
        if speaks != required {
            return Some(Self::Protocol { speaks, required });
        }
        if ahead_ms.unsigned_abs() > CLOCKS_APART_MS_MAX {
            return Some(Self::Clock { ahead_ms });
        }
        if let Some(dead_ms) = fit.dead_ms
            && fence_ms > 0
            && dead_ms <= fence_ms.saturating_add(MARGIN_MS)
        {
            return Some(Self::Lease { fence_ms, dead_ms });
        }
        if failures > 0 {
            return Some(Self::Unprepared { failures });
        }
        None
    }

    /// Describes it as part of a sentence: "takes nothing: …".
    pub fn words(self) -> String {
        match self {
            Self::Protocol { speaks, required } => {
                format!("it speaks protocol {speaks}, but the control needs {required}")
            }
            Self::Clock { ahead_ms } => {
                let way = if ahead_ms > 0 { "ahead of" } else { "behind" };
                let seconds = ahead_ms.unsigned_abs() / 1000;
                format!("its clock is {seconds} s {way} the database's")
            }
            Self::Lease { fence_ms, dead_ms } => format!(
                "its `lease.fence_ms` is {fence_ms}, but has to be below {} for the control's `lease.dead_ms` of {dead_ms}",
                dead_ms.saturating_sub(MARGIN_MS)
            ),
            Self::Unprepared { failures: 1 } => {
                "its host could not prepare a run; it tries again by itself".to_owned()
            }
            Self::Unprepared { failures } => format!(
                "its host could not prepare a run, or reach the hub, {failures} times in a row; it tries again by itself"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_fits_by_its_protocol_and_its_clock() {
        for (speaks, required, ahead_ms, failures, expected) in [
            (1, Some(1), 0, 0, None),
            (1, Some(1), 30_000, 0, None),
            (1, Some(1), -30_000, 0, None),
            (PROTOCOL, None, 0, 0, None),
            (
                1,
                Some(1),
                0,
                1,
                Some("its host could not prepare a run; it tries again by itself"),
            ),
            (
                1,
                Some(1),
                0,
                7,
                Some(
                    "its host could not prepare a run, or reach the hub, 7 times in a row; it tries again by itself",
                ),
            ),
            (
                1,
                Some(2),
                90_000,
                7,
                Some("it speaks protocol 1, but the control needs 2"),
            ),
            (
                1,
                Some(2),
                0,
                0,
                Some("it speaks protocol 1, but the control needs 2"),
            ),
            (
                2,
                Some(1),
                90_000,
                0,
                Some("it speaks protocol 2, but the control needs 1"),
            ),
            (
                1,
                Some(1),
                30_001,
                0,
                Some("its clock is 30 s ahead of the database's"),
            ),
            (
                1,
                Some(1),
                -61_500,
                0,
                Some("its clock is 61 s behind the database's"),
            ),
            (
                1,
                Some(1),
                i64::MIN,
                0,
                Some("its clock is 9223372036854775 s behind the database's"),
            ),
        ] {
            let found = Misfit::of(&Fit {
                speaks,
                required,
                ahead_ms,
                failures,
                fence_ms: 60_000,
                dead_ms: Some(90_000),
            });
            assert_eq!(
                found.map(Misfit::words).as_deref(),
                expected,
                "{speaks} {required:?} {ahead_ms} {failures}"
            );
        }
    }

    #[test]
    fn an_agent_ends_before_its_run_can_be_given_to_another() {
        for (fence_ms, dead_ms, fits) in [
            (60_000, None, true),
            (60_000, Some(90_000), true),
            (60_000, Some(80_001), true),
            (60_000, Some(80_000), false),
            (600_000, Some(90_000), false),
            (u64::MAX, Some(u64::MAX), false),
            // an older worker has not said it
            (0, Some(90_000), true),
        ] {
            let found = Misfit::of(&Fit {
                speaks: PROTOCOL,
                required: None,
                ahead_ms: 0,
                failures: 0,
                fence_ms,
                dead_ms,
            });
            assert_eq!(found.is_none(), fits, "{fence_ms} {dead_ms:?}");
        }
    }
}

//! Why a worker that is there takes nothing.

use super::{CLOCKS_APART_MS_MAX, PROTOCOL};

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
    /// What it took could not be prepared on its host: it rests ([`super::Rest`]).
    Unprepared {
        /// How often in a row.
        failures: u32,
    },
}

impl Misfit {
    /// Decides by what a worker speaks, what the control requires (nothing before its first tick), and how far the worker's clock is ahead
    /// of the database's, in milliseconds, and how often in a row its host failed ([`super::Rest::failures`]).
    pub const fn of(
        speaks: u32,
        required: Option<u32>,
        ahead_ms: i64,
        failures: u32,
    ) -> Option<Self> {
        let required = match required {
            Some(required) => required,
            None => PROTOCOL,
        };
        if speaks != required {
            Some(Self::Protocol { speaks, required })
        } else if ahead_ms.unsigned_abs() > CLOCKS_APART_MS_MAX {
            Some(Self::Clock { ahead_ms })
        } else if failures > 0 {
            Some(Self::Unprepared { failures })
        } else {
            None
        }
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
            Self::Unprepared { failures: 1 } => {
                "its host could not prepare a run; it tries the hub before it takes another"
                    .to_owned()
            }
            Self::Unprepared { failures } => format!(
                "its host could not prepare a run, or reach the hub, {failures} times in a row; it retries on its own"
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
                Some("its host could not prepare a run; it tries the hub before it takes another"),
            ),
            (
                1,
                Some(1),
                0,
                7,
                Some(
                    "its host could not prepare a run, or reach the hub, 7 times in a row; it retries on its own",
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
            let found = Misfit::of(speaks, required, ahead_ms, failures);
            assert_eq!(
                found.map(Misfit::words).as_deref(),
                expected,
                "{speaks} {required:?} {ahead_ms} {failures}"
            );
        }
    }
}

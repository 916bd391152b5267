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
}

impl Misfit {
    /// Decides by what a worker speaks, what the control requires (nothing before its first tick), and how far the worker's clock is ahead
    /// of the database's, in milliseconds.
    pub const fn of(speaks: u32, required: Option<u32>, ahead_ms: i64) -> Option<Self> {
        let required = match required {
            Some(required) => required,
            None => PROTOCOL,
        };
        if speaks != required {
            Some(Self::Protocol { speaks, required })
        } else if ahead_ms.unsigned_abs() > CLOCKS_APART_MS_MAX {
            Some(Self::Clock { ahead_ms })
        } else {
            None
        }
    }

    /// Describes it as part of a sentence: "takes nothing: …".
    pub fn words(self) -> String {
        match self {
            Self::Protocol { speaks, required } => {
                format!("it speaks protocol {speaks}, and the control {required}")
            }
            Self::Clock { ahead_ms } => {
                let way = if ahead_ms > 0 { "ahead of" } else { "after" };
                let seconds = ahead_ms.unsigned_abs() / 1000;
                format!("its clock is {seconds} s {way} the database's")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_fits_by_its_protocol_and_its_clock() {
        for (speaks, required, ahead_ms, expected) in [
            (1, Some(1), 0, None),
            (1, Some(1), 30_000, None),
            (1, Some(1), -30_000, None),
            (PROTOCOL, None, 0, None),
            (
                1,
                Some(2),
                0,
                Some("it speaks protocol 1, and the control 2"),
            ),
            (
                2,
                Some(1),
                90_000,
                Some("it speaks protocol 2, and the control 1"),
            ),
            (
                1,
                Some(1),
                30_001,
                Some("its clock is 30 s ahead of the database's"),
            ),
            (
                1,
                Some(1),
                -61_500,
                Some("its clock is 61 s after the database's"),
            ),
            (
                1,
                Some(1),
                i64::MIN,
                Some("its clock is 9223372036854775 s after the database's"),
            ),
        ] {
            let found = Misfit::of(speaks, required, ahead_ms);
            assert_eq!(
                found.map(Misfit::words).as_deref(),
                expected,
                "{speaks} {required:?} {ahead_ms}"
            );
        }
    }
}

//! Where a stream is: the place in the event log, and in the log of the run that is watched.

use std::fmt;

/// How far a client has read. It travels as the id of each message, and comes back after a break.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Cursor {
    /// The number of the last event.
    pub(super) event: i64,
    /// The logical offset in the log of the watched run: bytes that were ever written before.
    pub(super) log: u64,
}

impl Cursor {
    /// Reads `EVENT-OFFSET`; none for anything else.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (event, log) = text.split_once('-')?;
        let event = event.parse().ok().filter(|event| *event >= 0)?;
        Some(Self {
            event,
            log: log.parse().ok()?,
        })
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.event, self.log)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_sent() {
        let cursor = Cursor {
            event: 17,
            log: 4_096,
        };
        assert_eq!(Cursor::parse(&cursor.to_string()), Some(cursor));
        for wrong in [
            "",
            "17",
            "-",
            "-1-2",
            "1-",
            "a-b",
            "1-2-3",
            "99999999999999999999-1",
        ] {
            assert_eq!(Cursor::parse(wrong), None, "{wrong}");
        }
    }
}

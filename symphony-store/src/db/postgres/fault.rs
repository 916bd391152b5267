//! What goes wrong between here and the server, and what follows from it. Everything here is decided from values alone.

use std::error::Error as _;
use std::time::Duration;

use tokio_postgres::error::Severity;

use crate::db::Fault;

/// How long a process waits for a server that went away, as long as a write waits for another process's lock in SQLite.
const AWAY_MAX: Duration = Duration::from_secs(10);
/// The longest pause between two tries.
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// What a server, or the way to it, reported.
#[derive(Debug, thiserror::Error)]
pub(in crate::db) enum ServerError {
    /// The server refused a statement. The connection can be used.
    #[error("{}", words(.0))]
    Refused(#[source] tokio_postgres::Error),
    /// The disk is full, or is to look like that.
    #[error("the disk of the server is full")]
    Full,
    /// An earlier statement of the transaction failed, so that the server would undo it without an error.
    #[error("an earlier statement of this transaction failed, so nothing was stored")]
    FailedBefore,
    /// The connection broke. Nothing of the transaction that was under way is stored.
    #[error("the connection to the server was lost: {}", words(.0))]
    Lost(#[source] tokio_postgres::Error),
    /// The connection broke while the server was to commit, and the server says that it did not.
    #[error("the connection to the server was lost before the change was stored")]
    Undone,
    /// The connection broke while the server was to commit, and the server could not be asked since.
    #[error(
        "the connection to the server was lost while it stored the change, and since then: {0}"
    )]
    Unknown(String),
    /// There is no connection.
    #[error("{}: {problem}", obstacle.words())]
    Unreachable {
        /// What is in the way.
        obstacle: Obstacle,
        /// The words of the server, or of the system.
        problem: String,
    },
}

impl ServerError {
    /// Returns what it means to whoever asked.
    pub(in crate::db) fn fault(&self) -> Fault {
        match self {
            Self::Refused(error) => error
                .code()
                .map_or(Fault::Other, |code| fault_of(code.code())),
            Self::Full => Fault::DiskFull,
            Self::FailedBefore => Fault::Other,
            Self::Lost(_) => Fault::Lost,
            // the write runs again, as after another one that came between
            Self::Undone => Fault::Busy,
            Self::Unknown(_) => Fault::Unknown,
            Self::Unreachable { .. } => Fault::Unreachable,
        }
    }
}

/// Returns whether a server answers that it cannot do something now: it took longer than it may or an administrator ended it, there is no
/// memory, or its disk does not read or write.
pub(crate) fn is_overtaxed(code: &str) -> bool {
    matches!(code, "57014" | "53000" | "53200" | "58030")
}

/// Returns what an error of a statement means (PostgreSQL's manual, "PostgreSQL Error Codes").
fn fault_of(code: &str) -> Fault {
    match code {
        // not serializable, a deadlock, a lock that was waited for too long
        "40001" | "40P01" | "55P03" => Fault::Busy,
        "53100" => Fault::DiskFull,
        code if is_overtaxed(code) => Fault::Overtaxed,
        "25006" | "42501" => Fault::NoAccess,
        "XX001" | "XX002" => Fault::Damaged,
        _ => Fault::Other,
    }
}

/// Returns an error in the words of the server, or of the system.
pub(super) fn words(error: &tokio_postgres::Error) -> String {
    if let Some(error) = error.as_db_error() {
        let hint = error
            .hint()
            .map_or(String::new(), |hint| format!(" ({hint})"));
        return format!("{}{hint}", error.message());
    }
    let source = error.source().map(ToString::to_string);
    source.map_or_else(|| error.to_string(), |source| format!("{error}: {source}"))
}

/// Returns whether the connection can no longer be used after an error.
pub(super) fn is_lost(error: &tokio_postgres::Error, is_closed: bool) -> bool {
    match error.as_db_error() {
        // the server ends the session after it, for whatever reason
        Some(error) => matches!(
            error.parsed_severity(),
            Some(Severity::Fatal | Severity::Panic)
        ),
        None => is_closed || error.is_closed(),
    }
}

/// What keeps a process from a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::db) enum Obstacle {
    /// No server answers there.
    Down,
    /// It starts, stops or recovers.
    Changing,
    /// It has no connection left.
    Full,
    /// It has no memory left, or its disk does not answer.
    Overtaxed,
    /// It is a copy that only reads.
    Standby,
    /// It refuses the user, the password or the database's name.
    Refused,
}

impl Obstacle {
    /// Returns what an error at connecting means.
    pub(super) fn of(code: Option<&str>) -> Self {
        match code {
            None => Self::Down,
            Some("57P01" | "57P02" | "57P03") => Self::Changing,
            Some("53300") => Self::Full,
            Some(code) if is_overtaxed(code) => Self::Overtaxed,
            Some(code) if code.starts_with("08") => Self::Down,
            Some(_) => Self::Refused,
        }
    }

    /// Returns how it is reported.
    const fn words(self) -> &'static str {
        match self {
            Self::Down => "no PostgreSQL server answers",
            Self::Changing => "the PostgreSQL server is starting, stopping or recovering",
            Self::Full => "the PostgreSQL server has no connection left (`max_connections`)",
            Self::Overtaxed => "the PostgreSQL server lacks time, memory or a disk that answers",
            Self::Standby => "the PostgreSQL server is a standby, which cannot be written",
            Self::Refused => "the PostgreSQL server refuses the connection",
        }
    }
}

/// How a connection is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wish {
    /// For the first time: someone who mistyped an address is answered at once.
    First,
    /// Again, to a server that was there.
    Again,
}

/// Returns how long to wait before the next try to connect; `None` when it is given up.
pub(super) fn pause(
    wish: Wish,
    obstacle: Obstacle,
    tries: u32,
    waited: Duration,
) -> Option<Duration> {
    let passes = match (wish, obstacle) {
        (_, Obstacle::Refused) | (Wish::First, Obstacle::Down) => false,
        (_, Obstacle::Changing | Obstacle::Full | Obstacle::Overtaxed | Obstacle::Standby)
        | (Wish::Again, Obstacle::Down) => true,
    };
    let pause = Duration::from_millis(25) * 2_u32.saturating_pow(tries.min(8));
    (passes && waited < AWAY_MAX).then_some(pause.min(PAUSE_MAX))
}

/// How a commit without an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// The server had committed.
    Stored,
    /// It had not, and never will.
    Undone,
}

/// Returns how the write with a number ended, from the newest number of its session that is stored.
pub(super) fn ended(write: i64, stored: Option<i64>) -> Ended {
    if stored == Some(write) {
        Ended::Stored
    } else {
        Ended::Undone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_is_waited_for_and_what_does_not_is_reported_at_once() {
        use Obstacle::{Changing, Down, Full, Overtaxed, Refused, Standby};
        let waits = |wish, obstacle| pause(wish, obstacle, 0, Duration::ZERO).is_some();
        for (obstacle, first, again) in [
            (Down, false, true),
            (Changing, true, true),
            (Full, true, true),
            (Overtaxed, true, true),
            (Standby, true, true),
            (Refused, false, false),
        ] {
            assert_eq!(waits(Wish::First, obstacle), first, "{obstacle:?}");
            assert_eq!(waits(Wish::Again, obstacle), again, "{obstacle:?}");
        }
    }

    #[test]
    fn pauses_grow_and_end_after_ten_seconds() {
        let (mut waited, mut tries, mut last) = (Duration::ZERO, 0, Duration::ZERO);
        while let Some(next) = pause(Wish::Again, Obstacle::Down, tries, waited) {
            assert!(next >= last && next <= PAUSE_MAX);
            (waited, tries, last) = (waited + next, tries + 1, next);
        }
        assert!(
            waited >= AWAY_MAX && waited < AWAY_MAX + PAUSE_MAX,
            "{waited:?}"
        );
        assert!(tries > 8, "{tries}");
    }

    #[test]
    fn codes_of_connecting_name_the_obstacle() {
        for (code, obstacle) in [
            (None, Obstacle::Down),
            (Some("08006"), Obstacle::Down),
            (Some("57P01"), Obstacle::Changing),
            (Some("57P03"), Obstacle::Changing),
            (Some("53300"), Obstacle::Full),
            (Some("53200"), Obstacle::Overtaxed),
            (Some("28P01"), Obstacle::Refused),
            (Some("3D000"), Obstacle::Refused),
        ] {
            assert_eq!(Obstacle::of(code), obstacle, "{code:?}");
        }
    }

    #[test]
    fn a_code_says_whether_the_same_statement_may_succeed_later() {
        for (code, fault) in [
            ("40001", Fault::Busy),
            ("53100", Fault::DiskFull),
            ("57014", Fault::Overtaxed),
            ("53200", Fault::Overtaxed),
            // a limit that is configured holds for the next try, too
            ("53400", Fault::Other),
            ("58030", Fault::Overtaxed),
            ("42501", Fault::NoAccess),
            ("XX001", Fault::Damaged),
            ("23505", Fault::Other),
        ] {
            assert_eq!(fault_of(code), fault, "{code}");
        }
    }

    #[test]
    fn only_its_own_number_says_that_a_write_is_stored() {
        for (stored, expected) in [
            (Some(7), Ended::Stored),
            (Some(6), Ended::Undone),
            (None, Ended::Undone),
        ] {
            assert_eq!(ended(7, stored), expected);
        }
    }
}

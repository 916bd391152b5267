//! Why something cannot be done with points.

use super::model::{POINT_CHARS_MAX, POINTS_OPEN_MAX, PointNumber};

/// Where the advice to the agent begins in [`PointError::Unanswered`].
pub const ANSWER_ADVICE: &str = ": call answer_review_point";

/// A rule about review points that a call breaks. Each text says what to do instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PointError {
    /// There is no such point.
    #[error("there is no review point {number}; {known}")]
    Unknown {
        /// The number that was given.
        number: PointNumber,
        /// Which there are, in words.
        known: String,
    },
    /// One call closes or reopens a point twice.
    #[error("review point {number} is named twice: decide on each point once")]
    Twice {
        /// Its number.
        number: PointNumber,
    },
    /// A judge closes a person's point.
    #[error(
        "a person raised review point {number}, and only a person can close it: leave it as it is"
    )]
    Persons {
        /// Its number.
        number: PointNumber,
    },
    /// Something is approved while must-points are open.
    #[error(
        "not approved: {points} must be closed first. Close what is met in the same call (`points`: id and state `closed`), or reject"
    )]
    Open {
        /// The points, in words.
        points: String,
    },
    /// Something is approved with a new must-point.
    #[error(
        "a new `must` point contradicts an approval: reject, or make it a `should` or a `note`"
    )]
    ContradictsApproval,
    /// Work is handed in while must-points have no answer.
    #[error(
        "{points} not answered yet{ANSWER_ADVICE} for each (`fixed` with the commit, `declined` with the reason, or `question` \
         if only a person can say what is meant), then hand in again"
    )]
    Unanswered {
        /// The points, in words, with their verb.
        points: String,
    },
    /// An answer to a point that is closed.
    #[error("review point {number} is closed: it needs no answer")]
    Closed {
        /// Its number.
        number: PointNumber,
    },
    /// There would be too many open points.
    #[error(
        "{found} review points would be open; the limit is {POINTS_OPEN_MAX}: close what is settled, or combine related points"
    )]
    TooMany {
        /// How many.
        found: usize,
    },
    /// A text is empty.
    #[error("the text of a review point or an answer must not be empty")]
    Empty,
    /// A text is too long.
    #[error(
        "the text of a review point or an answer is {found} characters long; the limit is {POINT_CHARS_MAX}: split it into several points"
    )]
    TooLong {
        /// Its length.
        found: usize,
    },
    /// A path is not valid.
    #[error("the file of a review point must be a path on one line, relative to the project")]
    BadFile,
    /// A rejection without anything to do.
    #[error(
        "a rejection needs `feedback`, a new point or a reopened point: the next agent has to know what to do"
    )]
    NothingToDo,
}

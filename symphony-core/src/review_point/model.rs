//! Points and their answers as they are recorded.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::place::Place;
use crate::Timestamp;
use crate::closed_set::closed_set;
use crate::id::{DeliveryId, IdError, PrId};
use crate::issue::CommentAuthor;
use crate::user::Attribution;

/// Longest text of a point or an answer, in characters (spec: review, "Review points").
pub const POINT_CHARS_MAX: usize = 2_000;
/// Most open points of people on an issue or a plan, and most of agents (spec: review, "Review points").
pub const POINTS_OPEN_MAX: usize = 50;

/// The number of a point within its issue or plan, from 1; it is never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PointNumber(u32);

impl PointNumber {
    /// Wraps a number.
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Returns the number.
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl fmt::Display for PointNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl FromStr for PointNumber {
    type Err = IdError;
    fn from_str(text: &str) -> Result<Self, IdError> {
        match text.parse() {
            Ok(number) if number > 0 => Ok(Self(number)),
            _ => Err(IdError {
                found: text.to_owned(),
                expected: "the number of a review point, such as 3",
            }),
        }
    }
}

closed_set!(
    /// How much a point holds up.
    Severity, "severity", {
        /// It must be answered before the work is handed in, and closed before it is approved.
        Must = "must",
        /// It is worth doing, and keeps nothing back.
        Should = "should",
        /// A remark.
        Note = "note",
    }
);

closed_set!(
    /// Whether a point is settled.
    PointState, "state of a review point", {
        /// It waits for its author, or for a reviewer.
        Open = "open",
        /// A reviewer is content with it.
        Closed = "closed",
    }
);

closed_set!(
    /// What a reviewer decides about an earlier point.
    PointDecision, "decision on a review point", {
        /// It is met, or settled.
        Closed = "closed",
        /// It is not met: it needs another answer.
        Reopened = "reopened",
    }
);

impl PointDecision {
    /// Returns the state that the point has from then on.
    pub const fn state(self) -> PointState {
        match self {
            Self::Closed => PointState::Closed,
            Self::Reopened => PointState::Open,
        }
    }
}

closed_set!(
    /// What an answer says.
    AnswerKind, "answer", {
        /// The change does what the point asks for.
        Fixed = "fixed",
        /// It does not, for a reason.
        Declined = "declined",
        /// Only a person can say what is meant.
        Question = "question",
        /// What a reviewer or a person says to it.
        Remark = "remark",
    },
    for agents: Fixed, Declined, Question
);

/// The review that a point came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewOf {
    /// A pull request.
    PullRequest(PrId),
    /// The delivery of a phase.
    #[serde(rename = "claim")]
    Delivery(DeliveryId),
}

impl fmt::Display for ReviewOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PullRequest(pr) => write!(f, "pull request {pr}"),
            Self::Delivery(delivery) => write!(f, "delivery {delivery}"),
        }
    }
}

/// One thing that a review asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewPoint {
    /// Its number.
    pub number: PointNumber,
    /// How much it holds up.
    pub severity: Severity,
    /// What it asks for.
    pub text: String,
    /// The place.
    pub place: Option<Place>,
    /// Whether it is settled.
    pub state: PointState,
    /// Who made it: a judge, or a person.
    pub author: CommentAuthor,
    /// With what it was written, and as which user of the page.
    #[serde(flatten)]
    pub attribution: Attribution,
    /// The review that it came from; `None` if a person added it outside of one.
    pub review: Option<ReviewOf>,
    /// The reviewed commit.
    pub commit: Option<String>,
    /// How often it was opened, from 1: an answer counts only for the time in which it was given.
    pub round: u32,
    /// The answers to it, oldest first.
    pub answers: Vec<PointAnswer>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// An answer to a point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PointAnswer {
    /// The kind of answer.
    pub kind: AnswerKind,
    /// The text.
    pub text: String,
    /// The commit that answers the point.
    pub commit: Option<String>,
    /// The author.
    pub author: CommentAuthor,
    /// With what it was written, and as which user of the page.
    #[serde(flatten)]
    pub attribution: Attribution,
    /// The time the point was open for, as [`ReviewPoint::round`] counts.
    pub round: u32,
    /// When it was created.
    pub created_at: Timestamp,
}

impl ReviewPoint {
    /// Returns whether it is not settled.
    pub fn is_open(&self) -> bool {
        self.state == PointState::Open
    }

    /// Returns whether it stops the approval of a change.
    pub fn is_open_must(&self) -> bool {
        self.is_open() && self.severity == Severity::Must
    }

    /// Returns whether it was answered since it was last opened. A question is not an answer: it asks for one.
    pub fn is_answered(&self) -> bool {
        self.answers.iter().any(|answer| {
            answer.round == self.round
                && matches!(answer.kind, AnswerKind::Fixed | AnswerKind::Declined)
        })
    }

    /// Returns the question about it that no one has replied to.
    pub fn pending_question(&self) -> Option<&PointAnswer> {
        let last = self.answers.last().filter(|_| self.is_open());
        last.filter(|answer| answer.kind == AnswerKind::Question)
    }

    /// Returns whether a person created it: only a person closes it.
    pub fn is_persons(&self) -> bool {
        self.author == CommentAuthor::Human
    }
}

/// A point to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPoint {
    /// How much it holds up.
    pub severity: Severity,
    /// What it asks for.
    pub text: String,
    /// The place.
    pub place: Option<Place>,
}

/// A point to close or reopen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointMove {
    /// Its number.
    pub number: PointNumber,
    /// Where to: `open` asks for another answer, also when it is open already.
    pub to: PointState,
    /// The reason.
    pub remark: Option<String>,
}

/// What a review does to the points.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PointChanges {
    /// New ones, in their order.
    pub new: Vec<NewPoint>,
    /// Old ones that are closed or opened again.
    pub moved: Vec<PointMove>,
}

impl PointChanges {
    /// Returns whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.new.is_empty() && self.moved.is_empty()
    }

    /// Returns whether there is new work to do afterwards.
    pub fn asks_for_work(&self) -> bool {
        let reopens = |moved: &PointMove| moved.to == PointState::Open;
        !self.new.is_empty() || self.moved.iter().any(reopens)
    }
}

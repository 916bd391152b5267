//! Review points: what a review asks for, point by point, and the answers.
//!
//! The points of an issue, or of a plan, are one numbered list through all its reviews, kept apart from comments. The
//! rules here decide what a point holds up: a `must` point without an answer keeps the work from being handed in, an
//! open one keeps it from being approved. This module reads and writes nothing: the store asks it before it writes.

mod error;
mod model;
mod place;
mod rules;
mod text;

pub use error::{ANSWER_ADVICE, PointError};
pub use model::{
    AnswerKind, NewPoint, POINT_CHARS_MAX, POINTS_OPEN_MAX, PointAnswer, PointChanges,
    PointDecision, PointMove, PointNumber, PointState, ReviewOf, ReviewPoint, Severity,
};
pub use place::{Lines, PATH_CHARS_MAX, Place, PlaceError};
pub use rules::{
    Verdict, asked_point, check_answer, check_changes, check_new, list_numbers, pending_question,
    question_reason, refuse_numbers_unanswered, refuse_open, refuse_unanswered, unanswered,
};
pub use text::{points_from_feedback, read_point};

#[cfg(test)]
mod tests;

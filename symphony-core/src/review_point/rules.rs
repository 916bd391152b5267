//! What points allow and hold up.

use std::collections::BTreeSet;

use super::error::PointError;
use super::model::{
    NewPoint, POINT_CHARS_MAX, POINTS_OPEN_MAX, PointChanges, PointMove, PointNumber, PointState,
    ReviewPoint, Severity,
};
use super::place::PATH_CHARS_MAX;
use crate::issue::CommentAuthor;
use crate::pull_request::VerdictKind;

/// What is done with the points: a verdict, or a person's change outside one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// A verdict of this kind. An agent's approval may leave the points of people open: it takes effect when they have
    /// closed them.
    Given(VerdictKind),
    /// None: a person changes points.
    None,
}

/// Names points: `review point 3`, `review points 1, 2 and 5`.
pub fn list_numbers(numbers: &[PointNumber]) -> String {
    match numbers {
        [] => "no review points".to_owned(),
        [one] => format!("review point {one}"),
        [rest @ .., last] => {
            let rest: Vec<String> = rest.iter().map(PointNumber::to_string).collect();
            format!("review points {} and {last}", rest.join(", "))
        }
    }
}

fn numbers<'a>(points: impl Iterator<Item = &'a ReviewPoint>) -> Vec<PointNumber> {
    points.map(|point| point.number).collect()
}

/// Returns the open must-points that have had no answer since they were last opened.
pub fn unanswered(points: &[ReviewPoint]) -> Vec<PointNumber> {
    let is_unanswered = |point: &&ReviewPoint| point.is_open_must() && !point.is_answered();
    numbers(points.iter().filter(is_unanswered))
}

/// Refuses to hand work in while a must-point has had no answer since it was last opened: a pull request, a proposal
/// that nothing is left to do, the delivery of an issue's phase, and the end of the last phase of a plan.
///
/// # Errors
/// Names the points, and the tool that answers them.
pub fn refuse_unanswered(points: &[ReviewPoint]) -> Result<(), PointError> {
    refuse_numbers_unanswered(&unanswered(points))
}

/// Refuses to hand work in while one of these points has no answer.
///
/// # Errors
/// Names the points, and the tool that answers them.
pub fn refuse_numbers_unanswered(unanswered: &[PointNumber]) -> Result<(), PointError> {
    if unanswered.is_empty() {
        return Ok(());
    }
    let verb = if unanswered.len() == 1 { "is" } else { "are" };
    Err(PointError::Unanswered {
        points: format!("{} {verb}", list_numbers(unanswered)),
    })
}

/// Refuses to approve or merge while a must-point is open.
///
/// # Errors
/// Names the points.
pub fn refuse_open(points: &[ReviewPoint]) -> Result<(), PointError> {
    refuse_numbers(&numbers(points.iter().filter(|point| point.is_open_must())))
}

fn refuse_numbers(open: &[PointNumber]) -> Result<(), PointError> {
    if open.is_empty() {
        return Ok(());
    }
    Err(PointError::Open {
        points: list_numbers(open),
    })
}

/// Returns the first point with a question that waits for a person.
pub fn pending_question(points: &[ReviewPoint]) -> Option<&ReviewPoint> {
    points
        .iter()
        .find(|point| point.pending_question().is_some())
}

/// The prefix of a blocked issue's reason, before the number of the point that a person is asked about.
const QUESTION_PREFIX: &str = "review point ";

/// Describes which point a person is asked about, and the question: the reason of the blocked issue.
pub fn question_reason(point: PointNumber, question: &str) -> String {
    format!("{QUESTION_PREFIX}{point}: {}", question.trim())
}

/// Returns the number of the point that such a reason is about.
pub fn asked_point(reason: &str) -> Option<&str> {
    let (number, _) = reason.strip_prefix(QUESTION_PREFIX)?.split_once(':')?;
    number.parse::<PointNumber>().ok().map(|_| number)
}

/// Checks what someone does to the points of an issue or a plan.
///
/// # Errors
/// When a point does not exist, is named twice or may not be closed by them; a new one is malformed, or one too many;
/// an approval leaves must-points open; or a rejection asks for nothing.
pub fn check_changes(
    points: &[ReviewPoint],
    by: &CommentAuthor,
    verdict: Verdict,
    changes: &PointChanges,
) -> Result<(), PointError> {
    for new in &changes.new {
        check_new(new)?;
    }
    let mut named = BTreeSet::new();
    for moved in &changes.moved {
        if !named.insert(moved.number) {
            return Err(PointError::Twice {
                number: moved.number,
            });
        }
        check_move(find(points, moved.number)?, by, moved)?;
    }
    let stays_open = |point: &&ReviewPoint| {
        let moved = changes.moved.iter().find(|m| m.number == point.number);
        moved.map_or(point.state, |moved| moved.to) == PointState::Open
    };
    let open: Vec<&ReviewPoint> = points.iter().filter(stays_open).collect();
    // Points of people and of agents are counted separately: no agent can close a person's, so many of them would stop
    // it from rejecting.
    let is_persons = *by == CommentAuthor::Human;
    let own = open
        .iter()
        .filter(|point| point.is_persons() == is_persons)
        .count();
    let found = own + changes.new.len();
    // closing is never refused, however many there are
    if found > POINTS_OPEN_MAX && changes.asks_for_work() {
        return Err(PointError::TooMany { found });
    }
    match verdict {
        Verdict::Given(VerdictKind::Approved) => {
            if changes.new.iter().any(|new| new.severity == Severity::Must) {
                return Err(PointError::ContradictsApproval);
            }
            let musts = || {
                open.iter()
                    .copied()
                    .filter(|p| p.severity == Severity::Must)
            };
            if *by == CommentAuthor::Human {
                return refuse_numbers(&numbers(musts()));
            }
            refuse_numbers(&numbers(musts().filter(|point| !point.is_persons())))
        }
        Verdict::Given(VerdictKind::Rejected) if !changes.asks_for_work() => {
            Err(PointError::NothingToDo)
        }
        Verdict::Given(VerdictKind::Rejected) | Verdict::None => Ok(()),
    }
}

fn check_move(
    point: &ReviewPoint,
    by: &CommentAuthor,
    moved: &PointMove,
) -> Result<(), PointError> {
    if let Some(remark) = &moved.remark {
        check_text(remark)?;
    }
    let closes = moved.to == PointState::Closed && point.is_open();
    if closes && point.is_persons() && *by != CommentAuthor::Human {
        return Err(PointError::Persons {
            number: point.number,
        });
    }
    Ok(())
}

/// Checks a point to create.
///
/// # Errors
/// When its text is empty or too long, or its file is not a valid path.
pub fn check_new(new: &NewPoint) -> Result<(), PointError> {
    check_text(&new.text)?;
    let is_bad = |file: &str| {
        file.trim().is_empty()
            || file.chars().any(char::is_control)
            || file.chars().count() > PATH_CHARS_MAX
    };
    if new.place.as_ref().is_some_and(|place| is_bad(&place.file)) {
        return Err(PointError::BadFile);
    }
    Ok(())
}

/// Checks an answer, and returns the point that it is to.
///
/// # Errors
/// When the point does not exist or is closed, or the text is empty or too long.
pub fn check_answer<'a>(
    points: &'a [ReviewPoint],
    number: PointNumber,
    text: &str,
) -> Result<&'a ReviewPoint, PointError> {
    check_text(text)?;
    let point = find(points, number)?;
    if point.is_open() {
        Ok(point)
    } else {
        Err(PointError::Closed { number })
    }
}

fn find(points: &[ReviewPoint], number: PointNumber) -> Result<&ReviewPoint, PointError> {
    let found = points.iter().find(|point| point.number == number);
    found.ok_or_else(|| PointError::Unknown {
        number,
        known: match points {
            [] => "none was raised yet".to_owned(),
            known => format!("known: {}", list_numbers(&numbers(known.iter()))),
        },
    })
}

fn check_text(text: &str) -> Result<(), PointError> {
    if text.trim().is_empty() {
        return Err(PointError::Empty);
    }
    let found = text.chars().count();
    if found > POINT_CHARS_MAX {
        return Err(PointError::TooLong { found });
    }
    Ok(())
}

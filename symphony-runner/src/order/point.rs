//! Review points: answered, closed and reopened.

use symphony_core::issue::IssueStatus;
use symphony_core::pull_request::PullRequestOf;
use symphony_core::review_point::{
    AnswerKind, PointChanges, PointMove, PointNumber, PointState, ReviewPoint,
};
use symphony_store::{Context, NewAnswer, Store, StoreError};

use crate::error::RunnerError;

/// What a reply did.
#[derive(Debug, Clone)]
pub struct Replied {
    /// The point, as it is now.
    pub point: ReviewPoint,
    /// Whether the issue waited for the reply and continues now.
    pub continues: bool,
}

/// What moving points did.
#[derive(Debug, Clone)]
pub struct MovedPoints {
    /// Those that were moved, as they are now.
    pub points: Vec<ReviewPoint>,
    /// Their numbers, as they were named.
    pub numbers: Vec<PointNumber>,
    /// Whether all were as they are now before.
    pub changes_nothing: bool,
}

/// Replies to a point; the next agent reads it.
///
/// # Errors
/// When there is no such point, or the text is wrong.
pub fn reply_to_point(
    store: &mut Store,
    context: &Context,
    of: &PullRequestOf,
    number: PointNumber,
    text: String,
) -> Result<Replied, RunnerError> {
    let new = NewAnswer {
        point: number,
        kind: AnswerKind::Remark,
        commit: None,
        text,
    };
    let before = status_of(store, of)?;
    let point = store.answer_point(context, of, &new)?;
    let continues =
        before == Some(IssueStatus::Blocked) && status_of(store, of)? == Some(IssueStatus::Todo);
    Ok(Replied { point, continues })
}

/// Moves points to one state, with a remark; all open ones, when none are named.
///
/// # Errors
/// When there is no such point, or the remark is wrong.
pub fn move_points(
    store: &mut Store,
    context: &Context,
    of: &PullRequestOf,
    numbers: Option<&[PointNumber]>,
    to: PointState,
    remark: Option<&str>,
) -> Result<MovedPoints, RunnerError> {
    let open: Vec<PointNumber> = store
        .review_points(of)?
        .into_iter()
        .filter(ReviewPoint::is_open)
        .map(|point| point.number)
        .collect();
    let numbers = numbers.map_or_else(|| open.clone(), <[PointNumber]>::to_vec);
    let moved = numbers.iter().map(|number| PointMove {
        number: *number,
        to,
        remark: remark.map(str::to_owned),
    });
    let changes = PointChanges {
        new: Vec::new(),
        moved: moved.collect(),
    };
    let mut points = store.change_points(context, of, &changes)?;
    points.retain(|point| numbers.contains(&point.number));
    let changes_nothing = to == PointState::Closed
        && !numbers.is_empty()
        && !numbers.iter().any(|number| open.contains(number));
    Ok(MovedPoints {
        points,
        numbers,
        changes_nothing,
    })
}

fn status_of(store: &Store, of: &PullRequestOf) -> Result<Option<IssueStatus>, StoreError> {
    let issue = of.issue().map(|issue| store.issue(issue)).transpose()?;
    Ok(issue.map(|issue| issue.state.status()))
}

//! Review points in forms: those of a verdict, and those that are answered, closed and reopened by themselves.

use symphony_core::issue::IssueStatus;
use symphony_core::pull_request::PullRequestOf;
use symphony_core::review_point::{
    Lines, NewPoint, Place, PointMove, PointNumber, PointState, Severity,
};
use symphony_runner::order::{move_points, reply_to_point};
use symphony_runner::session::Session;

use crate::page::find_pull_request;
use crate::routes::Done;
use crate::server::{Failure, Fields, Turn};

fn number(text: &str) -> Result<PointNumber, Failure> {
    let number: Result<PointNumber, _> = text.parse();
    number.map_err(|_malformed| Failure::Wrong("expected the number of a review point".to_owned()))
}

/// The points that a verdict closes.
pub(super) fn closed_points(fields: &Fields) -> Result<Vec<PointMove>, Failure> {
    let closed = fields.all("close").map(|text| {
        Ok(PointMove {
            number: number(text)?,
            to: PointState::Closed,
            remark: None,
        })
    });
    closed.collect()
}

/// The point of a rejection: what has to change, at a line of a file or in all.
pub(super) fn new_point(fields: &Fields) -> Result<NewPoint, Failure> {
    let text = fields.prose("text");
    if text.is_empty() {
        return Err(Failure::Wrong("say what has to change".to_owned()));
    }
    let severity = Severity::parse(fields.text("severity"))
        .map_err(|error| Failure::Wrong(error.to_string()))?;
    let lines = fields.given("line").map(Lines::parse).transpose();
    let lines = lines.map_err(|error| Failure::Wrong(error.to_string()))?;
    let place = fields.given("file").map(|file| Place {
        file: file.to_owned(),
        lines,
    });
    Ok(NewPoint {
        severity,
        place,
        text,
    })
}

/// Replies to a point.
pub(crate) fn reply(
    session: &mut Session,
    turn: &Turn,
    id: &str,
    fields: &Fields,
) -> Result<Done, Failure> {
    let pr = find_pull_request(session, id)?;
    let number = number(fields.text("point"))?;
    let text = fields.prose("text");
    let replied = reply_to_point(&mut session.store, &turn.context(), &pr.of, number, text)?;
    let then = if replied.continues {
        format!(" {} continues at the next tick.", pr.of)
    } else {
        String::new()
    };
    Ok(Done {
        to: format!("/prs/{}#point-{number}", pr.id),
        said: format!("Replied to point {number}.{then}"),
    })
}

/// Closes a point.
pub(crate) fn close_point(
    session: &mut Session,
    turn: &Turn,
    id: &str,
    fields: &Fields,
) -> Result<Done, Failure> {
    settle(session, turn, id, fields, PointState::Closed)
}

/// Opens a point again.
pub(crate) fn reopen_point(
    session: &mut Session,
    turn: &Turn,
    id: &str,
    fields: &Fields,
) -> Result<Done, Failure> {
    settle(session, turn, id, fields, PointState::Open)
}

fn settle(
    session: &mut Session,
    turn: &Turn,
    id: &str,
    fields: &Fields,
    to: PointState,
) -> Result<Done, Failure> {
    let pr = find_pull_request(session, id)?;
    let number = number(fields.text("point"))?;
    let text = fields.prose("text");
    let remark = Some(text.as_str()).filter(|text| !text.is_empty());
    let moved = move_points(
        &mut session.store,
        &turn.context(),
        &pr.of,
        Some(&[number]),
        to,
        remark,
    )?;
    let said = match to {
        PointState::Closed if moved.changes_nothing => {
            format!("Point {number} is already closed.")
        }
        PointState::Closed => format!("Closed point {number}."),
        PointState::Open => format!("Reopened point {number}.{}", then(session, &pr.of)?),
    };
    Ok(Done {
        to: format!("/prs/{}#point-{number}", pr.id),
        said,
    })
}

/// Says how an agent comes to work on an open point, where the work is in review: no one looks at it by itself then.
fn then(session: &Session, of: &PullRequestOf) -> Result<String, Failure> {
    let Some(issue) = of.issue() else {
        return Ok(String::new());
    };
    let status = session.store.issue(issue)?.state.status();
    Ok(if status == IssueStatus::Review {
        format!(
            " No agent works on {issue} while it is in review: a rejection sends it back to one."
        )
    } else {
        String::new()
    })
}

//! Reading review points.

use symphony_core::id::{DeliveryId, IssueId, PlanId, PrId};
use symphony_core::issue::CommentAuthor;
use symphony_core::pull_request::{PullRequest, PullRequestOf};
use symphony_core::review_point::{
    Place, PointAnswer, PointNumber, ReviewOf, ReviewPoint, refuse_open,
};

use crate::database::open::Store;
use crate::database::row::{attribution, count32, parsed, parsed_opt, time};
use crate::db::{Connection, Row, params};
use crate::error::StoreError;

/// The condition for the points of an issue (`?1`) or a plan (`?2`), one of which is null. Each has an index.
macro_rules! of {
    () => {
        "(p.issue = ?1 OR p.plan = ?2)"
    };
}

const POINTS_SQL: &str = concat!(
    "SELECT p.* FROM review_point p WHERE ",
    of!(),
    " ORDER BY p.number"
);
const ANSWERS_SQL: &str = concat!(
    "SELECT p.number, a.* FROM review_point p JOIN point_answer a ON a.point = p.id WHERE ",
    of!(),
    " ORDER BY a.id"
);

/// The open `must` points of people. `?3` is the author name under which people are recorded.
const PERSONS_SQL: &str = concat!(
    "SELECT p.number FROM review_point p WHERE ",
    of!(),
    " AND p.state = 'open' AND p.severity = 'must' AND p.author = ?3 ORDER BY p.number"
);

/// Returns the two parameters that name an issue or a plan.
pub(crate) fn bound(of: &PullRequestOf) -> [Option<&str>; 2] {
    [
        of.issue().map(IssueId::as_str),
        of.plan().map(PlanId::as_str),
    ]
}

/// Reads the points of an issue or a plan with their answers, ordered by number.
pub(crate) fn load_points(
    conn: &Connection,
    of: &PullRequestOf,
) -> Result<Vec<ReviewPoint>, StoreError> {
    let mut points = Vec::new();
    let mut statement = conn.prepare_cached(POINTS_SQL)?;
    let mut rows = statement.query(bound(of))?;
    while let Some(row) = &rows.next()? {
        points.push(point_from(row)?);
    }
    if points.is_empty() {
        return Ok(points);
    }
    let mut statement = conn.prepare_cached(ANSWERS_SQL)?;
    let mut rows = statement.query(bound(of))?;
    while let Some(row) = &rows.next()? {
        let number = PointNumber::new(count32(row, "number")?);
        if let Some(point) = points.iter_mut().find(|point| point.number == number) {
            point.answers.push(answer_from(row)?);
        }
    }
    Ok(points)
}

/// Reads the numbers of the open `must` points of people, which only people may close.
pub(crate) fn persons_points(
    conn: &Connection,
    of: &PullRequestOf,
) -> Result<Vec<PointNumber>, StoreError> {
    let mut statement = conn.prepare_cached(PERSONS_SQL)?;
    let [issue, plan] = bound(of);
    let mut rows = statement.query(params![issue, plan, CommentAuthor::Human.to_string()])?;
    let mut points = Vec::new();
    while let Some(row) = &rows.next()? {
        points.push(PointNumber::new(count32(row, "number")?));
    }
    Ok(points)
}

fn point_from(row: &Row<'_>) -> Result<ReviewPoint, StoreError> {
    let file: Option<String> = row.get("file")?;
    let lines = parsed_opt("lines", row.get("lines")?)?;
    let pr: Option<i64> = row.get("pull_request")?;
    let delivery: Option<i64> = row.get("claim")?;
    Ok(ReviewPoint {
        number: PointNumber::new(count32(row, "number")?),
        severity: parsed("severity", row.get("severity")?)?,
        text: row.get("text")?,
        place: file.map(|file| Place { file, lines }),
        state: parsed("state of a review point", row.get("state")?)?,
        author: parsed("author", row.get("author")?)?,
        attribution: attribution(row)?,
        review: pr
            .map(|id| ReviewOf::PullRequest(PrId::new(id)))
            .or(delivery.map(|id| ReviewOf::Delivery(DeliveryId::new(id)))),
        commit: row.get("commit_id")?,
        round: count32(row, "round")?,
        answers: Vec::new(),
        created_at: time(row.get("created_at")?)?,
    })
}

fn answer_from(row: &Row<'_>) -> Result<PointAnswer, StoreError> {
    Ok(PointAnswer {
        kind: parsed("answer", row.get("kind")?)?,
        text: row.get("text")?,
        commit: row.get("commit_id")?,
        author: parsed("author", row.get("author")?)?,
        attribution: attribution(row)?,
        round: count32(row, "round")?,
        created_at: time(row.get("created_at")?)?,
    })
}

impl Store {
    /// Returns the review points of an issue or a plan with their answers, including closed ones, ordered by number.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn review_points(&self, of: &PullRequestOf) -> Result<Vec<ReviewPoint>, StoreError> {
        load_points(&self.conn, of)
    }

    /// Checks that no open `must` point prevents the approval or merge of a pull request.
    ///
    /// # Errors
    /// Names the open ones.
    pub fn require_points_closed(&self, pr: &PullRequest) -> Result<(), StoreError> {
        Ok(refuse_open(&load_points(&self.conn, &pr.of)?)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::query_plan::query_plan;

    #[test]
    fn the_points_of_an_issue_are_read_through_their_index() {
        let store = Store::open_in_memory().unwrap();
        for sql in [POINTS_SQL, ANSWERS_SQL, PERSONS_SQL] {
            let steps = query_plan(&store.conn, sql);
            assert!(
                steps.iter().any(|step| step.contains("review_point_issue")),
                "{steps:#?}"
            );
            assert!(
                !steps.iter().any(|step| step.contains("SCAN")),
                "{steps:#?}"
            );
        }
    }
}

//! Plans in review for a tick: their open pull requests, as candidates beside those of issues.

use symphony_core::id::{PrId, ProjectId};
use symphony_core::issue::{AttemptCounts, Priority};
use symphony_core::judges_ended::{JudgeEnd, JudgesEnded};
use symphony_core::pull_request::PullRequestOf;
use symphony_core::tick::{GatesState, ReviewCandidate, ReviewSubject};

use super::evidence::{Evidence, pending_gates};
use super::limit::CANDIDATES_LIMIT;
use crate::database::row::{parsed, parsed_opt, time};
use crate::db::{Connection, params};
use crate::error::StoreError;
use crate::review::point::persons_points;

pub(super) const PLAN_REVIEWS_SQL: &str =
    "SELECT p.id, p.started_at, r.id AS pr, r.head_commit, r.verified_gates, r.gates_due_at, r.gates_problem, r.verdict,
            (SELECT max(started_at) FROM run j WHERE j.pull_request = r.id AND j.agent <> 'gates'
                AND (j.status <> 'cancelled' OR j.worktree IS NOT NULL)) AS last_judged
     FROM plan p INDEXED BY plan_review JOIN pull_request r ON r.plan = p.id AND r.state IN ('open', 'approved')
     WHERE p.project = ?1 AND p.status = 'review' ORDER BY p.started_at, p.id LIMIT ?2";

/// Ended runs of judges on a pull request.
pub(super) const JUDGED_SQL: &str = "SELECT error_class, exit_code IS NOT NULL AS has_exit_code FROM run
    WHERE pull_request = ?1 AND agent = 'judge' AND status NOT IN ('starting', 'running', 'cancelled') ORDER BY fence DESC";

/// Reads the reviews of plans of a project.
pub(super) fn load_plan_reviews(
    conn: &Connection,
    project: &ProjectId,
) -> Result<Vec<ReviewCandidate>, StoreError> {
    let mut statement = conn.prepare_cached(PLAN_REVIEWS_SQL)?;
    let mut rows = statement.query(params![project.as_str(), CANDIDATES_LIMIT])?;
    let mut reviews = Vec::new();
    while let Some(row) = &rows.next()? {
        let pr = PrId::new(row.get("pr")?);
        let evidence = Evidence::read(row)?;
        let of = PullRequestOf::Plan(parsed("plan id", row.get("id")?)?);
        reviews.push(ReviewCandidate {
            persons_points: persons_points(conn, &of)?,
            of,
            project: project.clone(),
            subject: ReviewSubject::PullRequest(pr),
            priority: Priority::None,
            created_at: time(row.get("started_at")?)?,
            gates: match evidence.gates {
                Some(gates) if gates.green() => GatesState::Verified,
                Some(_) => GatesState::Red,
                None => pending_gates(row)?,
            },
            fixes_gate: false,
            has_verdict: evidence.has_verdict,
            last_judged_at: evidence.last_judged_at,
            // A plan counts no failures.
            judges: count_judges(conn, JUDGED_SQL, pr.get(), u32::MAX)?,
            counts: AttemptCounts::default(),
        });
    }
    Ok(reviews)
}

/// Ended runs of judges on a delivery.
pub(super) const JUDGED_DELIVERY_SQL: &str = "SELECT error_class, exit_code IS NOT NULL AS has_exit_code FROM run
    WHERE claim = ?1 AND agent = 'judge' AND status NOT IN ('starting', 'running', 'cancelled') ORDER BY fence DESC";

/// Counts the judges of an open pull request or delivery that ended without a verdict, since a verdict ends the review.
/// At most as many count as the issue has failures in a row.
pub(super) fn count_judges(
    conn: &Connection,
    sql: &str,
    id: i64,
    failures_max: u32,
) -> Result<JudgesEnded, StoreError> {
    if failures_max == 0 {
        return Ok(JudgesEnded::default());
    }
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([id])?;
    let mut ends = Vec::new();
    while let Some(row) = &rows.next()? {
        ends.push(JudgeEnd {
            class: parsed_opt("error class", row.get("error_class")?)?,
            has_exit_code: row.get("has_exit_code")?,
        });
    }
    Ok(JudgesEnded::count(ends, failures_max))
}

//! Migration: turns the last rejection of each open issue into review points.

use rusqlite::{Transaction, params};
use rusqlite_migration::{HookError, HookResult};
use symphony_core::issue::CommentAuthor;
use symphony_core::pull_request::{Verdict, VerdictKind};
use symphony_core::review_point::{POINTS_OPEN_MAX, points_from_feedback};

/// The newest verdicts on pull requests and deliveries of open issues. A rejection before an accepted one is settled.
const REJECTIONS_SQL: &str = "SELECT i.project, i.id, p.id, NULL, p.verdict FROM issue i
     JOIN pull_request p ON p.id = (SELECT max(id) FROM pull_request WHERE issue = i.id AND state = 'rejected' AND verdict IS NOT NULL)
     WHERE i.status NOT IN ('done', 'cancelled')
       AND NOT EXISTS (SELECT 1 FROM pull_request n WHERE n.issue = i.id AND n.id > p.id AND n.state IN ('approved', 'merged'))
     UNION ALL
     SELECT i.project, i.id, NULL, c.id, c.verdict FROM issue i
     JOIN phase_claim c ON c.id = (SELECT max(id) FROM phase_claim WHERE issue = i.id AND state = 'rejected' AND verdict IS NOT NULL)
     WHERE i.status NOT IN ('done', 'cancelled')
       AND NOT EXISTS (SELECT 1 FROM phase_claim n WHERE n.issue = i.id AND n.id > c.id AND n.state = 'accepted')
     ORDER BY 1, 2";

/// A rejection in the older schema.
struct Rejection {
    project: String,
    issue: String,
    pull_request: Option<i64>,
    delivery: Option<i64>,
    verdict: String,
}

/// Turns each open issue's last rejection into `must` points. Those of a person keep their author.
pub(crate) fn points_of_last_rejections(tx: &Transaction<'_>) -> HookResult {
    let mut statement = tx.prepare(REJECTIONS_SQL)?;
    let rejections: Vec<Rejection> = statement
        .query_map([], |row| {
            Ok(Rejection {
                project: row.get(0)?,
                issue: row.get(1)?,
                pull_request: row.get(2)?,
                delivery: row.get(3)?,
                verdict: row.get(4)?,
            })
        })?
        .collect::<Result<_, _>>()?;
    for rejection in rejections {
        let verdict: Verdict = serde_json::from_str(&rejection.verdict)
            .map_err(|error| HookError::Hook(format!("{}: {error}", rejection.issue)))?;
        if verdict.kind == VerdictKind::Rejected {
            insert(tx, &rejection, &verdict)?;
        }
    }
    Ok(())
}

fn insert(tx: &Transaction<'_>, rejection: &Rejection, verdict: &Verdict) -> HookResult {
    // Feedback of 64 KiB makes fewer points than this.
    let points = points_from_feedback(&verdict.comment);
    for point in points.iter().take(POINTS_OPEN_MAX) {
        tx.execute(
            "INSERT INTO review_point (project, issue, number, severity, text, state, round, author, run, pull_request, claim,
                                       commit_id, created_at, unverified)
             VALUES (?1, ?2, (SELECT coalesce(max(number), 0) + 1 FROM review_point WHERE issue = ?2), 'must', ?3, 'open', 1, ?4,
                     (SELECT id FROM run WHERE id = ?5), ?6, ?7, ?8, ?9, ?10)",
            params![
                rejection.project,
                rejection.issue,
                point.text,
                CommentAuthor::name(&verdict.author),
                verdict.run.as_ref().map(symphony_core::id::RunId::as_str),
                rejection.pull_request,
                rejection.delivery,
                verdict.commit,
                verdict.at.as_millisecond(),
                verdict.unverified,
            ],
        )?;
    }
    Ok(())
}

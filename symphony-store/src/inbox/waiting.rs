//! Issues that wait for a person, as far as the database alone shows.

use symphony_core::Timestamp;
use symphony_core::failure::ErrorClass;
use symphony_core::id::{IssueId, PrId, ProjectId};
use symphony_core::inbox::{NEEDED_BY_MAX, WaitingIssue, WaitsFor};
use symphony_core::issue::{AttemptCounts, Block};
use symphony_core::outcome::breaker_opens;
use symphony_core::publication::PublicationState;
use symphony_core::standing::UNSEEN_PUBLICATION_MS;
use symphony_core::wording::error_line;

use crate::database::open::Store;
use crate::database::row::{count32, parsed, parsed_opt, time};
use crate::db::{Connection, OptionalExtension, Row, ToSql, params};
use crate::error::StoreError;
use crate::gates::delay::GATE_TRIES_MIN;
use crate::inbox::open_items::parked;
use crate::issue::query::counts_from;
use crate::run::unprepared::unprepared_in_a_row;

/// How many issues of one kind are read of a project, more than a person would.
const ITEMS_MAX: i64 = 100_000;

/// When an issue got its current status.
macro_rules! since {
    () => {
        "coalesce((SELECT max(at) FROM event e WHERE e.issue = i.id AND e.kind = 'issue_moved'), i.created_at)"
    };
}

const BLOCKED_SQL: &str = concat!(
    "SELECT i.id, i.title, i.blocked_by, i.blocked_reason,
            EXISTS (SELECT 1 FROM pull_request p WHERE p.issue = i.id AND p.state IN ('open', 'approved'))
            OR EXISTS (SELECT 1 FROM phase_claim c WHERE c.issue = i.id AND c.open = 1) AS in_review, ",
    since!(),
    " AS since FROM issue i INDEXED BY issue_blocked_for_person WHERE i.project = ?1 AND i.status = 'blocked' AND i.blocked_by <> 'subtasks' LIMIT ?2"
);
const SPENT_SQL: &str = concat!(
    "SELECT i.id, i.title, i.consecutive_failures, i.total_runs, ",
    parked!(),
    " AS parked, (SELECT e.payload ->> '$.event.reason' FROM event e WHERE e.issue = i.id AND e.kind = 'issue_moved'
                  ORDER BY e.id DESC LIMIT 1) AS reason, ",
    since!(),
    " AS since FROM issue i INDEXED BY issue_spent WHERE i.project = ?1 AND i.status = 'backlog' AND i.total_runs > 0 LIMIT ?2"
);
/// How the newest run of an issue that was not cancelled ended.
const LAST_FAILURE_SQL: &str = "SELECT error_class, error_message FROM run
     WHERE issue = ?1 AND ended_at IS NOT NULL AND status <> 'cancelled' ORDER BY fence DESC LIMIT 1";
/// How many characters of an error an item quotes.
const ERROR_CHARS_MAX: usize = 200;

/// Returns how the last run of an issue failed, as text; `None` if it did not.
fn last_failure(conn: &Connection, issue: &str) -> Result<Option<String>, StoreError> {
    let mut statement = conn.prepare_cached(LAST_FAILURE_SQL)?;
    let mut rows = statement.query([issue])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let class: Option<String> = row.get("error_class")?;
    let Some(class) = class else {
        return Ok(None);
    };
    let class: ErrorClass = parsed("error class", class)?;
    let message: Option<String> = row.get("error_message")?;
    let line = error_line(message.as_deref().unwrap_or_default());
    let mut quoted: String = line.chars().take(ERROR_CHARS_MAX).collect();
    if quoted.len() < line.len() {
        quoted.push('…');
    }
    Ok(Some(match quoted.as_str() {
        "" => class.words(),
        quoted => format!("{}: {quoted}", class.words()),
    }))
}

/// Issues that wait for one that is cancelled, or whose project left the installation, so that it will never be done.
const GONE_SQL: &str = concat!(
    "SELECT i.id, i.title, ",
    since!(),
    " AS since FROM (
         SELECT DISTINCT d.issue AS id FROM project g CROSS JOIN issue o INDEXED BY issue_awaited ON o.project = g.id
         CROSS JOIN issue_dependency d ON d.depends_on = o.id
         WHERE o.is_awaited = 1 AND (o.status = 'cancelled' OR o.status <> 'done' AND g.removed_at IS NOT NULL)) w
     CROSS JOIN issue i ON i.id = w.id WHERE i.project = ?1 AND i.status = 'todo' AND i.open_dependencies > 0 LIMIT ?2"
);
const CANCELLED_ON_SQL: &str =
    "SELECT d.depends_on FROM issue_dependency d JOIN issue o ON o.id = d.depends_on
     WHERE d.issue = ?1 AND o.status = 'cancelled' ORDER BY o.project, o.number";
const REMOVED_ON_SQL: &str = "SELECT d.depends_on FROM issue_dependency d JOIN issue o ON o.id = d.depends_on
     JOIN project g ON g.id = o.project
     WHERE d.issue = ?1 AND o.status NOT IN ('done', 'cancelled') AND g.removed_at IS NOT NULL ORDER BY o.project, o.number";
const ACCEPTANCE_SQL: &str = concat!(
    "SELECT i.id, i.title, ",
    since!(),
    " AS since FROM issue i INDEXED BY issue_review WHERE i.project = ?1 AND i.status = 'review'
      AND NOT EXISTS (SELECT 1 FROM pull_request p WHERE p.issue = i.id AND p.state IN ('open', 'approved'))
      AND NOT EXISTS (SELECT 1 FROM phase_claim c WHERE c.issue = i.id AND c.open = 1) LIMIT ?2"
);

const UNCHANGED_SQL: &str =
    "SELECT i.id, i.title, coalesce((SELECT max(at) FROM event e WHERE e.issue = i.id AND e.kind = 'issue_triaged'), i.created_at) AS since
     FROM issue i INDEXED BY issue_intake_unchanged WHERE i.project = ?1 AND i.status = 'backlog' AND i.intake = 'unchanged' LIMIT ?2";
/// Open pull requests whose last publication failed, or was started and has no recorded end.
const UNPUBLISHED_SQL: &str =
    "SELECT i.id, i.title, p.id AS pull_request, n.state AS publication, n.output, n.exit_code, coalesce(n.ended_at, n.started_at) AS since
     FROM pull_request p INDEXED BY pull_request_state
     JOIN issue i ON i.id = p.issue
     JOIN publication n ON n.id = (SELECT max(id) FROM publication WHERE pull_request = p.id)
     WHERE p.project = ?1 AND p.state IN ('open', 'approved')
       AND (n.state = 'failed' OR n.state = 'running' AND (n.started_at <= ?3 OR n.started_at > ?4)) LIMIT ?2";
/// Issues of the backlog that an issue of any project waits for, with the one of this project that waits for it as its
/// sub-task. Those that an agent's intake or the breaker left there have their own entry.
const NEEDED_SQL: &str = concat!(
    "SELECT i.id, i.title, (SELECT b.id FROM issue b WHERE b.id = i.parent AND b.project = ?1
                            AND b.status = 'blocked' AND b.blocked_by = 'subtasks') AS whole, ",
    since!(),
    " AS since FROM project g CROSS JOIN issue i INDEXED BY issue_awaited ON i.project = g.id
     WHERE g.removed_at IS NULL AND i.is_awaited = 1 AND i.status = 'backlog' AND i.intake IS DISTINCT FROM 'unchanged' AND ",
    parked!(),
    " <> 'breaker' ORDER BY i.project, i.number LIMIT ?2"
);
/// Issues of a project that depend on one, in the order of the index, so that no more are read than the limit.
const DEPENDENTS_SQL: &str =
    "SELECT d.issue FROM issue_dependency d CROSS JOIN issue t ON t.id = d.issue
     WHERE d.depends_on = ?2 AND t.project = ?1 AND t.status = 'todo' ORDER BY d.issue LIMIT ?3";
/// Open issues whose first run found an unknown branch.
const RESCUED_SQL: &str = "SELECT i.id, i.title, i.rescued_branch,
            coalesce((SELECT max(at) FROM event e WHERE e.issue = i.id AND e.kind = 'branch_rescued'), i.created_at) AS since
     FROM issue i INDEXED BY issue_rescued_branch
     WHERE i.project = ?1 AND i.rescued_branch IS NOT NULL AND i.status NOT IN ('done', 'cancelled') LIMIT ?2";

const GATES_NOT_RUN_SQL: &str = concat!(
    "SELECT i.id, i.title, p.id AS pull_request, p.gates_tries, p.gates_problem, ",
    since!(),
    " AS since FROM issue i INDEXED BY issue_review
      JOIN pull_request p ON p.issue = i.id AND p.state IN ('open', 'approved')
      WHERE i.project = ?1 AND i.status = 'review' AND p.gates_tries >= ?3 LIMIT ?2"
);

/// How many runs in a row that cannot be prepared need a person's attention.
const UNPREPARED_MIN: u32 = 3;
/// Issues whose newest run could not be prepared. Those in `todo` have a scheduled retry then. The cross join reads the
/// few waiting ones first; otherwise SQLite would read all issues of the project.
const NOT_PREPARED_SQL: &str = concat!(
    "SELECT i.id, i.title, (SELECT error_message FROM run n WHERE n.issue = i.id AND (n.status <> 'cancelled' OR n.worktree IS NOT NULL)
            ORDER BY n.fence DESC LIMIT 1) AS problem, ",
    since!(),
    " AS since FROM (
         SELECT r.issue AS id FROM retry r WHERE r.reason LIKE 'not_prepared:%'
         UNION ALL SELECT v.id FROM issue v INDEXED BY issue_review WHERE v.project = ?1 AND v.status = 'review') w
     CROSS JOIN issue i ON i.id = w.id WHERE i.project = ?1
       AND 'not_prepared' = (SELECT error_class FROM run n WHERE n.issue = i.id AND (n.status <> 'cancelled' OR n.worktree IS NOT NULL)
            ORDER BY n.fence DESC LIMIT 1) LIMIT ?2"
);

impl Store {
    /// Returns the issues of a project that wait for a person: blocked ones (except those that wait for their
    /// sub-tasks), open breakers, cancelled dependencies, reviews with nothing open, issues that intake left unchanged,
    /// and pull requests that were not published.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn waiting_issues(
        &self,
        project: &ProjectId,
        max_retries: u32,
        now: Timestamp,
    ) -> Result<Vec<WaitingIssue>, StoreError> {
        let mut found = Vec::new();
        let of_project = params![project.as_str(), ITEMS_MAX];
        self.each_waiting(BLOCKED_SQL, of_project, project, &mut found, |row| {
            let block = Block {
                by: parsed("reason to be blocked", row.get("blocked_by")?)?,
                reason: row.get("blocked_reason")?,
            };
            Ok(Some(if row.get("in_review")? {
                WaitsFor::BlockedInReview(block)
            } else {
                WaitsFor::Blocked(block)
            }))
        })?;
        self.each_waiting(SPENT_SQL, of_project, project, &mut found, |row| {
            let counts: AttemptCounts = counts_from(row)?;
            // Raising a limit later does not move an issue out of the backlog.
            let by_breaker = row.get::<_, Option<String>>("parked")?.as_deref() == Some("breaker");
            let is_spent = by_breaker || breaker_opens(counts, max_retries);
            let reason: Option<String> = row.get::<_, Option<_>>("reason")?.filter(|_| by_breaker);
            Ok(is_spent.then_some(match reason {
                Some(reason) => WaitsFor::Stopped { reason },
                None => WaitsFor::Spent {
                    counts,
                    last: last_failure(&self.conn, &row.get::<_, String>("id")?)?,
                },
            }))
        })?;
        self.each_waiting(GONE_SQL, of_project, project, &mut found, |row| {
            let issue: String = row.get("id")?;
            // One answer is for both.
            let cancelled = dependencies_in(&self.conn, CANCELLED_ON_SQL, &issue)?;
            Ok(Some(if cancelled.is_empty() {
                let removed = dependencies_in(&self.conn, REMOVED_ON_SQL, &issue)?;
                WaitsFor::RemovedDependencies(removed)
            } else {
                WaitsFor::CancelledDependencies(cancelled)
            }))
        })?;
        self.each_waiting(ACCEPTANCE_SQL, of_project, project, &mut found, |_row| {
            Ok(Some(WaitsFor::Acceptance))
        })?;
        self.each_waiting(UNCHANGED_SQL, of_project, project, &mut found, |_row| {
            Ok(Some(WaitsFor::Untriaged))
        })?;
        let tried = params![project.as_str(), ITEMS_MAX, GATE_TRIES_MIN];
        self.each_waiting(GATES_NOT_RUN_SQL, tried, project, &mut found, |row| {
            Ok(Some(WaitsFor::GatesNotRun {
                pr: PrId::new(row.get("pull_request")?),
                tries: count32(row, "gates_tries")?,
                problem: row
                    .get::<_, Option<String>>("gates_problem")?
                    .unwrap_or_default(),
            }))
        })?;
        self.each_waiting(NOT_PREPARED_SQL, of_project, project, &mut found, |row| {
            let issue = parsed("issue id", row.get("id")?)?;
            let tries = unprepared_in_a_row(&self.conn, &issue)?;
            let problem: Option<String> = row.get("problem")?;
            Ok((tries >= UNPREPARED_MIN).then(|| WaitsFor::NotPrepared {
                tries,
                problem: problem.unwrap_or_default(),
            }))
        })?;
        self.each_waiting(RESCUED_SQL, of_project, project, &mut found, |row| {
            Ok(Some(WaitsFor::RescuedBranch {
                rescue: row.get("rescued_branch")?,
            }))
        })?;
        let lost = now.as_millisecond().saturating_sub(UNSEEN_PUBLICATION_MS);
        let until_lost = params![project.as_str(), ITEMS_MAX, lost, now.as_millisecond()];
        self.each_waiting(UNPUBLISHED_SQL, until_lost, project, &mut found, |row| {
            Ok(Some(WaitsFor::Publication {
                pr: PrId::new(row.get("pull_request")?),
                problem: publication_problem(row)?,
            }))
        })?;
        self.each_waiting(NEEDED_SQL, of_project, project, &mut found, |row| {
            let by = needed_by(&self.conn, project, row)?;
            Ok((!by.is_empty()).then_some(WaitsFor::Needed(by)))
        })?;
        Ok(found)
    }

    fn each_waiting(
        &self,
        sql: &str,
        bound: &[&dyn ToSql],
        project: &ProjectId,
        found: &mut Vec<WaitingIssue>,
        why: impl Fn(&Row<'_>) -> Result<Option<WaitsFor>, StoreError>,
    ) -> Result<(), StoreError> {
        let mut statement = self.conn.prepare_cached(sql)?;
        let mut rows = statement.query(bound)?;
        while let Some(row) = &rows.next()? {
            let Some(why) = why(row)? else { continue };
            found.push(WaitingIssue {
                issue: parsed("issue id", row.get("id")?)?,
                project: project.clone(),
                title: row.get("title")?,
                since: time(row.get("since")?)?,
                why,
            });
        }
        Ok(())
    }

    /// Returns when an issue got its current status.
    ///
    /// # Errors
    /// When there is no such issue.
    pub fn status_since(&self, issue: &IssueId) -> Result<Timestamp, StoreError> {
        let sql = concat!("SELECT ", since!(), " FROM issue i WHERE i.id = ?1");
        let ms: Option<i64> = self
            .conn
            .prepare_cached(sql)?
            .query_row([issue.as_str()], |row| row.get(0))
            .optional()?;
        time(ms.ok_or_else(|| StoreError::not_found("issue", issue))?)
    }
}

/// Returns the first issues of a project that wait for the one of a row: one more than are counted if there are more.
fn needed_by(
    conn: &Connection,
    project: &ProjectId,
    row: &Row<'_>,
) -> Result<Vec<IssueId>, StoreError> {
    let needed: String = row.get("id")?;
    let mut statement = conn.prepare_cached(DEPENDENTS_SQL)?;
    let max = i64::try_from(NEEDED_BY_MAX).unwrap_or(i64::MAX);
    let mut rows = statement.query(params![project.as_str(), needed, max.saturating_add(1)])?;
    let mut issues = Vec::new();
    while let Some(row) = &rows.next()? {
        issues.push(parsed::<IssueId>("issue id", row.get(0)?)?);
    }
    let whole: Option<IssueId> = parsed_opt("issue id", row.get("whole")?)?;
    if let Some(whole) = whole {
        let at = issues.partition_point(|issue| issue.as_str() < whole.as_str());
        issues.insert(at, whole);
        issues.truncate(NEEDED_BY_MAX.saturating_add(1));
    }
    Ok(issues)
}

/// Returns what is known about the end of a publication, on one line.
fn publication_problem(row: &Row<'_>) -> Result<String, StoreError> {
    let state: String = row.get("publication")?;
    if state == PublicationState::Running.name() {
        return Ok("its result was not recorded".to_owned());
    }
    let output: String = row.get("output")?;
    let exit_code: Option<i32> = row.get("exit_code")?;
    let said = output
        .lines()
        .rev()
        .map(str::trim)
        .find(|line| !line.is_empty() && !line.starts_with("[exit code "));
    Ok(match (exit_code, said) {
        (Some(code), Some(said)) => format!("exit code {code}: {said}"),
        (Some(code), None) => format!("exit code {code}"),
        (None, Some(said)) => said.to_owned(),
        (None, None) => "it was ended".to_owned(),
    })
}

fn dependencies_in(conn: &Connection, sql: &str, issue: &str) -> Result<Vec<IssueId>, StoreError> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([issue])?;
    let mut issues = Vec::new();
    while let Some(row) = &rows.next()? {
        issues.push(parsed("issue id", row.get(0)?)?);
    }
    Ok(issues)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::query_plan::query_plan;

    #[test]
    fn what_waits_is_found_through_partial_indexes() {
        let store = Store::open_in_memory().unwrap();
        for (sql, index) in [
            (BLOCKED_SQL, "issue_blocked_for_person"),
            (SPENT_SQL, "issue_spent"),
            (GONE_SQL, "issue_awaited"),
            (GONE_SQL, "issue_dependency_reverse"),
            (ACCEPTANCE_SQL, "issue_review"),
            (UNCHANGED_SQL, "issue_intake_unchanged"),
            (UNPUBLISHED_SQL, "pull_request_state"),
            (NEEDED_SQL, "issue_awaited"),
            (DEPENDENTS_SQL, "issue_dependency_reverse"),
            (UNPUBLISHED_SQL, "publication_pull_request"),
            (NOT_PREPARED_SQL, "issue_review"),
            (NOT_PREPARED_SQL, "run_issue"),
            (GATES_NOT_RUN_SQL, "issue_review"),
            (RESCUED_SQL, "issue_rescued_branch"),
        ] {
            let plan = query_plan(&store.conn, sql);
            assert!(
                plan.iter().any(|line| line.contains(index)),
                "{sql}: {plan:#?}"
            );
            assert!(
                !plan.iter().any(|line| line.starts_with("SCAN i")
                    || line.contains("(project=?)") && line.contains("autoindex")),
                "{sql}: {plan:#?}"
            );
        }
    }
}

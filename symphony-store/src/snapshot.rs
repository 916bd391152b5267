//! What a tick reads, through partial indexes only.

use std::collections::BTreeMap;

use symphony_core::Timestamp;
use symphony_core::config::Spending;
use symphony_core::contract::DeliveryState;
use symphony_core::done::{ConfirmedBy, stands};
use symphony_core::gates::{fixes_gate, repaired_gates};
use symphony_core::id::{DeliveryId, IssueId, PrId, ProjectId, RunId};
use symphony_core::issue::{IssueStatus, NEEDS_PLANNING_LABEL, phase_of};
use symphony_core::outcome::breaker_opens;
use symphony_core::placement::Lease;
use symphony_core::pull_request::PullRequestOf;
use symphony_core::retry::{CONTINUATION_MS, Retry, RetryKind, after};
use symphony_core::spending::cap_hold;
use symphony_core::tick::{
    AcceptedPhase, CANDIDATES_MAX, Candidate, CleanUp, DueRetry, GatesState, LockState,
    ProjectView, ReviewCandidate, ReviewSubject, SlotLimits, Snapshot, SplitIssue, SubtasksOutcome,
    wanted_agent,
};

use crate::database::open::Store;
use crate::database::row::{count32, json, parsed, parsed_opt, time};
use crate::db::{Connection, Row, params};
use crate::error::StoreError;
use crate::issue::query::{choice_from, counts_from, priority_from};
use crate::placement::promote::load_unpromoted;
use crate::review::done_record::load_done_record;
use crate::review::point::persons_points;
use crate::review::pull_request_query::load_pr;
use crate::run::exit_handling::put_off;
use crate::run::hold::load_holds;
use crate::run::spending::of_project;

mod evidence;
mod limit;
mod live;
mod plan_reviews;
mod project_agents;

use self::evidence::{Evidence, pending_gates};
use self::limit::CANDIDATES_LIMIT;
use self::live::{has_pool, load_live, load_staff};
use self::plan_reviews::{JUDGED_DELIVERY_SQL, JUDGED_SQL, count_judges, load_plan_reviews};
use self::project_agents::{load_agents, load_intake};

/// More rows than there can be.
const NO_LIMIT: i64 = i64::MAX;
/// How many issues are moved back to `todo` in one tick. The next one moves the others.
const SPLIT_MAX: i64 = 500;
/// How many worktrees are removed in one tick. The next one removes the others.
const CLEAN_UPS_MAX: i64 = 50;

/// What the store does not know, from the configuration and the lock files.
#[derive(Debug, Clone, Default)]
pub struct SnapshotRequest {
    /// The configured projects. Their open reviews are counted here.
    pub projects: BTreeMap<ProjectId, ProjectView>,
    /// The installation's limits.
    pub slots: SlotLimits,
    /// The state of each live run's lock. A run that is missing here counts as held.
    pub locks: BTreeMap<RunId, LockState>,
    /// The spending caps of projects that have some.
    pub caps: BTreeMap<ProjectId, Spending>,
    /// How long runs of other hosts live without a sign of life.
    pub lease: Lease,
}

pub(crate) const CANDIDATE_COLUMNS: &str = "i.id, i.project, i.labels, i.priority, i.size, i.created_at, i.consecutive_failures, i.total_runs, i.provider, i.model,
    r.kind AS retry_kind, r.due_at AS retry_due, r.attempt AS retry_attempt,
    EXISTS (SELECT 1 FROM issue c WHERE c.parent = i.id) AS has_subtasks";

impl Store {
    /// Reads what a tick needs, on one state of the database.
    ///
    /// # Errors
    /// When the database cannot be read.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "each snapshot has a request of its own"
    )]
    pub fn load_snapshot(
        &mut self,
        request: SnapshotRequest,
        now: Timestamp,
    ) -> Result<Snapshot, StoreError> {
        let paused = self.is_paused()?;
        self.read(|tx| {
            let (staff, unpromoted) = if has_pool(tx, &request.projects)? {
                (load_staff(tx, request.lease)?, load_unpromoted(tx)?)
            } else {
                Default::default()
            };
            let mut snapshot = Snapshot {
                paused,
                slots: request.slots.clone(),
                holds: load_holds(tx)?,
                live: load_live(tx, &request.locks, request.lease, &staff)?,
                staff,
                unpromoted,
                projects: request.projects.clone(),
                ..Snapshot::default()
            };
            for (id, caps) in &request.caps {
                let spent = of_project(tx, id, now)?;
                snapshot.holds.extend(cap_hold(id, caps, spent, now));
            }
            for (id, view) in &mut snapshot.projects {
                snapshot
                    .candidates
                    .extend(load_candidates(tx, id, now, view)?);
                let mut reviews = load_reviews(tx, id)?;
                reviews.extend(load_plan_reviews(tx, id)?);
                let (deliveries, accepted) = load_deliveries(tx, id)?;
                reviews.extend(deliveries);
                // A review that no judge will look at any longer waits for a person.
                let waits = |r: &&ReviewCandidate| r.has_verdict || !view.judge_enabled;
                view.open_reviews =
                    u32::try_from(reviews.iter().filter(waits).count()).unwrap_or(u32::MAX);
                snapshot.reviews.extend(reviews);
                load_agents(tx, id, &mut view.agents)?;
                snapshot.intake.extend(load_intake(tx, id, &view.agents)?);
                snapshot.accepted.extend(accepted);
                snapshot.split.extend(load_split(tx, id)?);
                snapshot.clean_ups.extend(load_clean_ups(tx, id)?);
            }
            Ok(snapshot)
        })
    }

    /// Returns one issue as a tick would read it, with its open dependencies, for `explain`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn candidate(&self, id: &IssueId) -> Result<Option<Candidate>, StoreError> {
        let sql = format!(
            "SELECT {CANDIDATE_COLUMNS} FROM issue i LEFT JOIN retry r ON r.issue = i.id WHERE i.id = ?1"
        );
        let mut statement = self.conn.prepare_cached(&sql)?;
        let mut rows = statement.query([id.as_str()])?;
        let Some(row) = rows.next()? else {
            return Ok(None);
        };
        let mut candidate = candidate_from(&row)?;
        let mut statement = self.conn.prepare_cached(
            "SELECT d.depends_on FROM issue_dependency d JOIN issue i ON i.id = d.depends_on
             WHERE d.issue = ?1 AND i.status <> 'done' ORDER BY i.project, i.number",
        )?;
        let mut rows = statement.query([id.as_str()])?;
        while let Some(row) = &rows.next()? {
            candidate.waits_for.push(parsed("issue id", row.get(0)?)?);
        }
        Ok(Some(candidate))
    }

    /// Returns the ended issues of a project that still have a worktree.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn ended_worktrees(&self, project: &ProjectId) -> Result<Vec<IssueId>, StoreError> {
        let found = load_clean_ups(&self.conn, project)?;
        Ok(found.into_iter().map(|clean_up| clean_up.issue).collect())
    }

    /// Returns the scheduled retries, soonest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn retries(&self, project: Option<&ProjectId>) -> Result<Vec<Retry>, StoreError> {
        let mut statement = self.conn.prepare_cached(RETRIES_SQL)?;
        let mut rows = statement.query([project.map(ProjectId::as_str)])?;
        let mut retries = Vec::new();
        while let Some(row) = &rows.next()? {
            retries.push(Retry {
                issue: parsed("issue id", row.get("issue")?)?,
                agent: parsed("agent type", row.get("agent")?)?,
                kind: parsed("retry kind", row.get("kind")?)?,
                due_at: time(row.get("due_at")?)?,
                attempt: count32(row, "attempt")?,
                reason: row.get("reason")?,
            });
        }
        Ok(retries)
    }

    /// Counts the issues of a project by status.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn issue_counts(
        &self,
        project: &ProjectId,
    ) -> Result<BTreeMap<IssueStatus, u64>, StoreError> {
        let mut statement = self.conn.prepare_cached(COUNTS_SQL)?;
        let mut rows = statement.query([project.as_str()])?;
        let mut counts = BTreeMap::new();
        while let Some(row) = &rows.next()? {
            counts.insert(
                parsed("status", row.get("status")?)?,
                crate::database::row::count(row, "n")?,
            );
        }
        Ok(counts)
    }
}

/// From the few that wait: read from the issues, it would read all of a project.
const RETRIES_SQL: &str = "SELECT r.* FROM retry r CROSS JOIN issue i ON i.id = r.issue WHERE CAST(?1 AS TEXT) IS NULL OR i.project = ?1 ORDER BY r.due_at, r.issue";
const COUNTS_SQL: &str = "SELECT status, n FROM issue_count WHERE project = ?1 AND n > 0";

pub(crate) fn candidate_from(row: &Row<'_>) -> Result<Candidate, StoreError> {
    let labels: Vec<String> = json("labels", &row.get::<_, String>("labels")?)?;
    let kind: Option<RetryKind> = parsed_opt("retry kind", row.get("retry_kind")?)?;
    let retry = match kind {
        None => None,
        Some(kind) => Some(DueRetry {
            kind,
            due_at: time(row.get("retry_due")?)?,
            attempt: count32(row, "retry_attempt")?,
        }),
    };
    Ok(Candidate {
        issue: parsed("issue id", row.get("id")?)?,
        project: parsed("project id", row.get("project")?)?,
        phase: phase_of(&labels),
        priority: priority_from(row)?,
        size: parsed_opt("size", row.get("size")?)?,
        needs_planning: labels.iter().any(|label| label == NEEDS_PLANNING_LABEL),
        has_subtasks: row.get("has_subtasks")?,
        created_at: time(row.get("created_at")?)?,
        waits_for: Vec::new(),
        counts: counts_from(row)?,
        retry,
        repairs: repaired_gates(&labels).map(str::to_owned).collect(),
        choice: choice_from(row)?,
    })
}

/// Issues that could start. A retry that is due later than the longest wait was scheduled before the clock was set
/// back, so it is due.
const READY_SQL: &str = " FROM issue i LEFT JOIN retry r ON r.issue = i.id
    WHERE i.project = ?1 AND i.status = 'todo' AND i.open_dependencies = 0
    AND (r.due_at IS NULL OR r.due_at <= ?2 OR r.due_at > ?4)
    ORDER BY i.priority, i.created_at, i.id LIMIT ?3";

fn candidates_sql() -> String {
    format!("SELECT {CANDIDATE_COLUMNS}{READY_SQL}")
}

fn load_candidates(
    conn: &Connection,
    project: &ProjectId,
    now: Timestamp,
    view: &ProjectView,
) -> Result<Vec<Candidate>, StoreError> {
    let latest = after(now, view.max_backoff_ms.max(CONTINUATION_MS));
    let mut statement = conn.prepare_cached(&candidates_sql())?;
    let mut rows = statement.query(params![
        project.as_str(),
        now.as_millisecond(),
        NO_LIMIT,
        latest.as_millisecond()
    ])?;
    // Read until enough could start, so that others before them cannot hide them, however many there are.
    let (mut startable, mut others) = (0, 0);
    let mut candidates = Vec::new();
    while startable < CANDIDATES_MAX
        && let Some(row) = rows.next()?
    {
        let candidate = candidate_from(&row)?;
        let starts = wanted_agent(&candidate, view).is_ok()
            && !breaker_opens(candidate.counts, view.max_retries);
        let seen = if starts { &mut startable } else { &mut others };
        *seen += 1;
        if *seen <= CANDIDATES_MAX {
            candidates.push(candidate);
        }
    }
    Ok(candidates)
}

const REVIEWS_SQL: &str =
    "SELECT i.id, i.project, i.priority, i.created_at, i.consecutive_failures, i.total_runs, i.provider, i.model,
            i.labels, p.id AS pr, p.head_commit, p.verified_gates, p.gates_due_at, p.gates_problem, p.verdict, p.proposal IS NOT NULL AS is_proposal,
            (SELECT max(started_at) FROM run j WHERE j.pull_request = p.id AND j.agent <> 'gates'
                AND (j.status <> 'cancelled' OR j.worktree IS NOT NULL)) AS last_judged
     FROM issue i JOIN pull_request p ON p.issue = i.id AND p.state IN ('open', 'approved')
     WHERE i.project = ?1 AND i.status = 'review' ORDER BY i.priority, i.created_at, i.id LIMIT ?2";

fn load_reviews(
    conn: &Connection,
    project: &ProjectId,
) -> Result<Vec<ReviewCandidate>, StoreError> {
    let mut statement = conn.prepare_cached(REVIEWS_SQL)?;
    let mut rows = statement.query(params![project.as_str(), CANDIDATES_LIMIT])?;
    let mut reviews = Vec::new();
    while let Some(row) = &rows.next()? {
        let evidence = Evidence::read(row)?;
        let labels: Vec<String> = json("labels", &row.get::<_, String>("labels")?)?;
        let of = PullRequestOf::Issue(parsed("issue id", row.get("id")?)?);
        let persons_points = persons_points(conn, &of)?;
        let counts = counts_from(row)?;
        reviews.push(ReviewCandidate {
            of,
            project: parsed("project id", row.get("project")?)?,
            subject: review_subject(conn, PrId::new(row.get("pr")?), row.get("is_proposal")?)?,
            priority: priority_from(row)?,
            created_at: time(row.get("created_at")?)?,
            gates: match evidence.gates {
                Some(_) => GatesState::Verified,
                None => pending_gates(row)?,
            },
            fixes_gate: fixes_gate(&labels),
            has_verdict: evidence.has_verdict,
            last_judged_at: evidence.last_judged_at,
            judges: count_judges(
                conn,
                JUDGED_SQL,
                row.get("pr")?,
                counts.consecutive_failures,
            )?,
            counts,
            persons_points,
        });
    }
    Ok(reviews)
}

/// Reads what is reviewed: a pull request, or a proposal with its obstacles.
fn review_subject(
    conn: &Connection,
    pr: PrId,
    is_proposal: bool,
) -> Result<ReviewSubject, StoreError> {
    if !is_proposal {
        return Ok(ReviewSubject::PullRequest(pr));
    }
    let proposal = load_pr(conn, pr)?;
    let record = load_done_record(conn, proposal)?;
    // Whoever reads the base decides again, with what it shows.
    let found = stands(&record, None, ConfirmedBy::AutoDone);
    Ok(ReviewSubject::Done {
        pr,
        obstacles: found.err().unwrap_or_default(),
        base: None,
    })
}

const DELIVERIES_SQL: &str =
    "SELECT i.id, i.project, i.priority, i.created_at, i.consecutive_failures, i.total_runs, i.provider, i.model,
            c.id AS claim, c.phase, c.state,
            CASE WHEN c.verdict ->> '$.kind' = 'approved' AND c.verdict ->> '$.commit' = c.head_commit THEN 1 ELSE 0 END AS is_approved,
            (SELECT max(started_at) FROM run j WHERE j.claim = c.id
                AND (j.status <> 'cancelled' OR j.worktree IS NOT NULL)) AS last_judged
     FROM issue i JOIN phase_claim c ON c.issue = i.id AND c.open = 1
     WHERE i.project = ?1 AND i.status = 'review' ORDER BY i.priority, i.created_at, i.id LIMIT ?2";

/// Returns the deliveries that wait for a judge, and the issues whose phase is accepted.
fn load_deliveries(
    conn: &Connection,
    project: &ProjectId,
) -> Result<(Vec<ReviewCandidate>, Vec<AcceptedPhase>), StoreError> {
    let mut statement = conn.prepare_cached(DELIVERIES_SQL)?;
    let mut rows = statement.query(params![project.as_str(), CANDIDATES_LIMIT])?;
    let (mut reviews, mut accepted) = (Vec::new(), Vec::new());
    while let Some(row) = &rows.next()? {
        let issue = parsed("issue id", row.get("id")?)?;
        let project = parsed("project id", row.get("project")?)?;
        let state: DeliveryState = parsed("claim state", row.get("state")?)?;
        if state == DeliveryState::Accepted {
            accepted.push(AcceptedPhase { issue, project });
            continue;
        }
        let delivery = DeliveryId::new(row.get("claim")?);
        let of = PullRequestOf::Issue(issue);
        let counts = counts_from(row)?;
        let persons_points = persons_points(conn, &of)?;
        reviews.push(ReviewCandidate {
            has_verdict: row.get::<_, bool>("is_approved")? && !persons_points.is_empty(),
            persons_points,
            of,
            project,
            subject: ReviewSubject::Delivery(delivery, parsed("phase", row.get("phase")?)?),
            priority: priority_from(row)?,
            created_at: time(row.get("created_at")?)?,
            gates: GatesState::Verified,
            fixes_gate: false,
            last_judged_at: row
                .get::<_, Option<i64>>("last_judged")?
                .map(time)
                .transpose()?,
            judges: count_judges(
                conn,
                JUDGED_DELIVERY_SQL,
                delivery.get(),
                counts.consecutive_failures,
            )?,
            counts,
        });
    }
    Ok((reviews, accepted))
}

/// Issues whose sub-tasks have all ended. Those that continue come first, so that others never hide them.
const SPLIT_SQL: &str = "SELECT id, done_subtasks FROM issue
    WHERE project = ?1 AND status = 'blocked' AND blocked_by = 'subtasks' AND open_subtasks = 0
    ORDER BY done_subtasks DESC, id LIMIT ?2";

fn load_split(conn: &Connection, project: &ProjectId) -> Result<Vec<SplitIssue>, StoreError> {
    let mut statement = conn.prepare_cached(SPLIT_SQL)?;
    let mut rows = statement.query(params![project.as_str(), SPLIT_MAX])?;
    let mut split = Vec::new();
    while let Some(row) = &rows.next()? {
        let done: i64 = row.get("done_subtasks")?;
        split.push(SplitIssue {
            issue: parsed("issue id", row.get("id")?)?,
            project: project.clone(),
            outcome: if done > 0 {
                SubtasksOutcome::SomeDone
            } else {
                SubtasksOutcome::AllCancelled
            },
        });
    }
    Ok(split)
}

/// Those that could not be removed come after the others, when their time comes: fifty of them would hide what can be
/// removed.
const CLEAN_UPS_SQL: &str = "SELECT i.id, f.tries, f.due_at, f.problem, f.since FROM issue i INDEXED BY issue_clean_up
     LEFT JOIN clean_up_fault f ON f.issue = i.id
     WHERE i.project = ?1 AND i.has_worktree = 1 AND i.status IN ('done', 'cancelled') ORDER BY f.due_at, i.id LIMIT ?2";

fn load_clean_ups(conn: &Connection, project: &ProjectId) -> Result<Vec<CleanUp>, StoreError> {
    let mut statement = conn.prepare_cached(CLEAN_UPS_SQL)?;
    let mut rows = statement.query(params![project.as_str(), CLEAN_UPS_MAX])?;
    let mut clean_ups = Vec::new();
    while let Some(row) = &rows.next()? {
        clean_ups.push(CleanUp {
            issue: parsed("issue id", row.get("id")?)?,
            project: project.clone(),
            put_off: put_off(row)?,
            since: row.get::<_, Option<i64>>("since")?.map(time).transpose()?,
        });
    }
    Ok(clean_ups)
}

#[cfg(test)]
mod growth;
#[cfg(test)]
mod tests;

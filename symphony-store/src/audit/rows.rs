//! Checks that are one query each. A row of the answer is a finding: its subject first, then what is wrong.

use symphony_core::invariant::{Invariant, Violation};

use super::phases;
use super::step::{AuditStep, AuditWatch};
use crate::db::Connection;
use crate::error::StoreError;

/// How much is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// Every row.
    All,
    /// Rows about live runs, through their index.
    LiveOnly,
}

/// Cheap, because they start from the index of live runs.
const LIVE: &[(Invariant, &str)] = &[
    (
        Invariant::I1,
        "SELECT issue, count(*) || ' live runs: ' || group_concat(id, ', ') FROM run
         WHERE issue IS NOT NULL AND status IN ('starting', 'running') GROUP BY issue HAVING count(*) > 1",
    ),
    (
        Invariant::I11,
        "SELECT i.id, 'it is ' || i.status || ', but run ' || r.id || ' is live on it and was not asked to end'
         FROM run r JOIN issue i ON i.id = r.issue
         WHERE r.status IN ('starting', 'running') AND r.cancel_requested_at IS NULL AND i.status IN ('done', 'cancelled')",
    ),
    (
        Invariant::L1,
        "SELECT i.id, 'it is in_progress, but no run is live on it' FROM project p CROSS JOIN issue i ON i.project = \
         p.id AND i.status = 'in_progress'
         WHERE NOT EXISTS (SELECT 1 FROM run r WHERE r.issue = i.id AND r.status IN ('starting', 'running'))",
    ),
];

const ALL: &[(Invariant, &str)] = &[
    (
        Invariant::I6,
        "SELECT r.issue, 'it has an appointment (' || r.kind || ') while it is ' || i.status
         FROM retry r JOIN issue i ON i.id = r.issue WHERE i.status <> 'todo'",
    ),
    (
        Invariant::I7,
        "SELECT o.issue, 'the circuit breaker opened ' || o.n || ' times, with ' || coalesce(c.n, 0) || ' notices' FROM
         (SELECT issue, count(*) AS n FROM event WHERE kind = 'issue_moved' AND payload ->> '$.event.event' = 'breaker_opened'
          AND issue IN (SELECT id FROM issue) GROUP BY issue) o
         LEFT JOIN (SELECT issue, count(*) AS n FROM comment WHERE author = 'system' AND content LIKE 'Circuit breaker: %' GROUP BY issue) c
         ON c.issue = o.issue WHERE o.n <> coalesce(c.n, 0)",
    ),
    (
        Invariant::I9,
        "SELECT 'pull request ' || p.id, 'its verdict names commit ' || (p.verdict ->> '$.commit') || ', its head is ' || p.head_commit
         FROM pull_request p WHERE p.verdict IS NOT NULL AND p.verdict ->> '$.commit' <> p.head_commit",
    ),
    (
        Invariant::I9,
        "SELECT 'pull request ' || p.id,
                CASE WHEN r.id IS NULL THEN 'its verdict comes from run ' || (p.verdict ->> '$.run') || ', which is not there'
                     WHEN r.id = p.run THEN 'its verdict comes from run ' || r.id || ', which is its author''s'
                     WHEN r.agent <> 'judge' THEN 'its verdict comes from run ' || r.id || ' of a ' || r.agent
                     ELSE 'its verdict comes from run ' || r.id || ', which was not on it' END
         FROM pull_request p LEFT JOIN run r ON r.id = p.verdict ->> '$.run'
         WHERE p.verdict ->> '$.run' IS NOT NULL AND (r.id IS NULL OR r.id = p.run OR r.agent <> 'judge' OR r.pull_request IS DISTINCT FROM p.id)",
    ),
    (
        Invariant::I9,
        "SELECT 'proposal ' || id, CASE WHEN proposal IS NULL THEN 'it is confirmed, but it is a change'
                ELSE 'its commit ' || head_commit || ' is not its recorded base ' || base_commit END
         FROM pull_request WHERE (proposal IS NULL AND state = 'confirmed') OR (proposal IS NOT NULL AND head_commit <> base_commit)",
    ),
    (
        Invariant::I10,
        "SELECT 'pull request ' || id,
                CASE WHEN verdict IS NULL OR verdict ->> '$.kind' <> 'approved' THEN 'it is merged without an approval'
                     ELSE 'it is merged, but no merged commit is recorded' END
         FROM pull_request WHERE state = 'merged' AND (verdict IS NULL OR verdict ->> '$.kind' <> 'approved' OR merged_commit IS NULL)
         AND (merged_outside IS NULL OR merged_commit IS NULL)",
    ),
    (
        Invariant::I10,
        "SELECT 'pull request ' || p.id, 'commit ' || p.merged_commit || ' is recorded as merged, but no merge was intended'
         FROM pull_request p WHERE p.merged_commit IS NOT NULL AND p.merged_outside IS NULL AND NOT EXISTS
         (SELECT 1 FROM event e WHERE (e.issue = p.issue OR e.plan = p.plan) AND e.kind = 'merge_intended' AND CAST(e.payload ->> '$.pr' AS BIGINT) = p.id
          AND e.payload ->> '$.merged' = p.merged_commit)",
    ),
    (
        Invariant::I12,
        "SELECT r.id, 'it is ' || r.status || ', but its log has ' || count(e.id) || ' ends' FROM run r
         LEFT JOIN event e ON e.run = r.id AND e.kind = 'run_ended' GROUP BY r.id
         HAVING (r.status IN ('starting', 'running')) = (count(e.id) > 0)",
    ),
    (
        Invariant::I12,
        "SELECT i.id, 'open_dependencies is ' || i.open_dependencies || ', open are ' || n FROM
         (SELECT i.id, i.open_dependencies, (SELECT count(*) FROM issue_dependency d JOIN issue o ON o.id = d.depends_on
          WHERE d.issue = i.id AND o.status <> 'done') AS n FROM issue i) i WHERE i.open_dependencies <> n",
    ),
    (
        Invariant::I12,
        "SELECT i.id, 'idle_dependencies is ' || i.idle_dependencies || ', idle are ' || n FROM
         (SELECT i.id, i.idle_dependencies, (SELECT count(*) FROM idle_dependency d WHERE d.issue = i.id) AS n FROM issue i) i
         WHERE i.idle_dependencies <> n",
    ),
    (
        Invariant::I12,
        "SELECT i.id, CASE WHEN i.is_awaited = 1 THEN 'it counts as awaited, but no issue waits for it'
                ELSE 'issues wait for it, which its row does not show' END FROM
         (SELECT i.id, i.is_awaited, EXISTS (SELECT 1 FROM awaited_issue a WHERE a.id = i.id) AS found FROM issue i) i
         WHERE (i.is_awaited = 1) <> found",
    ),
    (
        Invariant::I12,
        "SELECT 'project ' || project, 'it counts ' || sum(counted) || ' issues as ' || status || ', there are ' || sum(found) FROM
         (SELECT project, status, n AS counted, 0 AS found FROM issue_count
          UNION ALL SELECT project, status, 0, count(*) FROM issue GROUP BY project, status) c
         GROUP BY project, status HAVING sum(counted) <> sum(found)",
    ),
    (
        Invariant::I12,
        "SELECT i.id, CASE WHEN i.is_proposed = 1 THEN 'it counts as proposed by an agent, its log has it otherwise'
                ELSE 'it does not count as proposed by an agent, its log has it so' END FROM issue i
         JOIN event e ON e.id = (SELECT max(m.id) FROM event m WHERE m.issue = i.id AND m.kind IN ('issue_added', 'issue_moved'))
         WHERE i.status = 'backlog' AND i.is_proposed <> CASE WHEN e.kind = 'issue_added' AND e.actor <> 'human' THEN 1 ELSE 0 END",
    ),
    (
        Invariant::I12,
        "SELECT DISTINCT c.issue, 'it has deliveries, which its row does not show' FROM phase_claim c JOIN issue i ON i.id = c.issue
         WHERE i.has_delivery = 0",
    ),
    (
        Invariant::I12,
        "SELECT i.id, 'it counts ' || i.open_subtasks || ' open and ' || i.done_subtasks || ' done sub-tasks; there are ' || o || ' and ' || d FROM
         (SELECT i.*, (SELECT count(*) FROM issue c WHERE c.parent = i.id AND c.status NOT IN ('done', 'cancelled')) AS o,
          (SELECT count(*) FROM issue c WHERE c.parent = i.id AND c.status = 'done') AS d FROM issue i) i
         WHERE i.open_subtasks <> o OR i.done_subtasks <> d",
    ),
    (
        Invariant::I12,
        "SELECT i.id, 'its labels are ' || i.labels || ', the index has ' || l FROM
         (SELECT i.id, i.labels, (SELECT coalesce(json_group_array(l.label ORDER BY l.label), '[]') FROM issue_label l WHERE l.issue = i.id) AS l
          FROM issue i) i WHERE i.labels <> l",
    ),
    (
        Invariant::I13,
        "SELECT project || ': ' || worktree, count(DISTINCT issue) || ' issues worked in it: ' || group_concat(DISTINCT issue) FROM run
         WHERE worktree IS NOT NULL AND issue IS NOT NULL GROUP BY project, worktree HAVING count(DISTINCT issue) > 1",
    ),
    (
        Invariant::I17,
        "SELECT run, 'it ended ' || count(*) || ' times' FROM event WHERE kind = 'run_ended' GROUP BY run HAVING count(*) > 1",
    ),
    (
        Invariant::I17,
        "SELECT 'pull request ' || min(payload ->> '$.pr'), 'it was merged ' || count(*) || ' times' FROM event
         WHERE kind = 'pr_state' AND payload ->> '$.state' = 'merged' GROUP BY CAST(payload ->> '$.pr' AS BIGINT) HAVING count(*) > 1",
    ),
    (
        Invariant::F1,
        "SELECT e.run, 'entry ' || e.id || ' (' || e.kind || ') was written in its name after its end' FROM event e
         WHERE e.run IS NOT NULL AND e.actor NOT IN ('system', 'human') AND e.kind <> 'write_refused'
         AND e.id > (SELECT min(x.id) FROM event x WHERE x.run = e.run AND x.kind = 'run_ended')",
    ),
    (
        Invariant::L1,
        "SELECT i.id, 'it waits for sub-tasks, but has none' FROM issue i WHERE i.status = 'blocked' AND i.blocked_by = 'subtasks'
         AND NOT EXISTS (SELECT 1 FROM issue c WHERE c.parent = i.id)",
    ),
    (
        Invariant::L1,
        "SELECT id, 'it is blocked without a recorded reason' FROM issue WHERE status = 'blocked' AND trim(coalesce(blocked_reason, '')) = ''",
    ),
];

pub(super) fn check(
    conn: &Connection,
    extent: Extent,
    watch: AuditWatch<'_>,
    found: &mut Vec<Violation>,
) -> Result<(), StoreError> {
    let more: [&[(Invariant, &str)]; 2] = match extent {
        Extent::All => [ALL, phases::ALL],
        Extent::LiveOnly => [&[], &[]],
    };
    let always = LIVE.iter().chain(phases::LIVE);
    let questions: Vec<_> = always.chain(more.into_iter().flatten()).collect();
    let total = questions.len();
    for (done, (invariant, sql)) in questions.into_iter().enumerate() {
        watch(AuditStep::Rows { done, total });
        let mut statement = conn.prepare_cached(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = &rows.next()? {
            let (subject, detail): (String, String) = (row.get(0)?, row.get(1)?);
            found.push(Violation::new(*invariant, subject, detail));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::open::Store;
    use crate::database::query_plan::query_plan;

    #[test]
    fn what_is_checked_after_each_step_reads_no_whole_table() {
        let store = Store::open_in_memory().unwrap();
        for (invariant, sql) in LIVE.iter().chain(phases::LIVE) {
            let steps = query_plan(&store.conn, sql);
            // There are few projects.
            let scans = |step: &&String| {
                step.starts_with("SCAN") && !step.contains("INDEX") && *step != "SCAN p"
            };
            assert_eq!(steps.iter().find(scans), None, "{invariant}: {steps:#?}");
        }
    }
}

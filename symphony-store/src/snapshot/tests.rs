//! The cost of a tick does not depend on the number of issues: checks the actual statements, their plans and their
//! steps.

use super::live::LIVE_SQL;
use super::project_agents::{BACKLOG_SQL, HAS_TODO_SQL, LAST_RUN_SQL, UNTRIAGED_SQL};
use super::*;
use crate::database::query_plan::query_plan;
use rusqlite::StatementStatus;

use crate::db::params;

/// The current time in milliseconds, in a database with small times only.
const NOW: i64 = 1_000_000;

/// Returns a project with `issues` issues and as many ended runs. All but a fixed number are ended, shelved, blocked,
/// or wait for a dependency: 600 could start, 100 back off, 10 are in review (with a pull request and a delivery each),
/// 60 have a worktree to remove, 4 runs are live, 16 waited for sub-tasks that have ended, 33 are for intake.
fn filled(issues: i64) -> Store {
    let store = Store::open_in_memory().unwrap();
    store
        .conn
        .execute_batch("INSERT INTO project (id, name, root, prefix, created_at) VALUES ('p', 'P', '/p', 'P', 0)")
        .unwrap();
    store
        .conn
        .execute(
            "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?1)
             INSERT INTO issue (id, project, number, title, title_key, description, status, blocked_by, priority,
                                open_dependencies, has_worktree, created_at, updated_at)
             SELECT 'P-' || i, 'p', i, 'title', 'title ' || i, '',
                    CASE WHEN i < 700 THEN 'todo' WHEN i < 710 THEN 'review' WHEN i < 770 THEN 'done'
                         WHEN i % 4 = 0 THEN 'todo' WHEN i % 4 = 1 THEN 'done' WHEN i % 4 = 2 THEN 'backlog'
                         ELSE 'blocked' END,
                    CASE WHEN i >= 770 AND i % 4 = 3 THEN 'agent' END,
                    i % 5, i >= 770 AND i % 4 = 0, i BETWEEN 710 AND 769, i, i
             FROM n",
            [issues],
        )
        .unwrap();
    store
        .conn
        .execute_batch(
            "INSERT INTO retry (issue, agent, kind, due_at, attempt, reason)
             SELECT id, 'worker', 'backoff', 1000500, 1, 'r' FROM issue WHERE number BETWEEN 600 AND 699;
             INSERT INTO pull_request (project, issue, title, body, branch, base, base_commit, head_commit, diff, files,
                                       state, created_at, updated_at)
             SELECT 'p', id, 't', 'b', 'x', 'main', 'c0', 'c1', '', '[]', 'open', 0, 0
             FROM issue WHERE number BETWEEN 700 AND 709;
             INSERT INTO phase_claim (project, issue, phase, summary, author, state, head_commit, open, created_at)
             SELECT 'p', id, 'research', 's', 'researcher', 'accepted', 'c1', number BETWEEN 700 AND 709, 0 FROM issue;
             UPDATE issue SET blocked_by = 'subtasks', open_subtasks = number >= 900, done_subtasks = number % 3
             WHERE status = 'blocked' AND number % 8 = 7;
             UPDATE issue SET intake = 'changed' WHERE status = 'backlog' AND number >= 900;
             INSERT INTO run (id, fence, project, issue, agent, attempt, provider, status, protection, started_at, ended_at)
             SELECT 'r' || number, number, 'p', id, 'worker', 1, 'scripted',
                    CASE WHEN number < 4 THEN 'running' ELSE 'succeeded' END, 'none', number,
                    CASE WHEN number < 4 THEN NULL ELSE number END
             FROM issue;
             INSERT INTO run (id, fence, project, agent, attempt, provider, status, protection, started_at, ended_at)
             SELECT 's' || number, 1000000 + number, 'p', 'scanner', 1, 'scripted', 'succeeded', 'none', number, number
             FROM issue WHERE number % 10 = 0",
        )
        .unwrap();
    store
}

struct Cost {
    rows: usize,
    steps: i32,
    scanned: i32,
}

fn cost(store: &Store, sql: &str, parameters: &[&dyn rusqlite::ToSql]) -> Cost {
    let mut statement = store.conn.sqlite().unwrap().prepare(sql).unwrap();
    let mut rows = statement.query(parameters).unwrap();
    let mut count = 0;
    while rows.next().unwrap().is_some() {
        count += 1;
    }
    drop(rows);
    Cost {
        rows: count,
        steps: statement.get_status(StatementStatus::VmStep),
        scanned: statement.get_status(StatementStatus::FullscanStep),
    }
}

fn costs(store: &Store) -> Vec<(&'static str, Cost)> {
    vec![
        (
            "ready",
            cost(
                store,
                &candidates_sql(),
                params!["p", NOW, CANDIDATES_LIMIT, NOW + 300_000],
            ),
        ),
        (
            "reviews",
            cost(store, REVIEWS_SQL, params!["p", CANDIDATES_LIMIT]),
        ),
        (
            "claims",
            cost(store, DELIVERIES_SQL, params!["p", CANDIDATES_LIMIT]),
        ),
        (
            "clean-ups",
            cost(store, CLEAN_UPS_SQL, params!["p", CLEAN_UPS_MAX]),
        ),
        ("split", cost(store, SPLIT_SQL, params!["p", SPLIT_MAX])),
        ("live runs", cost(store, LIVE_SQL, params![])),
        (
            "untriaged",
            cost(store, UNTRIAGED_SQL, params!["p", CANDIDATES_LIMIT]),
        ),
        ("in todo", cost(store, HAS_TODO_SQL, params!["p"])),
        ("in backlog", cost(store, BACKLOG_SQL, params!["p", 10])),
        (
            "last scan",
            cost(store, LAST_RUN_SQL, params!["p", "scanner"]),
        ),
    ]
}

#[test]
fn every_read_of_a_tick_goes_through_its_partial_index() {
    let store = Store::open_in_memory().unwrap();
    for (sql, index) in [
        (candidates_sql(), "issue_ready"),
        (REVIEWS_SQL.to_owned(), "issue_review"),
        (DELIVERIES_SQL.to_owned(), "issue_review"),
        (DELIVERIES_SQL.to_owned(), "phase_claim_open"),
        (DELIVERIES_SQL.to_owned(), "run_claim"),
        (CLEAN_UPS_SQL.to_owned(), "issue_clean_up"),
        (SPLIT_SQL.to_owned(), "issue_split"),
        (LIVE_SQL.to_owned(), "run_live"),
        (UNTRIAGED_SQL.to_owned(), "issue_untriaged"),
        (HAS_TODO_SQL.to_owned(), "issue_status"),
        (BACKLOG_SQL.to_owned(), "issue_status"),
        (LAST_RUN_SQL.to_owned(), "run_of_project"),
    ] {
        let plan = query_plan(&store.conn, &sql);
        assert!(plan.iter().any(|line| line.contains(index)), "{plan:#?}");
        let scans = |line: &&String| {
            let constant = line.contains("CONSTANT ROW") || line.contains("subquery");
            line.starts_with("SCAN") && !line.contains("USING") && !constant
        };
        assert_eq!(plan.iter().find(scans), None, "{plan:#?}");
    }
}

#[test]
fn a_hundred_times_the_issues_cost_a_tick_nothing_more() {
    let (few, many) = (costs(&filled(1_000)), costs(&filled(100_000)));
    for ((what, few), (_, many)) in few.iter().zip(&many) {
        assert_eq!((few.rows, few.steps), (many.rows, many.steps), "{what}");
    }
    // The scan reads the whole index of live runs, of which there are never more than slots.
    let scanned: Vec<_> = many
        .iter()
        .map(|(_, cost)| (cost.rows, cost.scanned))
        .collect();
    let of_agents = [(33, 0), (1, 0), (1, 0), (1, 0)];
    let expected = [
        &[(500, 0), (10, 0), (10, 0), (50, 0), (16, 0), (4, 3)],
        &of_agents[..],
    ]
    .concat();
    assert_eq!(scanned, expected);
}

#[test]
fn an_appointment_from_before_the_clock_was_set_back_is_due() {
    let store = filled(1_000);
    let ready = |now: i64| {
        let parameters = params!["p", now, 2_000, now + 300_000];
        cost(&store, &candidates_sql(), parameters).rows
    };
    // 758 could start at once, 100 are due half a second after NOW
    assert_eq!(ready(NOW) + 100, ready(NOW + 500));
    assert_eq!(ready(NOW - 299_500) + 100, ready(NOW - 299_501));
}

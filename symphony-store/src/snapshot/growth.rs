//! What years of ended work, and a large backlog, cost the reads of a tick, of the status and of the inbox: nothing. SQLite counts the
//! steps of whole calls, so that no statement of them is left out.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use symphony_core::id::ProjectId;

use super::*;
use crate::run::record::RunFilter;

/// The time of all calls, after everything in the database.
const NOW_MS: i64 = 2_000_000_000;

/// Returns a project with a fixed number of open issues (20 in each status, half of those in `backlog` from an agent) and this many
/// that have ended, each with a run, five entries of the log, a merged pull request, a comment and a delivery.
fn years(ended: i64) -> Store {
    let store = Store::open_in_memory().unwrap();
    let fill = |sql: &str| {
        store
            .conn
            .execute(&sql.replace(":ended", &ended.to_string()), [])
            .unwrap_or_else(|error| panic!("{sql}: {error}"));
    };
    fill(
        "INSERT INTO project (id, name, root, prefix, created_at) VALUES ('p', 'P', '/p', 'P', 0)",
    );
    fill(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 80 + :ended)
         INSERT INTO issue (id, project, number, title, title_key, description, status, blocked_by, blocked_reason, priority, total_runs, created_at, updated_at)
         SELECT 'P-' || i, 'p', i, 't', 't' || i, '',
                CASE WHEN i <= 20 THEN 'backlog' WHEN i <= 40 THEN 'todo' WHEN i <= 60 THEN 'review' WHEN i <= 80 THEN 'blocked'
                     WHEN i % 10 = 0 THEN 'cancelled' ELSE 'done' END,
                CASE WHEN i BETWEEN 61 AND 80 THEN 'agent' END, CASE WHEN i BETWEEN 61 AND 80 THEN 'r' END, i % 5, i > 80, i, i FROM n",
    );
    fill("UPDATE issue SET parent = 'P-90' WHERE number BETWEEN 21 AND 30");
    fill("UPDATE issue SET open_subtasks = 10 WHERE id = 'P-90'");
    fill("UPDATE issue SET labels = '[\"fixes-gate:test\"]' WHERE id = 'P-41'");
    fill(
        "INSERT INTO event (at, project, issue, actor, kind)
         SELECT created_at, project, id, CASE WHEN number % 2 = 0 THEN 'scanner' ELSE 'human' END, 'issue_added' FROM issue",
    );
    fill(
        "INSERT INTO run (id, fence, project, issue, agent, attempt, provider, status, protection, started_at, ended_at, worktree)
         SELECT 'r' || number, number, project, id, 'worker', 1, 'scripted', 'succeeded', 'none', number, number + 1, 'w' || id
         FROM issue WHERE number > 80",
    );
    for kind in ["run_claimed", "run_started", "run_ended", "issue_moved"] {
        fill(&format!(
            "INSERT INTO event (at, project, issue, run, actor, kind)
             SELECT created_at, project, id, 'r' || number, 'system', '{kind}' FROM issue WHERE number > 80"
        ));
    }
    fill(
        "INSERT INTO pull_request (project, issue, run, title, body, branch, base, base_commit, head_commit, diff, files, state,
                                   merged_commit, created_at, updated_at)
         SELECT project, id, CASE WHEN number > 80 THEN 'r' || number END, 't', 'b', 'x' || id, 'main', 'c0', 'c1', '', '[]',
                CASE WHEN number > 80 THEN 'merged' ELSE 'open' END, CASE WHEN number > 80 THEN 'c1' END, created_at, updated_at
         FROM issue WHERE number > 80 OR status = 'review'",
    );
    fill(
        "INSERT INTO comment (issue, author, content, created_at) SELECT id, 'human', 'c', 0 FROM issue",
    );
    fill(
        "INSERT INTO phase_claim (project, issue, phase, summary, author, state, head_commit, open, created_at)
         SELECT 'p', id, 'research', 's', 'researcher', 'accepted', 'c1', 0, 0 FROM issue",
    );
    store
}

/// Adds as many issues of each kind, which no agent can begin, and of which a person has to act on six: one of the backlog, and five
/// whose dependency was cancelled.
/// - `B`: left in the backlog by a person, each waiting for the one before; a half are sub-tasks of an issue in review.
/// - `T`: in `todo`, waiting for each other in a circle.
/// - `N`: in `todo`, all waiting for the same one of the backlog.
/// - `W`: blocked by a sub-task `S`, which waits for an issue in review.
/// - `G`: the five, however many there are of the others.
fn wait(store: &Store, waiting: i64) {
    let kinds = [
        (
            "B",
            "backlog",
            "'B-' || CASE i WHEN 1 THEN :n ELSE i - 1 END",
        ),
        ("T", "todo", "'T-' || CASE i WHEN 1 THEN :n ELSE i - 1 END"),
        ("N", "todo", "'B-1'"),
        ("W", "blocked", "NULL"),
        ("S", "todo", "'P-50'"),
        ("G", "todo", "'P-100'"),
    ];
    for (prefix, status, needed) in kinds {
        let waiting = if prefix == "G" { 5 } else { waiting };
        let fill = |sql: &str| {
            let sql = sql.replace(":needed", needed).replace(":prefix", prefix);
            let sql = sql.replace(":status", status);
            let sql = sql.replace(":n", &waiting.to_string());
            store
                .conn
                .execute(&sql, [])
                .unwrap_or_else(|error| panic!("{sql}: {error}"));
        };
        fill(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :n)
             INSERT INTO issue (id, project, number, title, title_key, description, status, open_dependencies, blocked_by, blocked_reason,
                                parent, priority, created_at, updated_at)
             SELECT ':prefix-' || i, 'p', (SELECT max(number) FROM issue) + i, 't', ':prefix' || i, '', ':status', :needed IS NOT NULL,
                    CASE ':status' WHEN 'blocked' THEN 'subtasks' END, CASE ':status' WHEN 'blocked' THEN 'r' END,
                    CASE WHEN ':prefix' = 'S' THEN 'W-' || i WHEN ':prefix' = 'B' AND i % 2 = 0 THEN 'P-45' END, i % 5, i, i FROM n",
        );
        fill(
            "INSERT INTO event (at, project, issue, actor, kind)
             SELECT created_at, project, id, 'human', 'issue_added' FROM issue WHERE id LIKE ':prefix-%'",
        );
        fill(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :n)
             INSERT INTO issue_dependency (issue, depends_on) SELECT ':prefix-' || i, :needed FROM n WHERE :needed IS NOT NULL",
        );
    }
}

/// Counts the steps of SQLite's machine in each call, on a database with this many issues that have ended, and as many that wait.
fn steps_of(ended: i64, waiting: i64) -> Vec<(&'static str, u64)> {
    let mut store = years(ended);
    wait(&store, waiting);
    let (now, project) = (time(NOW_MS).unwrap(), ProjectId::parse("p").unwrap());
    let counter = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&counter);
    let count = move || {
        seen.fetch_add(1, Ordering::Relaxed);
        false
    };
    let sqlite = store.conn.sqlite().unwrap();
    sqlite.progress_handler(1, Some(count)).unwrap();
    let mut found = Vec::new();
    let mut call = |what, call: &mut dyn FnMut(&mut Store) -> usize, expected: usize| {
        counter.store(0, Ordering::Relaxed);
        assert_eq!(call(&mut store), expected, "{what}");
        found.push((what, counter.load(Ordering::Relaxed)));
    };
    call(
        "documents",
        &mut |s| s.needed_documents(&project).unwrap().len(),
        81,
    );
    call(
        "proposals",
        &mut |s| s.proposed_issues(&project, 1_000).unwrap().len(),
        10,
    );
    call(
        "counts",
        &mut |s| s.issue_counts(&project).unwrap().len(),
        6,
    );
    call(
        "retries",
        &mut |s| s.retries(Some(&project)).unwrap().len(),
        0,
    );
    call(
        "a run at work now",
        &mut |s| s.run_at_work(now).unwrap().iter().count(),
        0,
    );
    call(
        "waiting",
        &mut |s| s.waiting_issues(&project, 15, now).unwrap().len(),
        26,
    );
    call(
        "plans",
        &mut |s| s.waiting_plans(&project, now).unwrap().len(),
        0,
    );
    call(
        "left",
        &mut |s| s.left_behind_runs(&project).unwrap().len(),
        0,
    );
    call(
        "notices",
        &mut |s| s.base_notices(&project).unwrap().len(),
        0,
    );
    call(
        "open items",
        &mut |s| s.open_items().unwrap().issues.len(),
        85 + 5 * usize::try_from(waiting).unwrap(),
    );
    call("bases", &mut |s| s.open_into(&project).unwrap().len(), 20);
    call(
        "intents",
        &mut |s| s.merge_intents(&project).unwrap().len(),
        0,
    );
    call(
        "unpublished",
        &mut |s| s.unpublished_prs(&project).unwrap().len(),
        0,
    );
    call(
        "clean-ups",
        &mut |s| s.ended_worktrees(&project).unwrap().len(),
        0,
    );
    call("news", &mut |s| s.look_at_prs(None).unwrap().prs.len(), 20);
    call(
        "branches",
        &mut |s| usize::from(s.has_branches(&project).unwrap()),
        1,
    );
    call(
        "spent today",
        &mut |s| usize::from(s.spent_today(&project, now).unwrap().tokens.get() > 0),
        0,
    );
    call(
        "repairs",
        &mut |s| s.gate_repairs(&project).unwrap().len(),
        1,
    );
    call("live", &mut |s| s.live_runs().unwrap().len(), 0);
    let live = RunFilter {
        project: Some(project.clone()),
        live_only: true,
        ..RunFilter::default()
    };
    call("running", &mut |s| s.runs(&live).unwrap().len(), 0);
    found
}

#[test]
fn years_of_ended_work_cost_a_tick_the_status_and_the_inbox_nothing() {
    assert_eq!(steps_of(1_000, 200), steps_of(20_000, 200));
}

#[test]
fn issues_that_wait_for_others_and_a_large_backlog_cost_a_tick_the_status_and_the_inbox_nothing() {
    let steps = |waiting| {
        let mut found = steps_of(1_000, waiting);
        // `explain` and the audit read all that is open
        found.retain(|(what, _)| *what != "open items");
        found
    };
    // The inbox reads the first 101 that wait for one issue.
    assert_eq!(steps(200), steps(2_000));
}

#[test]
fn proposals_counts_and_deliveries_follow_the_rows_that_they_are_derived_from() {
    let store = years(100);
    let counted = |what: &str| -> i64 { store.conn.query_row(what, [], |row| row.get(0)).unwrap() };
    let proposed = "SELECT count(*) FROM issue INDEXED BY issue_proposed WHERE status = 'backlog' AND is_proposed = 1";
    assert_eq!(counted(proposed), 10);
    let add =
        "INSERT INTO event (at, issue, actor, kind) VALUES (0, 'P-2', 'human', 'issue_moved')";
    store.conn.execute_batch(add).unwrap();
    assert_eq!(counted(proposed), 9, "a person moved it, and it is back");
    let differing =
        "SELECT count(*) FROM (SELECT project, status, n FROM issue_count WHERE n > 0 EXCEPT
                     SELECT project, status, count(*) FROM issue GROUP BY project, status)";
    assert_eq!(counted(differing), 0);
    store
        .conn
        .execute_batch("UPDATE issue SET status = 'done', blocked_by = NULL WHERE number % 3 = 0")
        .unwrap();
    assert_eq!(counted(differing), 0);
    assert_eq!(counted("SELECT sum(n) FROM issue_count"), 180);
    assert_eq!(
        counted("SELECT count(*) FROM issue WHERE has_delivery = 1"),
        180
    );
}

//! What people wait for, in an installation of a thousand and of a million issues: `status`, `inbox`, a page of issues, a tick, a merge.

use rusqlite::{Connection, params};

use super::backup::wait_for_backup;
use super::issues::{add_issues, prepared};
use super::measure::{in_turn, quietly};
use super::project::Project;

const ROUNDS: usize = 15;
/// Merges of each installation: each needs a pull request of its own.
const MERGES: usize = 9;

/// Fills an installation as years leave it: what was done has a run, a merged pull request, and entries of the log.
fn fill(project: &Project, issues: i64) {
    let connection = Connection::open(project.database()).unwrap();
    let id: String = connection
        .query_row("SELECT id FROM project", [], |row| row.get(0))
        .unwrap();
    let first = "(SELECT next_number FROM project)";
    let fill = |sql: &str| {
        connection
            .execute(sql, params![id, issues])
            .unwrap_or_else(|error| panic!("{sql}: {error}"));
    };
    fill(&format!(
        "WITH RECURSIVE n (i) AS (SELECT {first} UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
         INSERT INTO issue (id, project, number, title, title_key, description, status, priority, total_runs, created_at, updated_at)
         SELECT 'BEN-' || i, ?1, i, 'Issue ' || i, 'issue ' || i, 'What is to be done, in some words.',
                CASE WHEN i % 1000 = 0 THEN 'backlog' WHEN i % 10 = 1 THEN 'cancelled' ELSE 'done' END, i % 5, 1, i, i FROM n"
    ));
    fill(
        "INSERT INTO event (at, project, issue, actor, kind)
         SELECT created_at, ?1, id, 'human', 'issue_added' FROM issue WHERE number <= ?2",
    );
    fill(
        "INSERT INTO run (id, fence, project, issue, agent, attempt, provider, status, protection, started_at, ended_at, worktree)
         SELECT 'r' || number, -number, ?1, id, 'worker', 1, 'scripted', 'succeeded', 'none', number, number + 1, 'w' || id
         FROM issue WHERE status = 'done' AND number <= ?2",
    );
    fill(
        "INSERT INTO pull_request (project, issue, run, title, body, branch, base, base_commit, head_commit, diff, files, state,
                                   merged_commit, created_at, updated_at)
         SELECT ?1, id, 'r' || number, 't', 'b', 'x' || id, 'main', 'c0', 'c1', '', '[]', 'merged', 'c1', number, number
         FROM issue WHERE status = 'done' AND number <= ?2",
    );
    fill("UPDATE project SET next_number = ?2 + 1 WHERE id = ?1");
    connection.execute_batch("ANALYZE").unwrap();
}

/// An installation with pull requests that wait to be merged: the issues that they belong to.
fn installation(issues: i64) -> (Project, Vec<String>) {
    let project = prepared();
    fill(&project, issues);
    let open = add_issues(&project, MERGES);
    let ended = project.symphony(&["run", "--until-idle", "--quiet"]);
    let ended = { ended }.output().unwrap();
    // its exit code says that people have something to merge
    assert!(matches!(ended.status.code(), Some(0 | 1)), "{ended:#?}");
    wait_for_backup(&project);
    (project, open)
}

pub(crate) fn run() {
    let [(small, small_open), (large, large_open)] = [1_000, 1_000_000].map(installation);
    let commands: [(&str, &[&str]); 4] = [
        ("status", &["status", "--json"]),
        ("inbox", &["inbox", "--json"]),
        ("issue list", &["issue", "list", "--limit", "50", "--json"]),
        ("tick", &["tick", "--quiet"]),
    ];
    for (name, arguments) in commands {
        let mut of = [&small, &large].map(|project| || quietly(&mut project.symphony(arguments)));
        let [on_small, on_large] = &mut of;
        let [of_small, of_large] = in_turn(ROUNDS, [on_small, on_large]);
        report(name, of_small, of_large);
    }
    let mut merges = [(&small, small_open), (&large, large_open)].map(|(project, open)| {
        let mut open = open.into_iter();
        move || merge(project, &open.next().unwrap())
    });
    let [on_small, on_large] = &mut merges;
    let [of_small, of_large] = in_turn(MERGES, [on_small, on_large]);
    report("pr merge", of_small, of_large);
}

fn merge(project: &Project, issue: &str) {
    quietly(&mut project.symphony(&["pr", "merge", issue, "--quiet"]));
}

fn report(name: &str, small: f64, large: f64) {
    println!(
        "{name}: 1,000 issues {:.1} ms, 1,000,000 issues {:.1} ms, t(1M)/t(1k) = {:.2} (goal 1.2)",
        small * 1e3,
        large * 1e3,
        large / small
    );
}

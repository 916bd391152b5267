//! A tick with nothing to do, in an installation of a thousand and of a million issues.

use std::process::Command;

use rusqlite::{Connection, params};

use super::measure::{in_turn, quietly};
use super::peers;
use super::project::Project;

const ROUNDS: usize = 41;
/// Issues that wait for each other in a circle, so that none can begin, in front of everything else.
const BLOCKED: i64 = 10_000;

/// Fills the backlog as years leave it: most issues done or cancelled, some in the backlog, some that wait for others.
fn fill(project: &Project, issues: i64) {
    let connection = Connection::open(project.database()).unwrap();
    let id: String = connection
        .query_row("SELECT id FROM project", [], |row| row.get(0))
        .unwrap();
    connection
        .execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
             INSERT INTO issue (id, project, number, title, title_key, description, status, priority, created_at, updated_at,
                                open_dependencies)
             SELECT 'BEN-' || i, ?1, i, 'Issue ' || i, 'issue ' || i, 'What is to be done, in some words.',
                    CASE WHEN i <= ?3 THEN 'todo' WHEN i % 10 = 0 THEN 'backlog' WHEN i % 10 = 1 THEN 'cancelled' ELSE 'done' END,
                    i % 5, i, i, i <= ?3
             FROM n",
            params![id, issues, BLOCKED.min(issues / 2)],
        )
        .unwrap();
    connection
        .execute(
            "INSERT INTO issue_dependency (issue, depends_on)
             SELECT id, 'BEN-' || CASE number WHEN 1 THEN ?1 ELSE number - 1 END FROM issue WHERE status = 'todo'",
            [BLOCKED.min(issues / 2)],
        )
        .unwrap();
    connection
        .execute("UPDATE project SET next_number = ?1", [issues + 1])
        .unwrap();
    connection.execute_batch("ANALYZE").unwrap();
}

pub(crate) fn run() {
    let [small, large] = [1_000, 1_000_000].map(|issues| {
        let project = Project::new();
        fill(&project, issues);
        let planned = project.ok(&["tick", "--json"]);
        let planned: serde_json::Value = serde_json::from_slice(&planned.stdout).unwrap();
        assert_eq!(planned["actions"], serde_json::json!([]), "nothing to do");
        project
    });
    let empty = peers::empty();
    let [bare, tick_small, tick_large, help] = in_turn(
        ROUNDS,
        [
            &mut || quietly(&mut Command::new(&empty)),
            &mut || quietly(&mut small.symphony(&["tick", "--quiet"])),
            &mut || quietly(&mut large.symphony(&["tick", "--quiet"])),
            &mut || quietly(&mut small.symphony(&["--help"])),
        ],
    );
    println!(
        "idle tick, 1,000 issues {:.2} ms, 1,000,000 issues {:.2} ms",
        tick_small * 1e3,
        tick_large * 1e3
    );
    println!("  t(1M)/t(1k) = {:.2} (goal 1.1)", tick_large / tick_small);
    println!(
        "  {:.2} times a bare process (goal 3); --help {:.2} times (goal 2)",
        tick_large / bare,
        help / bare
    );
    if peers::has("node") {
        let [tick, node] = in_turn(
            ROUNDS / 2,
            [
                &mut || quietly(&mut large.symphony(&["tick", "--quiet"])),
                &mut || quietly(Command::new("node").args(["-e", "0"])),
            ],
        );
        println!("  1/{:.1} of `node -e 0` (goal 1/20)", node / tick);
    }
}

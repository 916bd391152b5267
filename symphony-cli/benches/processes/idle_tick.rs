//! A tick with nothing to do, `status` and `inbox`, in an installation of a thousand and of a million issues, of which a tenth are in
//! the backlog and up to 10,000 wait for others.

use std::process::Command;

use rusqlite::{Connection, params};

use super::backup::wait_for_backup;
use super::measure::{in_turn, quietly};
use super::peers;
use super::project::Project;

const ROUNDS: usize = 41;
/// Issues that wait for a dependency, in front of everything else.
const BLOCKED: i64 = 10_000;

/// Fills the backlog as years leave it: most issues done or cancelled, some in the backlog, some that wait for others. Of those, every
/// other one waits for the same issue of the backlog, the others for one that waits itself.
fn fill(project: &Project, issues: i64) {
    let connection = Connection::open(project.database()).unwrap();
    let id: String = connection
        .query_row("SELECT id FROM project", [], |row| row.get(0))
        .unwrap();
    let blocked = BLOCKED.min(issues / 2);
    connection
        .execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
             INSERT INTO issue (id, project, number, title, title_key, description, status, priority, created_at, updated_at,
                                open_dependencies)
             SELECT 'BEN-' || i, ?1, i, 'Issue ' || i, 'issue ' || i, 'What is to be done, in some words.',
                    CASE WHEN i <= ?3 THEN 'todo' WHEN i % 10 = 0 THEN 'backlog' WHEN i % 10 = 1 THEN 'cancelled' ELSE 'done' END,
                    i % 5, i, i, i <= ?3
             FROM n",
            params![id, issues, blocked],
        )
        .unwrap();
    connection
        .execute(
            "INSERT INTO issue_dependency (issue, depends_on)
             SELECT id, 'BEN-' || CASE WHEN number % 2 = 1 THEN ?1 + 10 ELSE number - 1 END FROM issue WHERE status = 'todo'",
            [blocked],
        )
        .unwrap();
    connection
        .execute(
            "INSERT INTO event (at, project, issue, actor, kind)
             SELECT created_at, project, id, 'human', 'issue_added' FROM issue WHERE status IN ('todo', 'backlog')",
            [],
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
        let inbox = project.ok(&["inbox", "--json"]);
        let inbox = String::from_utf8(inbox.stdout).unwrap();
        assert!(inbox.contains("it is in the backlog, and BEN-1"), "{inbox}");
        wait_for_backup(&project);
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
    for command in ["status", "inbox"] {
        let mut of = [&small, &large].map(|project| {
            let arguments = [command, "--json"];
            move || quietly(&mut project.symphony(&arguments))
        });
        let [on_small, on_large] = &mut of;
        let [of_small, of_large] = in_turn(ROUNDS / 2, [on_small, on_large]);
        println!(
            "  {command}: {:.2} ms and {:.2} ms, t(1M)/t(1k) = {:.2} (goal 1.2)",
            of_small * 1e3,
            of_large * 1e3,
            of_large / of_small
        );
    }
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

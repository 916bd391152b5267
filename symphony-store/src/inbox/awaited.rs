//! Whatever happens to issues, the triggers mark those that others wait for, and the inbox shows what it would show if it read all.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::select;
use symphony_core::id::{IssueId, ProjectId};
use symphony_core::inbox::WaitsFor;

use crate::database::open::Store;
use crate::database::row::time;

/// Issues of the backlog that others wait for, with each of these, from all that wait.
const NEEDED_OF_ALL: &str =
    "SELECT i.id || ' for ' || w.waits FROM (
         SELECT t.id AS waits, d.depends_on AS needed FROM issue t JOIN issue_dependency d ON d.issue = t.id
         WHERE t.project = ?1 AND t.status = 'todo' AND t.open_dependencies > 0
         UNION ALL
         SELECT b.id, c.id FROM issue b JOIN issue c ON c.parent = b.id
         WHERE b.project = ?1 AND b.status = 'blocked' AND b.blocked_by = 'subtasks') w
     JOIN issue i ON i.id = w.needed JOIN project g ON g.id = i.project AND g.removed_at IS NULL WHERE i.status = 'backlog'";
/// Issues with a dependency that will never be done, from all that wait.
const GONE_OF_ALL: &str = "SELECT i.id FROM issue i WHERE i.project = ?1 AND i.status = 'todo' AND i.open_dependencies > 0
     AND EXISTS (SELECT 1 FROM issue_dependency d JOIN issue o ON o.id = d.depends_on JOIN project g ON g.id = o.project
                 WHERE d.issue = i.id AND (o.status = 'cancelled' OR o.status <> 'done' AND g.removed_at IS NOT NULL))";
const UNMARKED: &str = "SELECT id FROM issue WHERE (is_awaited = 1) <> (id IN (SELECT id FROM awaited_issue)) AND ?1 <> ''";

/// A change of one issue; the numbers are those of issues.
#[derive(Debug, Clone)]
enum Step {
    Add(u8, &'static str, Option<u8>),
    Depend(u8, u8),
    Release(u8),
    Move(u8, &'static str),
    Reparent(u8, Option<u8>),
    Leave(bool),
}

fn steps() -> impl Strategy<Value = Step> {
    let issue = || 0_u8..12;
    let parent = || proptest::option::of(issue());
    let status = || {
        select(vec![
            "backlog",
            "backlog",
            "todo",
            "todo",
            "in_progress",
            "blocked",
            "done",
            "cancelled",
        ])
    };
    prop_oneof![
        4 => (issue(), status(), parent()).prop_map(|(issue, status, parent)| Step::Add(issue, status, parent)),
        6 => (issue(), issue()).prop_map(|(issue, needed)| Step::Depend(issue, needed)),
        1 => issue().prop_map(Step::Release),
        8 => (issue(), status()).prop_map(|(issue, status)| Step::Move(issue, status)),
        2 => (issue(), parent()).prop_map(|(issue, parent)| Step::Reparent(issue, parent)),
        1 => any::<bool>().prop_map(Step::Leave),
    ]
}

/// Issues of even numbers belong to project `a`, the others to `b`.
fn take(store: &Store, step: &Step) {
    let blocked = |status: &str| match status {
        "blocked" => "'subtasks'",
        _ => "NULL",
    };
    let parent_of = |issue: u8, parent: Option<u8>| match parent {
        Some(parent) if parent != issue && parent % 2 == issue % 2 => {
            format!("(SELECT id FROM issue WHERE id = 'I-{parent}')")
        }
        _ => "NULL".to_owned(),
    };
    let sql = match *step {
        Step::Add(issue, status, parent) => format!(
            "INSERT INTO issue (id, project, number, title, title_key, description, status, blocked_by, blocked_reason, priority, parent,
                                created_at, updated_at)
             VALUES ('I-{issue}', CASE {issue} % 2 WHEN 0 THEN 'a' ELSE 'b' END, {issue}, 't', 't', '', '{status}', {blocked}, {blocked}, 0,
                     {parent}, 0, 0) ON CONFLICT DO NOTHING;
             INSERT INTO event (at, issue, actor, kind) SELECT 0, id, 'human', 'issue_added' FROM issue WHERE id = 'I-{issue}'",
            blocked = blocked(status),
            parent = parent_of(issue, parent),
        ),
        Step::Depend(issue, needed) => format!(
            "INSERT INTO issue_dependency (issue, depends_on) SELECT i.id, o.id FROM issue i JOIN issue o ON o.id = 'I-{needed}'
             WHERE i.id = 'I-{issue}' AND i.id <> o.id ON CONFLICT DO NOTHING"
        ),
        Step::Release(issue) => format!("DELETE FROM issue_dependency WHERE issue = 'I-{issue}'"),
        Step::Move(issue, status) => format!(
            "UPDATE issue SET status = '{status}', blocked_by = {blocked}, blocked_reason = {blocked} WHERE id = 'I-{issue}'",
            blocked = blocked(status),
        ),
        Step::Reparent(issue, parent) => format!(
            "UPDATE issue SET parent = {} WHERE id = 'I-{issue}';
             UPDATE issue SET open_subtasks = (SELECT count(*) FROM issue c WHERE c.parent = issue.id AND c.status NOT IN ('done', 'cancelled')),
                              done_subtasks = (SELECT count(*) FROM issue c WHERE c.parent = issue.id AND c.status = 'done')",
            parent_of(issue, parent)
        ),
        Step::Leave(leaves) => format!(
            "UPDATE project SET removed_at = {} WHERE id = 'b'",
            if leaves { "1" } else { "NULL" }
        ),
    };
    store
        .conn
        .execute_batch(&sql)
        .unwrap_or_else(|error| panic!("{sql}: {error}"));
}

/// What the inbox shows of a project: what an issue of the backlog is needed for, and what waits for nothing that will be done.
fn shown(store: &Store, project: &str) -> [BTreeSet<String>; 2] {
    let project = ProjectId::parse(project).unwrap();
    let [mut needed, mut gone] = [BTreeSet::new(), BTreeSet::new()];
    for waiting in store
        .waiting_issues(&project, 15, time(0).unwrap())
        .unwrap()
    {
        match waiting.why {
            WaitsFor::Needed(by) => {
                assert!(by.is_sorted_by_key(IssueId::as_str), "{by:?}");
                needed.extend(by.iter().map(|by| format!("{} for {by}", waiting.issue)));
            }
            WaitsFor::CancelledDependencies(_) | WaitsFor::RemovedDependencies(_) => {
                gone.insert(waiting.issue.to_string());
            }
            _ => {}
        }
    }
    [needed, gone]
}

proptest! {
    #[test]
    fn what_others_wait_for_is_marked_and_shown_whatever_happens(steps in proptest::collection::vec(steps(), 1..60)) {
        let store = Store::open_in_memory().unwrap();
        store.conn.execute_batch(
            "INSERT INTO project (id, name, root, prefix, created_at) VALUES ('a', 'A', '/a', 'A', 0), ('b', 'B', '/b', 'B', 0)",
        ).unwrap();
        for step in &steps {
            take(&store, step);
        }
        store.conn.execute_batch(
            "UPDATE issue SET open_dependencies = (SELECT count(*) FROM issue_dependency d JOIN issue o ON o.id = d.depends_on
                                                   WHERE d.issue = issue.id AND o.status <> 'done')",
        ).unwrap();
        let found = |sql: &str, project: &str| -> BTreeSet<String> {
            let mut statement = store.conn.prepare(sql).unwrap();
            let rows = statement.query_map([project], |row| row.get(0)).unwrap();
            rows.map(Result::unwrap).collect()
        };
        prop_assert_eq!(found(UNMARKED, "a"), BTreeSet::new());
        for project in ["a", "b"] {
            let of_all = [NEEDED_OF_ALL, GONE_OF_ALL].map(|sql| found(sql, project));
            prop_assert_eq!(shown(&store, project), of_all);
        }
    }
}

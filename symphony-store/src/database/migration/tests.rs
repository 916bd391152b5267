//! Migrations of older databases, one by one.

use super::*;

/// Writes the schema of new databases from the migrations.
const UPDATE_VARIABLE: &str = "SYMPHONY_WRITE_SCHEMA";
/// The version that introduced review points.
const REVIEW_POINTS: usize = 27;

#[test]
fn migrations_are_valid_and_counted() {
    migrations().validate().unwrap();
    let mut conn = Connection::open_in_memory().unwrap();
    migrations().to_latest(&mut conn).unwrap();
    let version: i64 = conn
        .query_row("PRAGMA user_version", [], |r| r.get(0))
        .unwrap();
    assert_eq!(version, SCHEMA_VERSION);
}

/// Returns the statements that make a database as it is: its schema in the order in which it came about, and its rows.
fn statements_of(conn: &Connection) -> String {
    let texts = |sql: &str| -> Vec<String> {
        let mut statement = conn.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    };
    let schema =
        "SELECT sql || ';' FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'
        ORDER BY type <> 'table', rowid";
    let mut statements = texts(schema);
    for table in texts("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name") {
        let columns = texts(&format!(
            "SELECT 'quote(' || name || ')' FROM pragma_table_info('{table}')"
        ));
        let values = columns.join(" || ', ' || ");
        statements.extend(texts(&format!(
            "SELECT 'INSERT INTO {table} VALUES (' || {values} || ');' FROM {table}"
        )));
    }
    statements.join("\n") + "\n"
}

#[test]
fn a_new_database_is_what_all_migrations_make_of_an_empty_one() {
    let mut migrated = Connection::open_in_memory().unwrap();
    migrations().to_latest(&mut migrated).unwrap();
    let expected = format!(
        "-- What all migrations make of an empty database. `{UPDATE_VARIABLE}=1 cargo test --workspace a_new_database` writes it.\n{}",
        statements_of(&migrated)
    );
    if std::env::var_os(UPDATE_VARIABLE).is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/database/schema/new.sql");
        std::fs::write(path, &expected).unwrap();
        return;
    }
    assert!(
        NEW_SCHEMA == expected,
        "src/database/schema/new.sql is not what the migrations make: `{UPDATE_VARIABLE}=1 cargo test --workspace a_new_database` writes it"
    );
    let mut new = Connection::open_in_memory().unwrap();
    migrate(&mut new).unwrap();
    assert_eq!(statements_of(&new), statements_of(&migrated));
    let version = |conn: &Connection| -> i64 {
        conn.query_row("PRAGMA user_version", [], |row| row.get(0))
            .unwrap()
    };
    assert_eq!(
        (version(&new), version(&migrated)),
        (SCHEMA_VERSION, SCHEMA_VERSION)
    );
}

#[test]
fn notices_of_an_older_database_keep_their_numbers_and_none_is_given_out_again() {
    let mut conn = Connection::open_in_memory().unwrap();
    migrations().to_version(&mut conn, 17).unwrap();
    conn.execute_batch(
        "INSERT INTO project (id, name, root, prefix, created_at) VALUES ('p', 'P', '/p', 'P', 0);
         INSERT INTO issue (id, project, number, title, title_key, description, status, priority, created_at, updated_at)
         VALUES ('P-1', 'p', 1, 't', 't', '', 'todo', 4, 0, 0);
         INSERT INTO base_notice (project, issue, kind, commit_id, text, at) VALUES ('p', 'P-1', 'part', 'a', 'x', 0), ('p', 'P-1', 'part', 'b', 'y', 0);
         DELETE FROM base_notice WHERE id = 2;",
    )
    .unwrap();
    migrations().to_latest(&mut conn).unwrap();
    let next: (i64, String) = conn
        .query_row(
            "INSERT INTO base_notice (project, issue, kind, commit_id, text, at) VALUES ('p', 'P-1', 'part', 'c', 'z', 0)
             RETURNING id, (SELECT text FROM base_notice WHERE id = 1)",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap();
    assert_eq!(next, (3, "x".to_owned()));
}

#[test]
fn a_notice_is_about_an_issue_a_plan_or_its_project_and_never_about_two() {
    let mut conn = Connection::open_in_memory().unwrap();
    migrations().to_version(&mut conn, 25).unwrap();
    conn.execute_batch(
        "INSERT INTO project (id, name, root, prefix, created_at) VALUES ('p', 'P', '/p', 'P', 0);
         INSERT INTO issue (id, project, number, title, title_key, description, status, priority, created_at, updated_at)
         VALUES ('P-1', 'p', 1, 't', 't', '', 'todo', 4, 0, 0);
         INSERT INTO base_notice (id, project, issue, kind, commit_id, text, at, dismissed_at) VALUES (7, 'p', 'P-1', 'part', 'a', 'x', 3, 4);",
    )
    .unwrap();
    migrations().to_latest(&mut conn).unwrap();
    let kept: (i64, String, i64, i64) = conn
        .query_row(
            "SELECT id, issue, at, dismissed_at FROM base_notice",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
        )
        .unwrap();
    assert_eq!(kept, (7, "P-1".to_owned(), 3, 4));
    let insert = "INSERT INTO base_notice (project, kind, commit_id, text, at) VALUES ('p', 'settings', 'run', 'x', 0)";
    conn.execute_batch(insert).unwrap();
    assert!(conn.execute_batch(insert).is_err(), "once a run");
}

#[test]
fn an_issue_of_an_older_database_leaves_the_agent_to_its_project() {
    let mut conn = Connection::open_in_memory().unwrap();
    migrations().to_version(&mut conn, 36).unwrap();
    conn.execute_batch(
        "INSERT INTO project (id, name, root, prefix, created_at) VALUES ('p', 'P', '/p', 'P', 0);
         INSERT INTO issue (id, project, number, title, title_key, description, status, priority, created_at, updated_at)
         VALUES ('P-1', 'p', 1, 't', 't', '', 'todo', 4, 0, 0);",
    )
    .unwrap();
    migrations().to_latest(&mut conn).unwrap();
    let id = symphony_core::id::IssueId::parse("P-1").unwrap();
    let issue = crate::issue::query::load_issue(&conn.into(), &id).unwrap();
    assert_eq!(issue.choice, symphony_core::profile::AgentChoice::default());
}

#[test]
fn what_others_wait_for_in_an_older_database_is_marked() {
    let mut conn = Connection::open_in_memory().unwrap();
    migrations().to_version(&mut conn, 50).unwrap();
    conn.execute_batch(
        "INSERT INTO project (id, name, root, prefix, created_at, removed_at)
         VALUES ('p', 'P', '/p', 'P', 0, NULL), ('q', 'Q', '/q', 'Q', 0, 1);
         INSERT INTO issue (id, project, number, title, title_key, description, status, blocked_by, blocked_reason, priority, parent, created_at, updated_at)
         VALUES ('P-1', 'p', 1, 't', 't', '', 'todo', NULL, NULL, 4, NULL, 0, 0),
                ('P-2', 'p', 2, 't', 't', '', 'backlog', NULL, NULL, 4, NULL, 0, 0),
                ('P-3', 'p', 3, 't', 't', '', 'cancelled', NULL, NULL, 4, NULL, 0, 0),
                ('P-4', 'p', 4, 't', 't', '', 'review', NULL, NULL, 4, NULL, 0, 0),
                ('P-5', 'p', 5, 't', 't', '', 'blocked', 'subtasks', 'r', 4, NULL, 0, 0),
                ('P-6', 'p', 6, 't', 't', '', 'backlog', NULL, NULL, 4, 'P-5', 0, 0),
                ('P-7', 'p', 7, 't', 't', '', 'backlog', NULL, NULL, 4, NULL, 0, 0),
                ('P-8', 'p', 8, 't', 't', '', 'backlog', NULL, NULL, 4, NULL, 0, 0),
                ('Q-1', 'q', 1, 't', 't', '', 'todo', NULL, NULL, 4, NULL, 0, 0);
         INSERT INTO issue_dependency (issue, depends_on)
         VALUES ('P-1', 'P-2'), ('P-1', 'P-3'), ('P-1', 'P-4'), ('P-1', 'Q-1'), ('P-4', 'P-7'), ('P-7', 'P-8');",
    )
    .unwrap();
    migrations().to_latest(&mut conn).unwrap();
    let mut statement = conn
        .prepare("SELECT id FROM issue WHERE is_awaited = 1 ORDER BY id")
        .unwrap();
    let found: Vec<String> = statement
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(found, ["P-2", "P-3", "P-6", "Q-1"]);
}

#[test]
fn who_was_alone_under_a_hold_of_an_older_database_still_is() {
    let mut conn = Connection::open_in_memory().unwrap();
    migrations().to_version(&mut conn, 36).unwrap();
    for (scope, issue, held) in [
        ("a", 1, 6),
        ("b", 1, 6),
        ("b", 2, 1),
        ("c", 1, 6),
        ("c", 2, 0),
    ] {
        let item = format!(r#"{{"issue":"P-{issue}"}}"#);
        conn.execute(
            "INSERT INTO hold_trial (scope, item, turn, failures, held) VALUES ('model:' || ?1, ?2, 1, ?3, ?3)",
            rusqlite::params![scope, item, held],
        )
        .unwrap();
    }
    migrations().to_latest(&mut conn).unwrap();
    let conn = crate::db::Connection::from(conn);
    let alone = |scope: &str| {
        let trials = crate::run::hold_trial::load_trials(&conn, scope).unwrap();
        trials.iter().map(|trial| trial.alone).collect::<Vec<_>>()
    };
    assert_eq!(alone("model:a"), [6]);
    assert_eq!(alone("model:b"), [0, 0]);
    assert_eq!(alone("model:c"), [6, 0]);
}

#[test]
fn a_hold_of_an_older_database_goes_on() {
    let mut conn = Connection::open_in_memory().unwrap();
    migrations().to_version(&mut conn, 16).unwrap();
    conn.execute_batch(
        "INSERT INTO hold (scope, until, class, reason, probes, placed_at)
         VALUES ('provider:claude-cli', 9, 'provider_error', '500', 3, 7)",
    )
    .unwrap();
    migrations().to_latest(&mut conn).unwrap();
    let holds = crate::run::hold::load_holds(&conn.into()).unwrap();
    let found: Vec<_> = holds
        .iter()
        .map(|hold| (hold.scope.to_string(), hold.probes, hold.trials.len()))
        .collect();
    assert_eq!(found, [("provider claude-cli".to_owned(), 3, 0)]);
}

#[test]
fn the_last_rejection_of_each_open_issue_becomes_points() {
    let mut conn = Connection::open_in_memory().unwrap();
    migrations()
        .to_version(&mut conn, REVIEW_POINTS - 1)
        .unwrap();
    let long = format!("{}\\n\\n{}", "a".repeat(1_500), "b".repeat(1_500));
    let verdict = |kind: &str, author: &str, text: &str| {
        format!(
            r#"{{"kind":"{kind}","author":"{author}","run":null,"commit":"c9","protection":"none","comment":"{text}","at":"1970-01-01T00:00:07Z"}}"#
        )
    };
    conn.execute_batch(
        "INSERT INTO project (id, name, root, prefix, created_at) VALUES ('p', 'P', '/p', 'P', 0);
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6)
         INSERT INTO issue (id, project, number, title, title_key, description, status, priority, created_at, updated_at)
         SELECT 'P-' || i, 'p', i, 't', 't', '', CASE i WHEN 3 THEN 'done' ELSE 'todo' END, 4, 0, 0 FROM n",
    )
    .unwrap();
    let pr = |issue: &str, state: &str, verdict: Option<String>| {
        conn.execute(
            "INSERT INTO pull_request (project, issue, title, body, branch, base, base_commit, head_commit, diff, files, reported_gates,
                                       state, verdict, created_at, updated_at)
             VALUES ('p', ?1, 't', '', 'b', 'main', 'c', 'c9', '', '[]', '[]', ?2, ?3, 0, 0)",
            rusqlite::params![issue, state, verdict],
        )
        .unwrap();
    };
    pr("P-1", "rejected", Some(verdict("rejected", "judge", "old")));
    pr("P-1", "rejected", Some(verdict("rejected", "judge", &long)));
    pr("P-2", "rejected", None); // by its gates
    pr(
        "P-3",
        "rejected",
        Some(verdict("rejected", "judge", "ended")),
    );
    pr(
        "P-4",
        "rejected",
        Some(verdict("rejected", "judge", "settled")),
    );
    pr("P-4", "approved", Some(verdict("approved", "judge", "")));
    pr(
        "P-5",
        "rejected",
        Some(verdict("rejected", "human", "louder")),
    );
    conn.execute(
        "INSERT INTO phase_claim (project, issue, phase, summary, author, state, verdict, open, created_at)
         VALUES ('p', 'P-6', 'architecture', 's', 'architect', 'rejected', ?1, 0, 0)",
        [verdict("rejected", "judge", "no risks")],
    )
    .unwrap();
    migrations().to_latest(&mut conn).unwrap();
    let mut statement = conn
        .prepare(
            "SELECT issue || ' ' || number || ' ' || author || ' ' || substr(text, 1, 9) || ' ' || coalesce('pr ' || pull_request, 'claim ' || claim)
                    || ' ' || commit_id || ' ' || created_at FROM review_point ORDER BY id",
        )
        .unwrap();
    let found: Vec<String> = statement
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(
        found,
        [
            "P-1 1 judge aaaaaaaaa pr 2 c9 7000",
            "P-1 2 judge bbbbbbbbb pr 2 c9 7000",
            "P-5 1 human louder pr 7 c9 7000",
            "P-6 1 judge no risks claim 1 c9 7000",
        ]
    );
}

#[test]
fn sub_tasks_of_an_older_database_are_counted() {
    let mut conn = Connection::open_in_memory().unwrap();
    migrations().to_version(&mut conn, 2).unwrap();
    conn.execute_batch(
        "INSERT INTO project (id, name, root, prefix, created_at) VALUES ('p', 'P', '/p', 'P', 0);
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6)
         INSERT INTO issue (id, project, number, title, title_key, description, status, priority, parent, created_at, updated_at)
         SELECT 'P-' || i, 'p', i, 't', 't', '',
                CASE i WHEN 3 THEN 'done' WHEN 4 THEN 'cancelled' WHEN 5 THEN 'review' ELSE 'todo' END, 4,
                CASE WHEN i BETWEEN 2 AND 5 THEN 'P-1' END, 0, 0
         FROM n",
    )
    .unwrap();
    migrations().to_latest(&mut conn).unwrap();
    let mut statement = conn
        .prepare("SELECT open_subtasks, done_subtasks FROM issue ORDER BY number")
        .unwrap();
    let counts: Vec<(i64, i64)> = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(counts, [(2, 1), (0, 0), (0, 0), (0, 0), (0, 0), (0, 0)]);
}

#[test]
fn what_an_older_database_holds_is_attributed_to_nobody_and_only_a_person_is_a_user() {
    let mut conn = Connection::open_in_memory().unwrap();
    migrations().to_version(&mut conn, 34).unwrap();
    conn.execute_batch(
        "INSERT INTO project (id, name, root, prefix, created_at) VALUES ('p', 'P', '/p', 'P', 0);
         INSERT INTO issue (id, project, number, title, title_key, description, status, priority, created_at, updated_at)
         VALUES ('P-1', 'p', 1, 't', 't', '', 'todo', 4, 0, 0);
         INSERT INTO event (at, issue, actor, kind, payload) VALUES (0, 'P-1', 'human', 'comment_added', '{\"comment\":\"1\"}');
         INSERT INTO comment (issue, author, content, created_at) VALUES ('P-1', 'human', 'c', 0);
         INSERT INTO review_point (project, issue, number, severity, text, state, round, author, created_at)
         VALUES ('p', 'P-1', 1, 'must', 't', 'open', 1, 'human', 0);
         INSERT INTO point_answer (point, round, kind, text, author, created_at) VALUES (1, 1, 'remark', 't', 'human', 0);",
    )
    .unwrap();
    migrations().to_latest(&mut conn).unwrap();
    for (table, author, columns, values) in [
        ("event", "actor", "at, issue, kind", "0, 'P-1', 'pr_opened'"),
        (
            "comment",
            "author",
            "issue, content, created_at",
            "'P-1', 'c', 0",
        ),
        (
            "review_point",
            "author",
            "project, issue, number, severity, text, state, round, created_at",
            "'p', 'P-1', 2, 'must', 't', 'open', 1, 0",
        ),
        (
            "point_answer",
            "author",
            "point, round, kind, text, created_at",
            "1, 1, 'remark', 't', 0",
        ),
    ] {
        let sql = format!("SELECT source, user FROM {table}");
        let found: (Option<String>, Option<String>) = conn
            .query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap();
        assert_eq!(found, (None, None), "{table}");
        let add = |by: &str| {
            let sql = format!(
                "INSERT INTO {table} ({columns}, {author}, source, user) VALUES ({values}, {by})"
            );
            conn.execute(&sql, [])
        };
        assert!(add("'human', 'fax', NULL").is_err(), "{table}");
        assert!(add("'worker', 'agent', 'ada'").is_err(), "{table}");
        assert!(add("'human', 'web', 'ada'").is_ok(), "{table}");
    }
}

#[test]
fn learnings_of_an_older_database_are_measured_from_now_on() {
    let mut conn = Connection::open_in_memory().unwrap();
    migrations().to_version(&mut conn, 29).unwrap();
    conn.execute_batch(
        "INSERT INTO project (id, name, root, prefix, created_at) VALUES ('p', 'P', '/p', 'P', 0);
         INSERT INTO learning (id, project, author, state, pattern, created_at)
         VALUES ('a', 'p', 'human', 'accepted', 'cache', 7), ('b', 'p', 'worker', 'proposed', 'parser', 8);",
    )
    .unwrap();
    migrations().to_latest(&mut conn).unwrap();
    let mut statement = conn
        .prepare("SELECT accepted_at FROM learning ORDER BY id")
        .unwrap();
    let found: Vec<Option<i64>> = statement
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(found, [Some(7), None]);
}

#[test]
fn learnings_of_an_older_database_stay_accepted_or_retired() {
    let mut conn = Connection::open_in_memory().unwrap();
    migrations().to_version(&mut conn, 26).unwrap();
    conn.execute_batch(
        "INSERT INTO project (id, name, root, prefix, created_at) VALUES ('p', 'P', '/p', 'P', 0);
         INSERT INTO learning (id, project, author, retired, pattern, created_at)
         VALUES ('a', 'p', 'worker', 0, 'cache', 0), ('b', 'p', 'human', 1, 'parser', 0);",
    )
    .unwrap();
    migrations().to_latest(&mut conn).unwrap();
    let mut statement = conn
        .prepare(
            "SELECT l.state, p.learning FROM learning l LEFT JOIN learning_prepared p ON p.learning = l.id ORDER BY l.id",
        )
        .unwrap();
    let found: Vec<(String, Option<String>)> = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let expected = [
        ("accepted".to_owned(), Some("a".to_owned())),
        ("retired".to_owned(), None),
    ];
    assert_eq!(found, expected);
}

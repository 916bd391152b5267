//! Every statement that the store can send is prepared on the server.
//!
//! The texts come from the sources, not from what tests happen to run: a recording of what was sent would not miss the statement
//! that has no test. Each string that begins a statement is found, with what constants and macros put into it. What is only known
//! when the program runs is listed here, and a hole without an entry fails the test.

mod source;

use std::path::Path;

use super::Postgres;
use source::{Found, Part, builders, statements};

/// Files whose statements are not prepared, and why.
const LEFT_OUT: &[(&str, &str)] = &[
    ("db/mod.rs", "one text for each engine"),
    ("database/migration.rs", "migrations of the file"),
    (
        "review/point_migration.rs",
        "part of a migration of the file",
    ),
    ("database/backup.rs", "a copy of the file"),
    ("database/open.rs", "whether a file may become a database"),
    ("audit/file.rs", "the pages of the file"),
    (
        "audit/server.rs",
        "only for a server, which runs it in a test of its own",
    ),
    ("snapshot/growth.rs", "fills a file in a test"),
    ("inbox/awaited.rs", "fills a file in a test"),
    (
        "database/copy.rs",
        "names of tables are put in; the tests of copies send each",
    ),
    (
        "database/sequence.rs",
        "some are for one engine; the tests of copies send each",
    ),
    (
        "database/sessions.rs",
        "only for a server, which runs it in the tests of copies",
    ),
    (
        "database/trigger.rs",
        "some are for one engine; the tests of copies send each",
    ),
];

/// What stands in a hole when the program runs: the file, the hole, and each text that it may have.
const HOLES: &[(&str, &str, &[&str])] = &[
    ("audit/text.rs", "table", &["issue"]),
    ("issue/note.rs", "table", &["comment", "finding"]),
    (
        "issue/query.rs",
        "0",
        &[
            "1 = 1 AND i.project = ?1 AND i.status = ?2 AND i.id IN (SELECT issue FROM issue_label WHERE label = ?3) AND i.parent = ?4
             AND (instr(lower(i.title), lower(?5)) > 0 OR instr(lower(i.description), lower(?5)) > 0)
             AND (i.project, i.number) > (SELECT project, number FROM issue WHERE id = ?6)",
            "1 = 1 AND (i.project, i.number) < (SELECT project, number FROM issue WHERE id = ?1)",
        ],
    ),
    ("issue/query.rs", "order", &["i.project, i.number", "i.project DESC, i.number DESC"]),
    ("issue/query.rs", "1", &["9223372036854775807"]),
    (
        "learning/read.rs",
        "0",
        &[
            "SELECT id, project, forms FROM learning_pack WHERE project = ?1",
            "SELECT id, project, forms FROM learning_pack WHERE project <> ?1",
            "SELECT id, project, forms FROM learning_pack",
        ],
    ),
    ("learning/record.rs", "scope", &["project = ?1", "CAST(?1 AS TEXT) IS NULL"]),
    ("learning/state.rs", "column", &["issue", "plan"]),
    ("plan/change.rs", "table", &["plan_artifact", "plan_phase"]),
    (
        "plan/run.rs",
        "if_recorded",
        &["(run) DO UPDATE SET outcome = ?2, artifacts = ?3, at = ?4", "DO NOTHING"],
    ),
    ("project/record.rs", "column", &["id", "root", "prefix"]),
    (
        "review/pull_request_query.rs",
        "wheres",
        &[
            "1 = 1 AND project = ? AND state = ? AND issue = ? AND plan = ?",
            "1 = 1 AND +project = ? AND +state = ?",
        ],
    ),
    ("review/pull_request_query.rs", "limit", &["9223372036854775807"]),
    ("run/prompt_set.rs", "column", &["issue", "trial_issue"]),
    ("run/record.rs", "index", &["", " INDEXED BY run_live"]),
    (
        "run/record.rs",
        "wheres",
        &["project = ? AND issue = ? AND plan = ? AND agent <> 'gates' AND status IN ('starting', 'running')", "+project = ?"],
    ),
    ("run/record.rs", "limit", &["9223372036854775807"]),
    (
        "run/spending.rs",
        "name",
        &["agent", "coalesce(model, provider)", "coalesce(issue, plan, 'the project itself')"],
    ),
    ("tracker/outbox.rs", "state", &["waiting", "refused"]),
];

/// What is put at the end of a statement: the file, how the statement ends in the source, and what follows.
const LONGER: &[(&str, &str, &str)] = &[(
    "database/event_query.rs",
    "WHERE id > ?",
    " AND issue = ? AND run = ? AND plan = ? ORDER BY id DESC LIMIT 10",
)];

/// Returns each text that a statement of the sources may be.
fn texts(found: &Found) -> Vec<String> {
    let mut texts = vec![String::new()];
    for part in &found.parts {
        let alternatives: Vec<&str> = match part {
            Part::Text(text) => vec![text.as_str()],
            Part::Hole(name) => {
                let mut known = HOLES
                    .iter()
                    .filter(|(file, hole, _)| (*file, *hole) == (&found.file, name));
                let Some((_, _, known)) = known.next() else {
                    panic!(
                        "{}: add to HOLES what `{{{name}}}` may be in {:?}",
                        found.file, found.parts
                    );
                };
                known.to_vec()
            }
        };
        let longer = |text: &String| -> Vec<String> {
            alternatives
                .iter()
                .map(|part| format!("{text}{part}"))
                .collect()
        };
        texts = texts.iter().flat_map(longer).collect();
    }
    texts
}

fn all_texts() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let lengthening: Vec<&str> = LONGER.iter().map(|(file, _, _)| *file).collect();
    assert_eq!(
        builders(&folder),
        lengthening,
        "add to LONGER what is put at the end of a statement"
    );
    let mut all = Vec::new();
    for found in statements(&folder) {
        if LEFT_OUT.iter().any(|(file, _)| *file == found.file) {
            continue;
        }
        for text in texts(&found) {
            let is_lengthened =
                |(file, end, _): &&(&str, &str, &str)| *file == found.file && text.ends_with(end);
            for (_, _, more) in LONGER.iter().filter(is_lengthened) {
                all.push((found.file.clone(), format!("{text}{more}")));
            }
            all.push((found.file.clone(), text));
        }
    }
    all
}

#[test]
fn each_statement_of_the_sources_is_found() {
    let all = all_texts();
    assert!(all.len() > 600, "only {} statements are found", all.len());
    let is_known = |name: &str, start: &str| {
        all.iter()
            .any(|(file, text)| file == name && text.trim_start().starts_with(start))
    };
    for (file, start) in [
        ("run/claim.rs", "INSERT INTO run (id, fence"),
        ("inbox/waiting.rs", "SELECT coalesce((SELECT max(at)"),
        ("snapshot.rs", "SELECT i.id, i.project, i.labels"),
        (
            "tracker/outbox.rs",
            "SELECT c.*, l.external_id FROM tracker_change c JOIN tracker_link l ON l.id = c.link WHERE",
        ),
        (
            "run/record.rs",
            "SELECT * FROM run INDEXED BY run_live WHERE",
        ),
    ] {
        assert!(is_known(file, start), "{file}: {start}");
    }
}

#[test]
fn each_statement_can_be_prepared_on_the_server() {
    let Ok(address) = std::env::var("SYMPHONY_TEST_DATABASE") else {
        return; // `.ci/run postgres` starts a server
    };
    let schema = format!("test_{}", uuid::Uuid::new_v4().simple());
    let server = Postgres::connect(
        &address.parse().unwrap(),
        &schema,
        crate::database::server::creation,
    )
    .unwrap();
    let mut wrong = Vec::new();
    for (file, text) in all_texts() {
        if let Err(error) = server.column_names(&server.text(&text)) {
            wrong.push(format!("{file}: {error}\n    {}", server.text(&text)));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} statements:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

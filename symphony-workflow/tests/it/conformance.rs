//! `docs/conformance.md` has a row for each requirement, each with a state, and names tests that exist.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const PAGE: &str = include_str!("../../../docs/conformance.md");

/// How many requirements each section of the specification has; a list below a requirement counts in its place.
const SECTIONS: [(&str, usize); 11] = [
    ("17.1", 16),
    ("17.2", 12),
    ("17.3", 9),
    ("17.4", 15),
    ("17.5", 21),
    ("17.6", 6),
    ("17.7", 6),
    ("17.8", 4),
    ("18.1", 18),
    ("18.2", 6),
    ("18.3", 3),
];

struct Row<'a> {
    name: &'a str,
    requirement: &'a str,
    state: &'a str,
    note: &'a str,
    tests: Vec<&'a str>,
}

fn rows() -> Vec<Row<'static>> {
    let lines = PAGE.lines().filter(|line| line.starts_with("| 1"));
    let row = |line: &'static str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, name, requirement, state, note, tests, _] = cells[..] else {
            panic!("not five cells: {line}")
        };
        let names = tests
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty());
        let unquoted = |name: &'static str| {
            let inner = name
                .strip_prefix('`')
                .and_then(|name| name.strip_suffix('`'));
            inner.unwrap_or_else(|| panic!("{name} is not between backticks: {line}"))
        };
        Row {
            name,
            requirement,
            state,
            note,
            tests: names.map(unquoted).collect(),
        }
    };
    lines.map(row).collect()
}

/// Returns the names of all tests in the sources of the workspace.
#[expect(
    clippy::disallowed_methods,
    reason = "the test reads the sources that the page names"
)]
fn tests() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut open: Vec<PathBuf> = std::fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("Cargo.toml").is_file())
        .flat_map(|path| [path.join("src"), path.join("tests")])
        .collect();
    let mut found = BTreeSet::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(
                std::fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.extend(names(&std::fs::read_to_string(&path).unwrap()));
        }
    }
    found
}

/// Returns the names of the functions that a `#[test]` or a `#[tokio::test]` is above of.
fn names(source: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut is_test = false;
    for line in source.lines().map(str::trim) {
        let function = line.strip_prefix("async ").unwrap_or(line);
        if ["#[test]", "#[tokio::test]"].contains(&line) {
            is_test = true;
        } else if let Some(rest) = function.strip_prefix("fn ").filter(|_| is_test) {
            names.extend(rest.split('(').next().map(str::to_owned));
            is_test = false;
        }
    }
    names
}

#[test]
fn every_requirement_has_one_row_with_a_state() {
    let expected: Vec<String> = SECTIONS
        .iter()
        .flat_map(|(section, count)| (1..=*count).map(move |number| format!("{section}.{number}")))
        .collect();
    let rows = rows();
    let found: Vec<&str> = rows.iter().map(|row| row.name).collect();
    assert_eq!(found, expected);
    for row in rows {
        assert!(
            ["has", "differs", "not yet"].contains(&row.state),
            "{}: {}",
            row.name,
            row.state
        );
        assert!(row.requirement.len() > 10, "{}", row.name);
        // what is claimed is shown, and what is left out on purpose says why
        assert!(
            row.state != "has" || !row.tests.is_empty(),
            "{} names no test",
            row.name
        );
        assert!(
            row.state != "differs" || !row.note.is_empty(),
            "{} gives no reason",
            row.name
        );
    }
}

#[test]
fn every_test_that_the_page_names_exists() {
    let tests = tests();
    assert!(tests.contains("every_test_that_the_page_names_exists"));
    let missing: Vec<String> = rows()
        .iter()
        .flat_map(|row| row.tests.iter().map(move |test| (row.name, test)))
        .filter(|(_, test)| !tests.contains(**test))
        .map(|(row, test)| format!("{row}: {test}"))
        .collect();
    assert_eq!(missing, [""; 0]);
}

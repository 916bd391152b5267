//! JSON with comments: what is taken, what is refused, and where.

use proptest::prelude::*;
use serde_json::json;
use symphony_core::config::{FileInput, FileRole, KeyPath, Position, parse_file};
use symphony_workspace::config_file::parse_text;

/// The problems of a text as lines.
fn problems(text: &str) -> String {
    let parsed = parse_text("c.json", text);
    let mut problems = parsed.problems;
    let input = FileInput {
        value: &parsed.value,
        role: FileRole::Project,
        file: "c.json",
        positions: &parsed.positions,
    };
    problems.extend(parse_file(&input).1);
    problems.sort_by_key(|problem| problem.position);
    problems
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn comments_and_trailing_commas_are_taken() {
    let text = "\u{feff}// c\n{ /* d */ \"a\": [1, 2.5, -3e2,], \"b\": {\"c\": null, /* e */}, }\n";
    let parsed = parse_text("c.json", text);
    assert_eq!(parsed.problems, []);
    assert_eq!(
        parsed.value,
        json!({ "a": [1, 2.5, -300.0], "b": { "c": null } })
    );
    let path = KeyPath::parse("a[1]").unwrap();
    assert_eq!(
        parsed.positions.value(&path),
        Some(Position {
            line: 2,
            column: 20
        })
    );
    let path = KeyPath::of("b.c");
    assert_eq!(
        parsed.positions.name(&path),
        Some(Position {
            line: 2,
            column: 39
        })
    );
}

#[test]
fn syntax_errors_have_line_and_column() {
    for (text, message) in [
        (
            "",
            "c.json:1:1: the file is empty; expected an object in braces",
        ),
        (
            "// nothing\n",
            "c.json:1:1: the file is empty; expected an object in braces",
        ),
        (
            "{\n  \"a\": 1\n  \"b\": 2\n}",
            "c.json:2:9: a comma is missing here",
        ),
        (
            "{\n  a: 1\n}",
            "c.json:2:3: expected a key in double quotes",
        ),
        (
            "{ 'a': 1 }",
            "c.json:1:3: expected double quotes, found single ones",
        ),
        (
            "{\n\n  \"a\": 1",
            "c.json:1:1: the object that begins here is not closed; expected a `}`",
        ),
        (
            "{ \"a\": 0x10 }",
            "c.json:1:8: hexadecimal numbers are not allowed",
        ),
        (
            "{ \"a\": NaN }",
            "c.json:1:8: expected a value, found a bare word; a text needs double quotes",
        ),
        ("{} {}", "c.json:1:4: expected the end of the file"),
        (
            "{ \"ä\": [1, \"ö\" oops] }",
            "c.json:1:16: unexpected token",
        ),
    ] {
        assert_eq!(problems(text), message, "{text}");
    }
    let deep = "[".repeat(100_000);
    assert!(
        problems(&deep).contains("nesting depth"),
        "{}",
        problems(&deep)
    );
}

#[test]
fn problems_stand_where_a_person_finds_them() {
    let text = r#"{
  // Three slips and a key given twice.
  "max_retrys": 3,
  "max_retries": 4, "max_retries": 5,
  "projects": {
    "api": {
      "gates": [
        { "name": "lint", "command": "cargo clippy" },
        { "name": "test", "command": "cargo test" },
        { "name": "e2e", "command": 7 },
      ],
      "model": 1e999,
    },
  },
}
"#;
    insta::assert_snapshot!(problems(text));
}

#[test]
fn a_line_of_a_hundred_thousand_values_is_read_in_no_time() {
    let text = format!("{{\"sensitive_paths\": [{}]}}", "\"a\",".repeat(100_000));
    let parsed = parse_text("c.json", &text);
    let last = KeyPath::parse("sensitive_paths[99999]").unwrap();
    let column = 22 + 4 * 99_999;
    assert_eq!(
        parsed.positions.value(&last),
        Some(Position { line: 1, column })
    );
}

proptest! {
    #[test]
    fn no_text_panics(text in "[\\PC\\n]{0,80}|[{}\\[\\],:\"a/* \\n0-9e.-]{0,60}") {
        let _lines = problems(&text);
    }
}

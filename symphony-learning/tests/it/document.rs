//! The documents of `symphony learnings rank`.

use serde_json::{Value, json};
use symphony_learning::{RankInput, RankOutput, rank_document};

fn ranked(input: Value) -> Result<Value, String> {
    let input: RankInput = serde_json::from_value(input).map_err(|error| error.to_string())?;
    let output = rank_document(&input).map_err(|error| error.to_string())?;
    let value = serde_json::to_value(&output).unwrap();
    assert_eq!(
        serde_json::from_value::<RankOutput>(value.clone()).unwrap(),
        output
    );
    Ok(value)
}

fn issue() -> Value {
    json!({"identifier": "SYM-7", "title": "Cache src/db.rs", "description": "Slow queries", "labels": ["db"]})
}

fn learning(id: &str, pattern: &str, learning_type: impl Into<Value>) -> Value {
    json!({
        "id": id, "pattern": pattern, "learning_type": learning_type.into(), "applies_to": ["SRC/db.rs", "ui"],
        "labels": ["db", "perf"], "created_at": "2026-05-02T00:00:00Z",
    })
}

#[test]
fn a_document_is_ranked() {
    let minimal = json!({
        "id": "plain", "pattern": "Slow queries need an index", "applies_to": [], "labels": [],
        "created_at": "2026-06-01T00:00:00Z",
    });
    let output = ranked(json!({
        "now": "2026-06-01T00:00:00Z",
        "issue": issue(),
        "learnings": [
            learning("part", "use WAL", Value::Null),
            learning("rule", "Always use WAL mode!", json!("convention")),
            learning("empty", "?!", json!("gotcha")),
            minimal,
        ],
    }))
    .unwrap();
    insta::assert_json_snapshot!(output);
}

#[test]
fn options_and_nulls_are_taken() {
    let output = ranked(json!({
        "now": "2026-06-01T00:00:00Z",
        "issue": {"identifier": "X", "title": "", "description": null},
        "learnings": [
            learning("a", "first convention", json!("convention")),
            learning("b", "second", json!("pattern")),
            learning("c", "third", json!("pattern")),
        ],
        "options": {"convention_char_cap": 8, "max_results": 1, "weights": {"labels": 0, "paths": 0, "keywords": 0, "recency": 2}},
    }))
    .unwrap();
    insta::assert_json_snapshot!(output);
}

#[test]
fn wrong_documents_are_refused_with_the_place() {
    let with = |options: Value, learnings: Value| {
        let now = "2026-06-01T00:00:00Z";
        ranked(json!({"now": now, "issue": issue(), "learnings": learnings, "options": options}))
            .unwrap_err()
    };
    let weights = |recency: f64| json!({"weights": {"recency": recency}});
    let errors = [
        with(
            Value::Null,
            json!([
                learning("a", "x", Value::Null),
                learning("b", "x", Value::Null),
                learning("a", "y", Value::Null)
            ]),
        ),
        with(weights(-1.0), json!([])),
        with(
            json!({"weights": {"labels": 0, "paths": 0, "keywords": 0, "recency": 0, "usefulness": 0}}),
            json!([]),
        ),
        with(json!({"max": 1}), json!([])),
        with(Value::Null, json!([learning("a", "x", json!("rule"))])),
        with(Value::Null, json!([learning("a b", "x", Value::Null)])),
        ranked(json!({"issue": issue(), "learnings": []})).unwrap_err(),
    ];
    insta::assert_json_snapshot!(errors);
}

//! What a person reads about a broken configuration.

use serde_json::json;
use symphony_core::config::{FileInput, FileRole, KeyPath, Positions, parse_file};

use super::{at, problems};

#[test]
fn all_problems_are_told_at_once_with_path_found_and_expected() {
    let value = json!({
        "max_retrys": 3,
        "maxRetries": 0,
        "turn_timeout_ms": "30m",
        "judge_enabled": "yes",
        "provider": "claude",
        "user_tokens": 9000,
        "colour": "red",
        "wizardCompleted": true,
        "budget": { "user_tokens": 1.5, "share": {} },
        "env": { "A=B": "x", "C": 7 },
        "phase_models": { "Research": "opus" },
        "profiles": { "judge": { "max_concurency": 1 }, "worker": 3 },
        "providers": { "claude": {}, "scripted": { "output": "text" } },
        "worktree": { "copy": ["../secrets", "*.pem", 1] },
        "projects": {
            "api": {
                "database": "x.db",
                "gates": [
                    { "name": "lint", "command": ["cargo", "clippy"] },
                    { "name": "test" },
                    { "name": "lint", "command": 7, "requierd": true },
                    "cargo test",
                ],
            },
            "-x": {},
            "web": [],
        },
    });
    insta::assert_snapshot!(problems(&value, FileRole::Project));
}

#[test]
fn both_spellings_of_a_key_are_a_duplicate() {
    let value = json!({ "max_retries": 3, "maxRetries": 4, "max_concurrency": 1 });
    insta::assert_snapshot!(problems(&value, FileRole::Project));
}

#[test]
fn the_global_file_takes_no_prefix_for_all_projects() {
    let value = json!({ "prefix": "API", "projects": { "api": { "prefix": "api" } } });
    insta::assert_snapshot!(problems(&value, FileRole::Global));
}

#[test]
fn a_file_that_is_no_object_is_one_problem() {
    insta::assert_snapshot!(problems(&json!([1]), FileRole::Project));
}

#[test]
fn problems_stand_at_the_name_or_at_the_value() {
    let value = json!({ "max_retrys": 3, "gates": [{ "name": "a", "command": 7 }] });
    let mut positions = Positions::default();
    positions.insert(KeyPath::of("max_retrys"), at(2, 3), at(2, 17));
    let command = KeyPath::parse("gates[0].command").unwrap();
    positions.insert(command, at(3, 30), at(3, 41));
    let input = FileInput {
        value: &value,
        role: FileRole::Project,
        file: "c.json",
        positions: &positions,
    };
    let lines: Vec<String> = parse_file(&input)
        .1
        .iter()
        .map(ToString::to_string)
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn problems_serialise_for_scripts() {
    let (_, problems) = super::project_file(&json!({ "gates": [{ "name": "a", "command": [] }] }));
    insta::assert_json_snapshot!(problems);
}

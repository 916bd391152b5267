//! What is made from the table: the schema, the file of `init`, the reference.

use serde_json::{Value, json};
use symphony_core::config::key::rows;
use symphony_core::config::{
    CommandLine, FileReaders, Gate, InitChecks, InitFile, IssuePrefix, KEYS, Millis, Remarked,
    json_schema, markdown_reference,
};

/// Takes comments and trailing commas out, for a text whose strings hold neither.
fn plain(text: &str) -> Value {
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect();
    let text = lines.join("\n");
    let mut json = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once(',') {
        json.push_str(before);
        if !after.trim_start().starts_with(['}', ']']) {
            json.push(',');
        }
        rest = after;
    }
    json.push_str(rest);
    serde_json::from_str(&json).expect("the text is JSON with comments")
}

fn init_file() -> InitFile {
    let mut slow = Gate::new(
        "slow \"one\"",
        CommandLine::Argv(vec!["make".into(), "e2e".into()]),
    );
    slow.required = false;
    slow.timeout_ms = Millis::new(5);
    let red = "It failed when `init` tried it on commit 0123456789 (exit code 101): test result: FAILED.\n1 passed;\r\"provider\": \u{2028}1 failed";
    let gates = vec![
        Remarked {
            value: Gate::new("test", CommandLine::Shell("cargo test".into())),
            remark: Some(red.to_owned()),
        },
        slow.into(),
    ];
    let setup = CommandLine::Shell("cargo fetch --locked".into());
    InitFile {
        base_branch: Some("main".into()),
        prefix: IssuePrefix::parse("API").expect("a valid prefix"),
        checks: InitChecks::Proposed {
            setup: Some(setup.into()),
            gates,
        },
        readers: FileReaders::OnePerson,
    }
}

#[test]
fn the_file_of_init_says_what_was_found_and_why_the_time_limit_is_longer() {
    let text = init_file().render();
    let value = plain(&text);
    assert_eq!(super::project_file(&value).1, []);
    assert_eq!(
        value,
        json!({
            "prefix": "API",
            "base_branch": "main",
            "turn_timeout_ms": 1_800_000,
            "gates": [
                { "name": "test", "command": "cargo test" },
                { "name": "slow \"one\"", "command": ["make", "e2e"], "required": false, "timeout_ms": 5 },
            ],
            "worktree": { "setup": "cargo fetch --locked" },
        })
    );
    insta::assert_snapshot!(text);
}

#[test]
fn a_file_for_a_team_leaves_out_what_differs_from_machine_to_machine() {
    let text = InitFile {
        readers: FileReaders::Team,
        ..init_file()
    }
    .render();
    assert_eq!(super::project_file(&plain(&text)).1, []);
    assert!(
        text.contains("// This file is meant to be committed"),
        "{text}"
    );
    for key in ["database", "providers", "vault"] {
        assert!(!text.contains(&format!("\"{key}\":")), "{key}: {text}");
    }
}

#[test]
fn a_file_beside_a_wizard_leaves_gates_and_set_up_to_it() {
    let text = InitFile {
        checks: InitChecks::Wizard,
        ..init_file()
    }
    .render();
    let value = plain(&text);
    assert_eq!(
        value,
        json!({ "prefix": "API", "base_branch": "main", "turn_timeout_ms": 1_800_000 })
    );
    assert!(
        text.contains("The setup wizard keeps them in the database"),
        "{text}"
    );
}

#[test]
fn every_commented_key_of_the_file_of_init_is_a_valid_default() {
    let text = InitFile {
        checks: InitChecks::Proposed {
            setup: None,
            gates: Vec::new(),
        },
        ..init_file()
    }
    .render();
    let (head, commented) = text
        .split_once("remove the two slashes in front of it.\n")
        .unwrap();
    let open: Vec<String> = commented
        .lines()
        .map(|line| match line.strip_prefix("  // ") {
            Some(rest) if rest.trim_start().starts_with(['"', '}', '/']) => format!("  {rest}"),
            _ => line.to_owned(),
        })
        .collect();
    let value = plain(&format!("{head}\n{}", open.join("\n")));
    let (document, problems) = super::project_file(&value);
    assert_eq!(problems, []);
    let set: Vec<String> = document
        .top
        .iter()
        .map(|(path, _)| path.to_string())
        .collect();
    for row in rows(KEYS)
        .iter()
        .filter(|row| row.leaf.is_some() && !row.path.contains(['[', '<']))
    {
        let default = row.key.default_json().is_some();
        assert!(!default || set.contains(&row.path), "{}", row.path);
    }
    for (path, setting) in document.top.iter() {
        let (at, value) = (path.to_string(), setting.value.clone());
        let row = rows(KEYS).into_iter().find(|row| row.path == at);
        if let Some(default) = row.and_then(|row| row.key.default_json())
            && at != "turn_timeout_ms"
        {
            assert_eq!(value, default, "{at}");
        }
    }
}

#[test]
fn the_schema_knows_every_key_and_its_references_resolve() {
    let schema = json_schema();
    let mut pending = vec![&schema];
    let mut references = 0;
    while let Some(value) = pending.pop() {
        match value {
            Value::Object(fields) => {
                if let Some(Value::String(reference)) = fields.get("$ref") {
                    references += 1;
                    let pointer = reference.strip_prefix('#').unwrap();
                    assert!(schema.pointer(pointer).is_some(), "{reference}");
                }
                pending.extend(fields.values());
            }
            Value::Array(items) => pending.extend(items),
            _ => {}
        }
    }
    assert!(references > 50, "{references}");
    for key in KEYS {
        let property = schema
            .pointer(&format!("/properties/{}", key.name))
            .unwrap();
        assert_eq!(property["description"], key.doc);
        if let Some(default) = key.default_json() {
            assert_eq!(property["default"], default);
        }
    }
    insta::assert_json_snapshot!(schema.pointer("/properties/gates").unwrap());
}

#[test]
fn the_reference_has_a_row_for_each_key() {
    let text = markdown_reference();
    for row in rows(KEYS) {
        assert!(
            text.contains(&format!("| `{}` |", row.path)),
            "{}",
            row.path
        );
    }
    for line in text.lines() {
        assert_eq!(line.replace("\\|", "").matches('|').count(), 6, "{line}");
    }
}

#[test]
fn the_page_of_the_documentation_holds_the_reference() {
    let page = include_str!("../../../../docs/configuration.md");
    let reference = markdown_reference();
    assert!(
        page.ends_with(&reference),
        "docs/configuration.md must end with this table:\n{reference}"
    );
}

//! Writing: the file of `init`, and changes in place.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};
use symphony_core::config::{
    CommandLine, FileReaders, FileRole, Gate, InitChecks, InitFile, IssuePrefix, Millis,
};
use symphony_workspace::config_file::{
    CONFIG_FILE_NAME, ConfigFileError, ConfigPaths, load, parse_text, read_file, set, unset,
    write_init,
};
use tempfile::tempdir;

use super::{read, shown, write};

const COMMENTED: &str = r#"// Head.
{
  /* why */ "maxRetries": 3, // behind
  "env": { "foo": "1", "Foo": "2" },

  // About gates.
  "gates": [
    // The first.
    { "name": "test", "command": "cargo test" }, // fast
  ],
  // "model": "opus",
}
// Tail.
"#;

fn init_file() -> InitFile {
    let gate = Gate::new("test", CommandLine::Shell("cargo test".into()));
    InitFile {
        base_branch: Some("main".into()),
        prefix: IssuePrefix::parse("API").expect("a prefix"),
        checks: InitChecks::Proposed {
            setup: None,
            gates: vec![gate.into()],
        },
        readers: FileReaders::OnePerson,
    }
}

/// Sets keys in a fresh copy of a text and returns what it became.
fn after(text: &str, changes: &[(&str, &str)]) -> String {
    let folder = tempdir().expect("a temporary folder");
    let path = folder.path().join("c.json");
    write(&path, text);
    for (key, value) in changes {
        set(&path, FileRole::Project, key, value).expect("the change is valid");
    }
    read(&path)
}

#[test]
fn a_key_of_a_section_in_its_short_form_spells_the_section_out() {
    let short = "{\n  \"sandbox\": \"namespace\", // tight\n}\n";
    assert_eq!(
        after(short, &[("sandbox", "off")]),
        "{\n  \"sandbox\": \"off\", // tight\n}\n"
    );
    let spelled: Value = json!({ "sandbox": { "level": "namespace", "network": "none" } });
    let text = after(short, &[("sandbox.network", "none")]);
    assert_eq!(parse_text("c.json", &text).value, spelled, "{text}");
    let text = after(
        short,
        &[("sandbox.network", "none"), ("sandbox.level", "auto")],
    );
    assert!(
        text.contains("\"auto\"") && text.contains("// tight"),
        "{text}"
    );
    // the short form of a section that is spelled out leaves its other keys as they are
    let text = after(
        short,
        &[("sandbox.network", "none"), ("sandbox", "landlock")],
    );
    let spelled: Value = json!({ "sandbox": { "level": "landlock", "network": "none" } });
    assert_eq!(parse_text("c.json", &text).value, spelled, "{text}");
    let text = after(
        short,
        &[
            ("sandbox.network", "none"),
            ("sandbox", "{\"level\": \"off\"}"),
        ],
    );
    let whole: Value = json!({ "sandbox": { "level": "off" } });
    assert_eq!(parse_text("c.json", &text).value, whole, "{text}");
}

/// Tries a change in a fresh copy of a text and returns the error; the text must not change.
fn refused(text: &str, key: &str, value: &str) -> String {
    let folder = tempdir().expect("a temporary folder");
    let path = folder.path().join("c.json");
    write(&path, text);
    let error = set(&path, FileRole::Project, key, value).expect_err("the change is invalid");
    assert_eq!(read(&path), text);
    shown(&error, folder.path())
}

#[test]
fn the_file_of_init_is_valid_and_is_never_written_over() {
    let folder = tempdir().unwrap();
    let path = write_init(folder.path(), &init_file()).unwrap();
    assert_eq!(path, folder.path().join(CONFIG_FILE_NAME));
    let loaded = load(&ConfigPaths::default(), folder.path()).unwrap();
    assert_eq!(loaded.problems(), []);
    let config = loaded.project(None, folder.path(), None).unwrap().config;
    assert_eq!(config.prefix.as_str(), "API");
    assert_eq!(config.turn_timeout_ms, Millis::new(1_800_000));
    let gate = Gate::new("test", CommandLine::Shell("cargo test".into()));
    assert_eq!(config.gates, [gate]);
    assert_eq!(config.max_retries, 15);
    write(&path, "mine");
    let error = write_init(folder.path(), &init_file()).unwrap_err();
    assert!(matches!(error, ConfigFileError::Exists { .. }));
    assert_eq!(read(&path), "mine");
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1);
}

#[test]
fn changes_keep_comments_order_and_layout() {
    let changed = after(
        COMMENTED,
        &[
            ("max_retries", "7"),
            ("env.Foo", "3"),
            ("model", "opus \"4\""),
            ("projects.api.maxConcurrency", "2"),
            ("gates[0].required", "false"),
            (
                "gates[1]",
                r#"{"name": "lint", "command": ["cargo", "clippy"]}"#,
            ),
            ("worktree.setup", "npm ci"),
        ],
    );
    insta::assert_snapshot!(changed);
    assert_eq!(
        parse_text("", &changed).value,
        json!({
            "maxRetries": 7,
            "env": { "foo": "1", "Foo": "3" },
            "gates": [
                { "name": "test", "command": "cargo test", "required": false },
                { "name": "lint", "command": ["cargo", "clippy"] },
            ],
            "model": "opus \"4\"",
            "projects": { "api": { "max_concurrency": 2 } },
            "worktree": { "setup": "npm ci" },
        })
    );
}

#[test]
fn lists_and_elements_are_replaced() {
    let changed = after(
        COMMENTED,
        &[("gates[0]", r#"{"name": "a", "command": "b"}"#)],
    );
    assert_eq!(
        parse_text("", &changed).value["gates"],
        json!([{ "name": "a", "command": "b" }])
    );
    let changed = after(COMMENTED, &[("gates", "[]"), ("max_retries", "4")]);
    assert_eq!(parse_text("", &changed).value["gates"], json!([]));
    assert!(changed.contains("// About gates.") && changed.contains("// Tail."));
}

#[test]
fn values_are_json_or_else_text() {
    for (key, value, result) in [
        ("model", "opus", json!("opus")),
        ("model", "4", json!("4")),
        ("model", "\"opus\"", json!("opus")),
        ("model", "null", Value::Null),
        ("worktree.setup", "npm ci", json!("npm ci")),
        ("worktree.setup", r#"["npm", "ci"]"#, json!(["npm", "ci"])),
        ("judge_enabled", "false", json!(false)),
        ("spending.run.usd", "1.50", json!(1.5)),
    ] {
        let changed = parse_text("", &after("{}", &[(key, value)])).value;
        let pointer = format!("/{}", key.replace('.', "/"));
        assert_eq!(changed.pointer(&pointer), Some(&result), "{key} {value}");
    }
}

#[test]
fn invalid_changes_are_refused_and_leave_the_file_as_it_is() {
    let lines: Vec<String> = [
        ("max_retrys", "7"),
        ("max_retries", "many"),
        ("max_retries", "0"),
        ("gates[0].name", "[]"),
        ("gates[0].command", "[]"),
        ("gates[5]", "{}"),
        ("gates", "cargo test"),
        ("env.foo.bar", "1"),
        ("env", "null"),
        ("projects.api.database", "x"),
        ("provider", "claude"),
        ("a..b", "1"),
    ]
    .iter()
    .map(|(key, value)| format!("{key} = {value}\n  {}", refused(COMMENTED, key, value)))
    .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_broken_file_is_mended_one_problem_at_a_time() {
    let broken = r#"{ "max_retries": "x", "model": 7 }"#;
    let mended = after(broken, &[("max_retries", "3"), ("model", "opus")]);
    assert_eq!(
        parse_text("", &mended).value,
        json!({ "max_retries": 3, "model": "opus" })
    );
    assert_eq!(
        refused("{ oops", "model", "opus"),
        "DIR/c.json:1:3: expected a key in double quotes"
    );
}

#[test]
fn a_file_that_is_not_there_is_made() {
    let folder = tempdir().unwrap();
    let path = folder.path().join(".config/symphony/config.json");
    let change = set(&path, FileRole::Global, "database", "~/s.db").unwrap();
    assert_eq!(
        (change.path.to_string().as_str(), change.value),
        ("database", json!("~/s.db"))
    );
    assert_eq!(read(&path), "{\n  \"database\": \"~/s.db\"\n}\n");
    assert_eq!(
        read_file(&path, FileRole::Global)
            .unwrap()
            .unwrap()
            .problems,
        []
    );
}

#[test]
fn permissions_and_links_are_kept() {
    let folder = tempdir().unwrap();
    let real = folder.path().join("dotfiles/c.json");
    let link = folder.path().join("c.json");
    write(&real, "{}");
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&real, &link).unwrap();
    set(&link, FileRole::Project, "model", "opus").unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    let metadata = std::fs::metadata(&real).unwrap();
    assert_eq!(metadata.mode() & 0o7777, 0o640);
    assert!(read(&real).contains("opus"));
    let left: Vec<_> = std::fs::read_dir(real.parent().unwrap()).unwrap().collect();
    assert_eq!(left.len(), 1);
}

#[test]
fn a_folder_that_is_not_there_is_an_error() {
    let error = write_init(Path::new("/no/such/folder"), &init_file()).unwrap_err();
    assert!(matches!(error, ConfigFileError::Write { .. }));
    assert_eq!(
        error.to_string(),
        "cannot write /no/such/folder/symphony.config.json"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn what_was_set_is_what_is_read(text in "\\PC{1,20}", number in 1_u32..10_000) {
        prop_assume!(!text.trim().is_empty());
        let changed = after(COMMENTED, &[
            ("env.X", &Value::from(text.as_str()).to_string()),
            ("max_retries", &number.to_string()),
        ]);
        let value = parse_text("", &changed).value;
        prop_assert_eq!(&value["env"]["X"], &json!(text));
        prop_assert_eq!(&value["maxRetries"], &json!(number));
        for comment in ["// Head.", "/* why */", "// behind", "// About gates.", "// The first.", "// fast", "// Tail."] {
            prop_assert!(changed.contains(comment), "{}", comment);
        }
    }
}

#[test]
fn a_key_is_taken_out_and_the_rest_stays() {
    let folder = tempdir().expect("a temporary folder");
    let path = folder.path().join("c.json");
    let text = "{\n  // why\n  \"prefix\": \"A\",\n  \"gates\": [\n    { \"name\": \"a\", \"command\": \"b\" },\n  ],\n  \"worktree\": { \"setup\": \"x\", \"copy\": [] },\n}\n";
    write(&path, text);
    assert!(unset(&path, "gates").expect("it is written"));
    assert!(unset(&path, "worktree.setup").expect("it is written"));
    assert!(!unset(&path, "gates").expect("nothing is there"));
    assert!(!unset(&folder.path().join("none.json"), "gates").expect("no file"));
    let after = read(&path);
    let value = parse_text("c.json", &after);
    assert_eq!(value.problems, []);
    assert_eq!(
        value.value,
        serde_json::json!({ "prefix": "A", "worktree": { "copy": [] } })
    );
    assert!(after.contains("// why"), "{after}");
}

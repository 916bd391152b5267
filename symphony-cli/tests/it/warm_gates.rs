//! Gates that start with build output of the base, with a real cargo in a real sandbox.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Project, WORKER, bash, create_pr, scenario, scenarios, until};

const MANIFEST: &str = "[package]\nname = 'shop'\nversion = '1.0.0'\nedition = '2021'\n\n[dependencies]\nprice = { path = 'price' }\n\n[workspace]\n";
const LOCK: &str = "version = 4\n\n[[package]]\nname = \"price\"\nversion = \"1.0.0\"\n\n[[package]]\nname = \"shop\"\nversion = \"1.0.0\"\ndependencies = [\n \"price\",\n]\n";
const TEST: &str = "#[test]\nfn total() {\n    println!(\"in {}\", env!(\"CARGO_MANIFEST_DIR\"));\n    assert_eq!(shop::total(), 2);\n}\n";

/// A worker that writes a source and opens a pull request, for issues with this title.
fn writes(title: &str, text: &str) -> Value {
    let change = format!(
        "printf '%s\\n' '{text}' > src/lib.rs && git add . && git -c user.name=w -c user.email=w@example.invalid commit -qm '{title}'"
    );
    let when = json!({ "match_system": WORKER, "match_prompt": title });
    scenario(title, &when, [bash(&change), create_pr(title)])
}

fn project(config: &Value) -> Project {
    let scenes = scenarios([
        writes(
            "Sum it up",
            "pub fn total() -> u32 { price::one() + price::one() }",
        ),
        writes("Double it", "pub fn total() -> u32 { price::one() * 2 }"),
        writes("Break it", "pub fn total() -> u32 { price::one() * 3 }"),
    ]);
    let mut whole = json!({
        "judge_enabled": false,
        "sandbox": "namespace",
        "worktree": { "warm": true },
        "gates": [{ "name": "test", "command": "cargo test --offline -v -- --nocapture" }],
    });
    for (key, value) in config.as_object().unwrap() {
        whole[key] = value.clone();
    }
    let mut project = Project::new("project", &scenes, &whole);
    let home = std::env::var("HOME").unwrap();
    let rustup = std::env::var("RUSTUP_HOME").unwrap_or_else(|_| format!("{home}/.rustup"));
    project.set_variable("RUSTUP_HOME", &rustup);
    project.commit_files(&[
        ("Cargo.toml", MANIFEST),
        ("Cargo.lock", LOCK),
        (".gitignore", "/target\n"),
        (
            "price/Cargo.toml",
            "[package]\nname = 'price'\nversion = '1.0.0'\nedition = '2021'\n",
        ),
        ("price/src/lib.rs", "pub fn one() -> u32 { 1 }\n"),
        ("src/lib.rs", "pub fn total() -> u32 { 2 }\n"),
        ("tests/total.rs", TEST),
    ]);
    project
}

/// Returns the records of what is kept.
fn kept(project: &Project) -> Vec<Value> {
    let Ok(entries) = std::fs::read_dir(project.root.join(".symphony/warm")) else {
        return Vec::new();
    };
    let records = entries
        .flatten()
        .filter_map(|entry| std::fs::read(entry.path().join("generation.json")).ok());
    records
        .map(|text| serde_json::from_slice(&text).unwrap())
        .collect()
}

/// Returns the logs of a gate's tries in the newest run that has one.
fn log(project: &Project, name: &str) -> String {
    let runs = std::fs::read_dir(project.root.join(".symphony/runs")).unwrap();
    let mut logs: Vec<PathBuf> = runs.flatten().map(|run| run.path().join(name)).collect();
    logs.retain(|log| log.exists());
    // ids of runs are in the order of time
    logs.sort();
    std::fs::read_to_string(logs.last().unwrap()).unwrap()
}

#[test]
fn gates_start_with_build_output_of_the_base_and_a_red_one_without() {
    let project = project(&json!({}));
    project.add_issue("Sum it up");
    project.tick_one("worker", "succeeded");
    let records = kept(&project);
    assert_eq!(records.len(), 1, "{records:#?}");
    assert_eq!(records[0]["folders"], json!(["target"]));
    assert_eq!(
        records[0]["commit"],
        project.git(&["rev-parse", "main"]).trim()
    );

    // gates start without it until the clock is clearly past all of it
    let newest = records[0]["newest_ms"].as_i64().unwrap();
    until("the clock is past the build", || {
        let now = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap();
        (i64::try_from(now.as_millis()).unwrap() > newest + 2_100).then_some(())
    });
    project.add_issue("Double it");
    project.tick_one("worker", "succeeded");
    let log_of_second = log(&project, "gate-test.log");
    assert!(log_of_second.contains("Fresh price "), "{log_of_second}");
    assert!(log_of_second.contains("in /symphony/"), "{log_of_second}");

    let doctor = project.symphony(&["doctor"]);
    let shown = format!("{}{}", doctor.stdout, doctor.stderr);
    assert!(
        shown.contains("gates start with build output of"),
        "{shown}"
    );

    project.add_issue("Break it");
    project.tick_one("worker", "succeeded");
    let log_of_third = log(&project, "gate-test.log");
    let (warm, cold) = log_of_third.split_once("Compiling price ").unwrap();
    assert!(warm.contains("Fresh price "), "{warm}");
    for part in [warm, cold] {
        assert!(part.contains("test total ... FAILED"), "{log_of_third}");
    }
    assert_eq!(kept(&project).len(), 1);
    project.assert_sound();
}

#[test]
fn after_a_difference_gates_are_cold_and_earlier_warm_results_do_not_count() {
    let project = project(&json!({}));
    project.add_issue("Sum it up");
    project.tick_one("worker", "succeeded");
    let note = json!({
        "commit": project.git(&["rev-parse", "symphony/SYM-1"]).trim(),
        "why": "test passed in a checkout with kept build output, and failed in one without",
    });
    let file = project.root.join(".symphony/warm/disabled");
    std::fs::write(&file, note.to_string()).unwrap();

    project.add_issue("Double it");
    project.tick_one("worker", "succeeded");
    let log = log(&project, "gate-test.log");
    assert!(!log.contains("Fresh price "), "{log}");
    let inbox = project.ok(&["inbox"]);
    assert!(
        inbox.contains("test passed in a checkout with kept build output"),
        "{inbox}"
    );
    let doctor = project.symphony(&["doctor"]);
    let shown = format!("{}{}", doctor.stdout, doctor.stderr);
    assert!(
        shown.contains("a cold run disagreed with a warm one"),
        "{shown}"
    );
    // what passed before could have passed for the same reason
    let merged = project.ok(&["pr", "merge", "SYM-1"]);
    assert!(merged.contains("The gates ran on the result"), "{merged}");
}

#[test]
fn without_namespaces_gates_are_cold() {
    let project = project(&json!({ "sandbox": "off" }));
    project.add_issue("Sum it up");
    project.tick_one("worker", "succeeded");
    assert_eq!(kept(&project), Vec::<Value>::new());
    let doctor = project.symphony(&["doctor"]);
    let shown = format!("{}{}", doctor.stdout, doctor.stderr);
    assert!(
        shown.contains("only the level `namespace` shows"),
        "{shown}"
    );
}

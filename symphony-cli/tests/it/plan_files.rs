//! Plan files, read and checked by the real program.

use std::fmt::Write as _;
use std::fs::{self, FileTimes};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::support::Project;
use crate::transcript::{Transcript, assert_transcript};

/// A folder without a repository and without a database.
fn folder() -> Project {
    let project = Project::repository("plans");
    fs::remove_dir_all(project.root.join(".git")).unwrap();
    project
}

fn write(project: &Project, name: &str, text: &str) {
    fs::write(project.root.join(name), text).unwrap();
}

/// A plan file around the JSON of its block.
fn fenced(json: &str) -> String {
    format!("# A plan\n\nSome words.\n\n```symphony-phases\n{json}\n```\n\nThe end.\n")
}

const GOOD: &str = r#"{
  "phases": [
    {"id": "set-up", "title": "Set up", "objective": "A place to work", "tasks": ["make it"], "success_criteria": "it is there"},
    {"id": "left", "title": "Left", "objective": "The left half", "tasks": ["do it"], "complexity": "LOW",
     "dependencies": ["set-up"], "success_criteria": "done"},
    {"id": "right", "title": "Right", "objective": "The right half", "tasks": ["do it"],
     "required_context": {"files": ["src/*.rs"], "artifacts_from": ["set-up"]}, "success_criteria": "done"},
    {"id": "join", "title": "Join", "objective": "One whole", "tasks": ["join them"], "complexity": "high",
     "dependencies": ["left", "right"], "success_criteria": "whole"}
  ],
  "metadata": {"total_phases": 5}
}"#;

/// Breaks every rule that a phase can break.
const BAD: &str = r#"[
  {"title": " ", "objective": "", "tasks": [], "success_criteria": " ",
   "complexity": "huge", "timeout_ms": 0},
  {"id": "Bad Id", "title": "t", "objective": "o", "tasks": ["a", " "], "success_criteria": "s", "taks": []},
  {"id": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "title": "t", "objective": "o", "tasks": ["a"], "success_criteria": "s",
   "required_context": {"files": ["../secret", "/etc/passwd"]}},
  {"id": "twice", "title": "t", "objective": "o", "tasks": ["a"], "success_criteria": "s",
   "dependencies": ["nowhere"], "required_context": {"artifacts_from": ["nobody"]}},
  {"id": "twice", "title": "t", "objective": "o", "tasks": ["a"], "success_criteria": "s"},
  {"id": "self", "title": "t", "objective": "o", "tasks": ["a"], "success_criteria": "s", "dependencies": ["self"]},
  {"id": "hen", "title": "t", "objective": "o", "tasks": ["a"], "success_criteria": "s", "dependencies": ["egg"]},
  {"id": "egg", "title": "t", "objective": "o", "tasks": ["a"], "success_criteria": "s",
   "required_context": {"artifacts_from": ["hen"]}}
]"#;

#[test]
fn plans_are_checked_with_all_problems_and_their_lines() {
    let project = folder();
    write(&project, "good.md", &fenced(GOOD));
    write(&project, "bad.md", &fenced(BAD));
    write(
        &project,
        "json.md",
        &fenced("[\n  {\"id\": \"a\",\n   \"title\" \"x\"}\n]"),
    );
    write(&project, "none.md", "# No plan\n\n```json\n[]\n```\n");
    write(
        &project,
        "nested.md",
        "```md\n```symphony-phases\n[]\n```\n",
    );
    write(&project, "open.md", "# A plan\n\n```symphony-phases\n[]\n");
    write(&project, "empty.md", &fenced("[]"));
    write(&project, "text.md", &fenced("\"phases\""));
    let two = format!("{}{}", fenced(GOOD), fenced("[]"));
    write(&project, "two.md", &two);
    fs::write(project.root.join("latin.md"), b"# Plan\n\xe9t\xe9\n").unwrap();
    fs::create_dir(project.root.join("folder.md")).unwrap();
    let mut transcript = Transcript::of(&project);
    for file in [
        "good.md",
        "bad.md",
        "json.md",
        "none.md",
        "nested.md",
        "open.md",
        "empty.md",
        "text.md",
        "two.md",
        "latin.md",
        "folder.md",
        "missing.md",
    ] {
        transcript = transcript.run(&["plan", "check", file]);
    }
    assert_transcript!("plan_check", transcript.run(&["plan", "parse", "json.md"]));
}

#[test]
fn a_check_as_json_names_phase_field_message_and_line() {
    let project = folder();
    write(&project, "bad.md", &fenced(BAD));
    let answer = project.symphony(&["plan", "check", "bad.md", "--json"]);
    assert_eq!(answer.code, 1);
    let checked = answer.json();
    assert_eq!(checked["valid"], false);
    assert_eq!(
        checked["problems"][0],
        json!({"index": 0, "phase_id": null, "field": "id", "message": "Phase ID is required", "line": 7, "kind": "schema"})
    );
    // the kinds come in their order, and no line is outside the block
    let problems = checked["problems"].as_array().unwrap();
    let order = |problem: &Value| {
        ["schema", "reference", "cycle"]
            .iter()
            .position(|kind| problem["kind"] == *kind)
            .unwrap()
    };
    assert!(problems.is_sorted_by_key(order), "{problems:#?}");
    assert!(
        problems
            .iter()
            .all(|problem| (7..=19).contains(&problem["line"].as_u64().unwrap()))
    );
    write(
        &project,
        "json.md",
        &fenced("[\n  {\"id\": \"a\",\n   \"title\" \"x\"}\n]"),
    );
    let broken = project
        .symphony(&["plan", "check", "json.md", "--json"])
        .json();
    let problem = &broken["problems"][0];
    assert_eq!(
        (&problem["line"], &problem["column"]),
        (&json!(8), &json!(12)),
        "{broken:#}"
    );
}

#[test]
fn a_parsed_plan_has_its_defaults_and_levels() {
    let project = folder();
    write(&project, "good.md", &fenced(GOOD));
    let answer = project.symphony(&["plan", "parse", "good.md"]);
    assert_eq!(answer.code, 0, "{answer:#?}");
    let parsed = answer.json();
    assert_eq!(
        parsed["levels"],
        json!([["set-up"], ["left", "right"], ["join"]])
    );
    assert_eq!(
        parsed["phases"][1],
        json!({
            "id": "left", "title": "Left", "objective": "The left half", "tasks": ["do it"],
            "dependencies": ["set-up"], "complexity": "low", "success_criteria": "done", "constraints": [],
            "required_context": {"files": [], "concepts": [], "artifacts_from": []},
        })
    );
    assert_eq!(
        parsed["metadata"],
        json!({"total_phases": 5, "estimated_parallelism": 1})
    );
    assert_eq!(
        parsed["warnings"],
        json!([{"line": 16, "message": "metadata.total_phases: says 5, but the plan has 4 phases"}])
    );
}

#[test]
fn the_plan_that_is_meant_is_the_newest_below_claude_plans_then_plan_md_here() {
    let project = folder();
    let none = project.symphony(&["plan", "find"]);
    assert_eq!(none.code, 3, "{none:#?}");
    write(&project, "plan.md", &fenced("[]"));
    assert_eq!(
        project.ok(&["plan", "find"]),
        format!("{}\n", project.root.join("plan.md").display())
    );

    let plans = project.beside.join("home/.claude/plans");
    let now = SystemTime::now();
    // each is newer than the one before it
    for (age, (file, text)) in [
        ("old.md", fenced("[]")),
        ("deep/er/meant.md", "```symphony-phases\n[".to_owned()),
        ("no-plan.md", "# Words\n".to_owned()),
        ("plan.txt", fenced("[]")),
        (".hidden/plan.md", fenced("[]")),
        ("node_modules/x/plan.md", fenced("[]")),
    ]
    .into_iter()
    .rev()
    .enumerate()
    {
        let path = plans.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let changed = now - Duration::from_secs(60 * age as u64);
        let opened = fs::File::options().write(true).open(&path).unwrap();
        opened
            .set_times(FileTimes::new().set_modified(changed))
            .unwrap();
    }
    let found = project.json(&["plan", "find"]);
    let meant = plans.join("deep/er/meant.md").display().to_string();
    assert_eq!(found, json!({"version": 1, "path": meant}));
    let checked = project.symphony(&["plan", "check", "--json"]).json();
    assert_eq!(checked["path"], json!(meant));
}

/// A plan whose phase number n waits for what `waits_for` names.
fn large(phases: usize, waits_for: impl Fn(usize) -> String) -> String {
    let mut json = "[".to_owned();
    for n in 0..phases {
        let comma = if n == 0 { "" } else { "," };
        write!(
            json,
            "{comma}\n{{\"id\":\"p{n}\",\"title\":\"t\",\"objective\":\"o\",\"tasks\":[\"a\"],\"success_criteria\":\"s\",\"dependencies\":[{}]}}",
            waits_for(n)
        )
        .unwrap();
    }
    fenced(&(json + "]"))
}

#[test]
fn a_hundred_thousand_phases_are_no_problem() {
    const PHASES: usize = 100_000;
    let project = folder();
    let chain = large(PHASES, |n| {
        n.checked_sub(1)
            .map_or(String::new(), |before| format!("\"p{before}\""))
    });
    write(&project, "chain.md", &chain);
    let fan = large(PHASES, |n| {
        if n == 0 {
            String::new()
        } else {
            "\"p0\"".to_owned()
        }
    });
    write(&project, "fan.md", &fan);
    let ring = large(PHASES, |n| format!("\"p{}\"", (n + 1) % PHASES));
    write(&project, "ring.md", &ring);
    for (file, levels, widest) in [("chain.md", PHASES, 1), ("fan.md", 2, PHASES - 1)] {
        let checked = project.json(&["plan", "check", file]);
        assert_eq!(
            (
                &checked["phases"],
                &checked["levels"],
                &checked["widest_level"]
            ),
            (&json!(PHASES), &json!(levels), &json!(widest))
        );
    }
    let ring = project.symphony(&["plan", "check", "ring.md"]);
    assert_eq!(ring.code, 1);
    let has_cycle = ring
        .stdout
        .contains("Circular dependency detected: p0 -> p1 -> ");
    assert!(has_cycle);
    assert!(
        ring.stdout.len() < 10_000,
        "a cycle is told in a bounded length"
    );
}

//! The examples for plans: the plan files are right, and every command of the skill does what the skill says.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Answer, Project};

fn example(name: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples")).join(name)
}

#[test]
fn the_example_plans_are_right() {
    let project = Project::repository("plans");
    let mut checked = 0;
    for entry in fs::read_dir(example("plans")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let plan = project.json(&["plan", "check", path.to_str().unwrap()]);
        assert_eq!(
            (&plan["valid"], &plan["warnings"]),
            (&json!(true), &json!([])),
            "{plan:#}"
        );
        checked += 1;
    }
    assert!(checked >= 1, "there is an example");
}

#[test]
fn the_plan_in_the_guide_is_right() {
    let project = Project::repository("plans");
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/plans.md");
    let guide = fs::read_to_string(guide).unwrap();
    // what is indented is what one types, the plan first
    let indented: Vec<&str> = guide
        .lines()
        .filter_map(|line| line.strip_prefix("    "))
        .collect();
    fs::write(project.root.join("plan.md"), indented.join("\n")).unwrap();
    let plan = project.json(&["plan", "check", "plan.md"]);
    assert_eq!(
        (&plan["valid"], &plan["phases"], &plan["warnings"]),
        (&json!(true), &json!(2), &json!([])),
        "{plan:#}"
    );
}

/// The commands that stand in a text, in order: the lines of its `bash` blocks.
fn commands(text: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut is_inside = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with("```") {
            is_inside = line == "```bash";
        } else if is_inside {
            commands.push(line.to_owned());
        }
    }
    commands
}

#[test]
fn the_front_matter_has_a_name_tools_and_triggers() {
    let text = fs::read_to_string(example("skill/SKILL.md")).unwrap();
    let (front, _) = text
        .strip_prefix("---\n")
        .unwrap()
        .split_once("\n---\n")
        .unwrap();
    let mut lines = front.lines();
    assert_eq!(lines.next(), Some("name: symphony"));
    let description = lines.next().unwrap();
    assert!(description.starts_with("description: "));
    assert_eq!(
        lines.next(),
        Some("allowed-tools: Read, Glob, Grep, Bash, Task")
    );
    assert_eq!(lines.next(), Some("triggers:"));
    let triggers: Vec<&str> = lines
        .map(|line| line.strip_prefix("  - ").unwrap())
        .collect();
    let expected = [
        "conduct",
        "orchestrate",
        "execute plan",
        "run phases",
        "symphony",
        "계획 실행",
        "오케스트레이트",
    ];
    assert_eq!(triggers, expected);
    assert!(
        expected.iter().all(|trigger| description.contains(trigger)),
        "{description}"
    );
}

/// Three phases: the second asks for the first one's artifacts, the third for the second one's.
const PLAN: &str = r#"# Three

```symphony-phases
[
  {"id": "set-up", "title": "Set up", "objective": "o", "tasks": ["a"], "success_criteria": "s"},
  {"id": "build", "title": "Build", "objective": "o", "tasks": ["a"], "success_criteria": "s",
   "required_context": {"artifacts_from": ["set-up"]}},
  {"id": "ship", "title": "Ship", "objective": "o", "tasks": ["a"], "success_criteria": "s",
   "required_context": {"artifacts_from": ["build"]}}
]
```
"#;

/// Types a line as a shell would, with the skill's variables.
fn type_line(project: &Project, line: &str, phase: &str) -> Answer {
    let bin = Path::new(env!("CARGO_BIN_EXE_symphony")).parent().unwrap();
    let path = std::env::var("PATH").expect("tests have a PATH");
    let mut command = project.program("bash");
    command
        .args(["-euc", line])
        .env("PATH", format!("{}:{path}", bin.display()))
        .env("PLAN", project.root.join("plan.md"))
        .env("STATE", ".symphony-state.json")
        .env("PHASE", phase);
    command.output().unwrap().into()
}

/// A command of the skill, the phase it is about, and where the answer has which value.
type Step = (&'static str, &'static str, &'static str, Value);

/// What the skill's commands do to the plan of three phases, typed in the order of the skill.
fn steps() -> Vec<Step> {
    vec![
        ("plan find", "", "", Value::Null),
        ("plan check", "", "", Value::Null),
        ("plan graph", "", "", Value::Null),
        ("plan init-state", "", "/newlyReady", json!(["set-up"])),
        ("plan summary", "", "", Value::Null),
        ("plan ready", "", "/0/phase/id", json!("set-up")),
        ("plan prompt", "set-up", "", Value::Null),
        ("plan renew", "set-up", "/status", json!("running")),
        (
            "plan mark-complete",
            "set-up",
            "/newlyReady",
            json!(["build"]),
        ),
        ("plan mark-failed", "build", "/status", json!("retrying")),
        ("plan classify-error", "", "/class", json!("logic")),
        ("plan retry-phase", "build", "/status", json!("ready")),
        ("plan resolve", "build", "/status", json!("complete")),
        ("plan summary", "", "", Value::Null),
        ("plan graph", "", "", Value::Null),
        ("plan statusline", "", "", Value::Null),
    ]
}

#[test]
fn every_command_of_the_skill_works_in_its_order() {
    let project = Project::repository("three");
    fs::write(project.root.join("plan.md"), PLAN).unwrap();
    let text = fs::read_to_string(example("skill/SKILL.md")).unwrap();
    let commands = commands(&text);
    let steps = steps();
    assert_eq!(commands.len(), steps.len(), "{commands:#?}");
    let mut answers = Vec::new();
    for (line, (verb, phase, pointer, expected)) in commands.iter().zip(steps) {
        assert!(
            line.starts_with(&format!("symphony {verb}")),
            "{line}: not {verb}"
        );
        if verb == "plan resolve" {
            // what the skill's other failures lead to: a failure that waits for the user
            let failed = type_line(
                &project,
                "symphony plan mark-failed $STATE $PHASE '3 tests failed'",
                phase,
            );
            let failed: Value = serde_json::from_str(&failed.stdout).unwrap();
            assert_eq!(
                (&failed["status"], &failed["orchestrationStatus"]),
                (
                    &json!("awaiting_decision"),
                    &json!("awaiting_user_decision")
                )
            );
        }
        let answer = type_line(&project, line, phase);
        assert_eq!(
            (answer.code, answer.stderr.as_str()),
            (0, ""),
            "{line}: {answer:#?}"
        );
        if !pointer.is_empty() {
            let json: Value = serde_json::from_str(&answer.stdout).unwrap();
            assert_eq!(json.pointer(pointer), Some(&expected), "{line}: {json:#}");
        }
        answers.push(answer.stdout);
    }
    assert_eq!(
        answers[0].trim_end(),
        project.root.join("plan.md").display().to_string()
    );
    assert!(
        answers[6].starts_with("## Phase: Set up\n"),
        "{}",
        answers[6]
    );
    assert!(
        answers[14].contains("build [complete]") && answers[14].contains("ship [ready]"),
        "{}",
        answers[14]
    );
    // the second phase's prompt has what the first one passed on
    let prompt = type_line(
        &project,
        "symphony plan prompt \"$PLAN\" build --style task --state $STATE",
        "",
    );
    assert!(
        prompt
            .stdout
            .contains("src/db.ts (file_created, from set-up)"),
        "{}",
        prompt.stdout
    );
}

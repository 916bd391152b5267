//! The page about scenario files: its examples are played as they are printed, and it leaves no step out.

use serde_json::{Value, json};

use crate::support::{Project, text};

const PAGE: &str = include_str!("../../../docs/scenarios.md");

/// Returns the page's examples, in order.
fn examples() -> Vec<Value> {
    let blocks = PAGE.split("```json\n").skip(1);
    let blocks = blocks.map(|rest| rest.split("```").next().unwrap());
    blocks
        .map(|block| serde_json::from_str(block).unwrap())
        .collect()
}

fn project(example: &Value) -> Project {
    let gates = json!({ "gates": [{ "name": "there", "command": "ls SYM-*.txt" }] });
    let project = Project::new("project", example, &gates);
    project.add_issue("Add a file");
    project
}

#[test]
fn the_complete_example_brings_an_issue_to_its_merge() {
    let project = project(&examples()[0]);
    project.tick_one("worker", "succeeded");
    project.tick_one("judge", "succeeded");
    let pr = &project.json(&["pr", "list"])["items"][0];
    assert_eq!(pr["state"], "approved", "{pr:#}");
    project.ok(&["pr", "merge", "SYM-1"]);
    assert_eq!(project.issue("SYM-1")["status"], "done");
    assert_eq!(
        project.git(&["show", "main:SYM-1.txt"]).trim(),
        "made for SYM-1"
    );
}

#[test]
fn the_example_of_faults_fails_once_and_then_meets_a_limit() {
    let project = project(&examples()[1]);
    let run = &project.tick_wait()[0];
    assert_ne!(run["status"], "succeeded", "{run:#}");
    assert!(
        project.json(&["status"])["holds"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    project.ok(&["issue", "retry", "SYM-1"]);
    let run = &project.tick_wait()[0];
    assert!(
        text(&run["error"]["message"]).contains("usage limit reached"),
        "{run:#}"
    );
    let holds = project.json(&["status"]);
    assert_eq!(holds["holds"].as_array().unwrap().len(), 1, "{holds:#}");
}

#[test]
fn a_scenario_that_cannot_be_played_holds_the_project_before_an_agent_starts() {
    let project = project(&examples()[0]);
    let path = project.beside.join("scenario.json");
    let name = path.to_str().unwrap();
    let whole = std::fs::read(&path).unwrap();
    let broken = format!("{name}: scenarios[0]: expected value at line 1 column 16");
    let missing = format!("{name}: it does not exist");
    for (content, problem) in [(Some("{\"scenarios\": [}"), broken), (None, missing)] {
        match content {
            Some(content) => std::fs::write(&path, content).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        assert!(project.tick_wait().is_empty());
        assert_eq!(project.issue("SYM-1")["status"], "todo");
        for command in [
            &["inbox"][..],
            &["explain", "SYM-1"],
            &["tick", "--dry-run"],
            &["doctor"],
            &["config", "check"],
            &["config", "set", "providers.scripted.scenario", name],
        ] {
            let answer = project.symphony(command);
            let shown = format!("{}{}", answer.stdout, answer.stderr).replace("\n  ", " ");
            assert!(shown.contains(&problem), "{command:?} shows:\n{shown}");
        }
        assert_eq!(project.symphony(&["config", "check"]).code, 1);
    }
    std::fs::write(&path, whole).unwrap();
    project.ok(&["config", "check"]);
    project.tick_one("worker", "succeeded");
}

#[test]
fn the_page_names_everything_that_a_scenario_can_have() {
    let source = include_str!("../../../symphony-scripted/src/scenario.rs");
    let fields = source.lines().filter_map(|line| {
        let name = line.trim().strip_prefix("pub(crate) ")?.split_once(": ")?.0;
        name.chars()
            .all(|c| c.is_ascii_lowercase() || c == '_')
            .then_some(name)
    });
    let renamed = |name: &str| match name {
        "match_any" => "match".to_owned(),
        "kind" => "type".to_owned(),
        "input" | "output" => format!("{name}_tokens"),
        "cache_read" | "cache_creation" => format!("{name}_input_tokens"),
        name => name.to_owned(),
    };
    let names: Vec<String> = fields.map(renamed).collect();
    assert!(names.len() > 20, "{names:?}");
    let faults = include_str!("../../../symphony-scripted/src/fault.rs");
    let faults = faults.split("match fault.kind.as_str()").nth(1).unwrap();
    let arms = faults.split("other =>").next().unwrap();
    let kinds = arms.split('"').skip(1).step_by(2);
    let kinds = kinds.filter(|kind| kind.chars().all(|c| c.is_ascii_lowercase() || c == '_'));
    let tools = ["Bash", "Read", "Write", "Edit"].map(str::to_owned);
    for name in names
        .into_iter()
        .chain(kinds.map(str::to_owned))
        .chain(tools)
    {
        let is_named = [format!("`{name}`"), format!("\"{name}\":")]
            .iter()
            .any(|form| PAGE.contains(form));
        assert!(is_named, "docs/scenarios.md does not name `{name}`");
    }
}

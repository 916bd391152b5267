//! Several projects in one installation, planned issues, and what a project adds to profiles.

use serde_json::{Value, json};

use crate::support::{Project, WORKER, call, commit, create_pr, scenario, scenarios, text, turn};

const PLANNER: &str = "^# Planner$";

fn worker() -> Value {
    scenario(
        "works",
        &json!({ "match_system": WORKER }),
        [commit("hello.txt", "hello"), create_pr("Greet")],
    )
}

fn started(runs: &[Value]) -> Vec<String> {
    let mut issues: Vec<String> = runs.iter().map(|run| text(&run["issue"])).collect();
    issues.sort();
    issues
}

#[test]
fn a_planner_splits_an_issue_and_the_parent_comes_back() {
    let part = |title: &str, file: &str| {
        turn(call(
            "mcp__symphony__create_subtask",
            json!({ "title": title, "description": format!("Write {file}, done when it is there.") }),
        ))
    };
    let writes = |number: u64| {
        scenario(
            &format!("part {number}"),
            &json!({ "match_system": WORKER, "match_prompt": format!("# SYM-{number}:") }),
            [
                commit(&format!("part-{number}.txt"), "hello"),
                create_pr("Part"),
            ],
        )
    };
    let plays = scenarios([
        scenario(
            "splits",
            &json!({ "match_system": PLANNER }),
            [part("One", "a"), part("Two", "b"), part("Three", "c")],
        ),
        writes(2),
        writes(3),
        writes(4),
        scenario(
            "integrates",
            &json!({ "match_system": WORKER, "match_prompt": "# SYM-1:" }),
            [commit("all.txt", "hello"), create_pr("All of it")],
        ),
    ]);
    let config = json!({
        "planner_enabled": true,
        "judge_enabled": false,
        "max_concurrent_agents": 2,
        "gates": [],
    });
    let project = Project::new("planned", &plays, &config);
    project.ok(&["issue", "add", "Write all of it", "--size", "large"]);
    project.tick_one("planner", "succeeded");
    let parent = || project.issue("SYM-1");
    assert_eq!(parent()["blocked_by"], "subtasks");
    // within the slots the parts run side by side
    assert_eq!(started(&project.tick_wait()), ["SYM-2", "SYM-3"]);
    assert_eq!(started(&project.tick_wait()), ["SYM-4"]);
    for part in ["SYM-2", "SYM-3", "SYM-4"] {
        assert_eq!(parent()["status"], "blocked", "before {part}");
        project.ok(&["pr", "merge", part]);
    }
    project.ok(&["tick"]);
    assert_eq!(parent()["status"], "todo");
    let run = project.tick_one("worker", "succeeded");
    assert_eq!(run["issue"], "SYM-1");
    project.ok(&["pr", "merge", "SYM-1"]);
    let files = project.git(&["ls-tree", "--name-only", "main"]);
    for file in ["all.txt", "part-2.txt", "part-3.txt", "part-4.txt"] {
        assert!(files.contains(file), "{files}");
    }
}

/// A second repository in the installation of a project, played by the same scenario.
fn second_project(first: &Project) -> String {
    let root = first.beside.join("other");
    let root = root.to_str().unwrap().to_owned();
    first.git(&["clone", "-q", ".", &root]);
    let added = first.json(&["project", "add", &root, "--prefix", "OTH"]);
    assert_eq!(
        (&added["project"], &added["prefix"]),
        (&json!("other"), &json!("OTH"))
    );
    let scenario = first.beside.join("scenario.json");
    for (key, value) in [
        ("provider", "scripted"),
        ("providers.scripted.scenario", scenario.to_str().unwrap()),
        ("judge_enabled", "false"),
    ] {
        first.ok(&["-C", &root, "config", "set", key, value]);
    }
    root
}

#[test]
fn two_projects_share_the_slots_and_a_broken_one_stops_only_itself() {
    let config = json!({ "judge_enabled": false, "max_concurrent_agents": 2, "gates": [] });
    let first = Project::new("first", &scenarios([worker()]), &config);
    let other = second_project(&first);
    let list = first.json(&["project", "list"]);
    let prefixes: Vec<&str> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|project| project["prefix"].as_str().unwrap())
        .collect();
    assert_eq!(prefixes, ["SYM", "OTH"]);
    // the second one's issues came later: by age alone they would wait for all of the first's
    for number in 1..=4 {
        first.ok(&["issue", "add", &format!("Of first {number}")]);
    }
    for number in 1..=2 {
        first.ok(&["-C", &other, "issue", "add", &format!("Of other {number}")]);
    }
    assert_eq!(started(&first.tick_wait()), ["OTH-1", "SYM-1"]);
    // broken: nothing of it is done, the other goes on
    let file = format!("{other}/symphony.config.json");
    let good = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, good.replacen('{', "{ \"gatez\": [],", 1)).unwrap();
    let answer = first.symphony(&["tick", "--wait", "--json"]);
    assert_eq!(answer.code, 1, "{answer:#?}");
    let tick = answer.json();
    assert_eq!(
        started(tick["runs"].as_array().unwrap()),
        ["SYM-2", "SYM-3"]
    );
    let problem = text(&tick["problems"][0]);
    assert!(
        problem.contains("other") && problem.contains("gatez"),
        "{problem}"
    );
    std::fs::write(&file, good).unwrap();
    assert_eq!(started(&first.tick_wait()), ["OTH-2", "SYM-4"]);
    // a repository of another installation does not change sides
    let stranger = Project::new("stranger", &scenarios([worker()]), &json!({}));
    let refused = first.symphony(&["project", "add", stranger.root.to_str().unwrap()]);
    assert_eq!(refused.code, 4, "{refused:#?}");
    assert!(refused.stderr.contains("one installation"), "{refused:#?}");
}

#[test]
fn instructions_and_models_of_profiles_reach_the_next_run() {
    let project = Project::new("told", &scenarios([worker()]), &json!({ "model": "slow" }));
    let notes = project.beside.join("notes.md");
    std::fs::write(&notes, "Greet politely.\n").unwrap();
    let set = |arguments: &[&str]| project.json(&[&["profile", "set"], arguments].concat());
    set(&["worker", "--global", "--model", "fast"]);
    let told = set(&["worker", "--instructions", notes.to_str().unwrap()]);
    assert_eq!(
        (
            &told["project"],
            &told["custom_instructions"],
            &told["model"]
        ),
        (&json!("told"), &json!("Greet politely."), &Value::Null)
    );
    project.add_issue("Greet");
    let preview = project.json(&["prompt", "show", "SYM-1"]);
    assert!(
        text(&preview["user"]).contains("Greet politely."),
        "{preview}"
    );
    let run = project.tick_one("worker", "succeeded");
    assert_eq!(run["model"], "fast");
    assert_eq!(run["metadata"]["model_source"], "database profile");
    let prompt = project.run_file(&text(&run["id"]), "user-prompt.md");
    assert!(prompt.contains("### Project Instructions"), "{prompt}");
    assert!(prompt.contains("Greet politely."), "{prompt}");
    let shown = project.json(&["profile", "show", "worker"]);
    assert_eq!(shown["overrides"].as_array().unwrap().len(), 2);

    set(&["worker", "--no-instructions"]);
    set(&["worker", "--global", "--no-model"]);
    let shown = project.json(&["profile", "show", "worker"]);
    assert_eq!(shown["overrides"], Value::Null);
    for (arguments, code) in [
        (["profile", "set", "worker", "--global"].as_slice(), 2),
        (&["profile", "set", "worker", "--model", "-x"], 2),
        (&["profile", "set", "wizard", "--model", "fast"], 4),
        (
            &[
                "profile",
                "set",
                "worker",
                "--project",
                "nobody",
                "--model",
                "fast",
            ],
            3,
        ),
    ] {
        assert_eq!(project.symphony(arguments).code, code, "{arguments:?}");
    }
}

#[test]
fn instructions_of_a_profile_reach_the_phases_that_dispatch_it() {
    let project = Project::new("phased", &scenarios([worker()]), &json!({}));
    let write = |name: &str, content: &str| {
        let path = project.beside.join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let global = write("global.md", "Draw diagrams.\n");
    let own = write("own.md", "Draw no diagrams.\n");
    let set = |arguments: &[&str]| project.json(&[&["profile", "set"], arguments].concat());
    set(&["architect", "--global", "--instructions", &global]);
    set(&["architect", "--instructions", &own]);
    let overrides = project.root.join(".symphony/prompts/overrides");
    std::fs::create_dir_all(&overrides).unwrap();
    std::fs::write(
        overrides.join("architect-architecture.md"),
        "Two pages at most.\n",
    )
    .unwrap();
    project.json(&["issue", "add", "Greet", "--label", "phase:architecture"]);
    let system = text(&project.json(&["prompt", "show", "SYM-1"])["system"]);
    // the order in which docs/prompts.md ranks them; the project's instructions replace those of all projects
    let places = [
        "# Phase: architecture",
        "Two pages at most.",
        "### Project Instructions\n\nDraw no diagrams.",
    ]
    .map(|part| system.find(part));
    assert!(places.is_sorted() && places[0].is_some(), "{system}");
    assert!(!system.contains("Draw diagrams."), "{system}");
    // the profile's own text is not for phases
    assert!(!system.contains("# Architect\n"), "{system}");
}

//! The configuration on the command line.

use serde_json::json;

use crate::support::Project;
use crate::transcript::{Transcript, assert_transcript};

#[test]
fn values_are_set_shown_and_checked() {
    let project = Project::repository("tool");
    project.configure(&json!({ "prefix": "SYM" }));
    let transcript = Transcript::of(&project)
        .run(&["config", "check"])
        .run(&["config", "set", "max_concurrency", "2"])
        .run(&["config", "set", "model", "opus"])
        .run(&[
            "config",
            "set",
            "gates",
            "[{\"name\": \"test\", \"command\": \"make test\"}]",
        ])
        .run(&["config", "set", "gates[0].timeout_ms", "1000"])
        .run(&["config", "set", "loop_repeats", "-1"])
        .run(&["config", "set", "max_concurency", "2"])
        .run(&["config", "set", "max_concurrency", "many"])
        .run(&["config", "set", "gates..name", "x"])
        .run(&["config", "show", "--set"])
        .run(&["config", "show", "max_retries"])
        .run(&["config", "show", "worktree"])
        .run(&["config", "show", "nothing"])
        .run(&["config", "set", "--global", "max_concurrent_agents", "3"])
        .run(&["config", "show", "max_concurrent_agents"]);
    assert_transcript!("config", transcript);
}

#[test]
fn a_broken_file_is_checked_shown_and_mended() {
    let project = Project::repository("tool");
    project.ok(&["init", "--prefix", "SYM"]);
    project.configure(&json!({ "prefix": "SYM", "max_retrys": 3, "gates": [{ "name": "a" }] }));
    let transcript = Transcript::of(&project)
        .run(&["config", "check"])
        .run(&["issue", "list"])
        .run(&["tick"])
        .run(&["config", "show", "prefix"])
        .run(&["config", "set", "gates[0].command", "true"])
        .run(&["doctor"]);
    assert_transcript!("config_broken", transcript);
    let problems = project.symphony(&["config", "check", "--json"]);
    assert_eq!(problems.code, 1);
    assert_eq!(problems.json()["items"][0]["key"], "max_retrys");
}

#[test]
fn a_doctor_reports_every_problem_that_a_check_does() {
    let project = Project::repository("tool");
    project.ok(&["init", "--prefix", "SYM"]);
    // one problem of the project alone, and one of a section for another project
    project.configure(&json!({
        "prefix": "SYM", "colour": 1, "projects": { "other": { "max_retries": "x" } },
    }));
    let checked = project.symphony(&["config", "check", "--json"]);
    assert!(checked.stderr.contains("2 problems"), "{checked:#?}");
    let doctor = project.symphony(&["doctor", "--json"]);
    assert_eq!(doctor.code, 1, "{doctor:#?}");
    let checks = doctor.json();
    let failed: Vec<&serde_json::Value> = checks["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|check| check["status"] == "failed")
        .collect();
    assert_eq!(failed.len(), 1, "{failed:#?}");
    assert_eq!(failed[0]["check"], "configuration");
    let detail = failed[0]["detail"].as_str().unwrap();
    for problem in checked.json()["items"].as_array().unwrap() {
        let message = problem["message"].as_str().unwrap();
        assert!(detail.contains(message), "{message}: {detail}");
    }
}

#[test]
fn problems_of_the_scenario_file_and_of_prompts_are_both_counted() {
    let project = Project::repository("tool");
    project.ok(&["init", "--prefix", "SYM"]);
    let scripted = json!({ "scenario": "nowhere.json" });
    project.configure(&json!({
        "prefix": "SYM", "provider": "scripted", "providers": { "scripted": scripted },
        "prompts_dir": "nowhere",
    }));
    let checked = project.symphony(&["config", "check"]);
    assert_eq!(checked.code, 1, "{checked:#?}");
    let counts = "error: the scenario file has 1 problem, and the prompts have 1 error\n";
    assert!(checked.stderr.starts_with(counts), "{checked:#?}");
    assert_eq!(checked.stdout.lines().count(), 2, "{checked:#?}");
}

#[test]
fn a_value_that_a_check_would_refuse_is_not_set() {
    let project = Project::repository("tool");
    project.ok(&["init", "--prefix", "SYM"]);
    let file = project.root.join("symphony.config.json");
    let before = std::fs::read_to_string(&file).unwrap();
    let refused = project.symphony(&["config", "set", "budget.shares.description", "20"]);
    assert_eq!(refused.code, 1, "{refused:#?}");
    assert!(refused.stderr.contains("found a sum of 95"), "{refused:#?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
    project.ok(&["config", "check"]);
    let both = r#"{ "description": 20, "comments": 20 }"#;
    project.ok(&["config", "set", "budget.shares", both]);
    project.ok(&["config", "check"]);
}

#[test]
fn the_schema_is_a_json_schema() {
    let project = Project::repository("tool");
    let schema: serde_json::Value =
        serde_json::from_str(&project.ok(&["config", "schema"])).unwrap();
    assert_eq!(
        schema["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
}

#[test]
fn a_doctor_finds_a_healthy_project_healthy() {
    let project = Project::repository("tool");
    project.ok(&["init", "--prefix", "SYM"]);
    project.configure(&json!({
        "provider": "command", "providers": { "command": { "command": "true" } },
        "gates": [{ "name": "test", "command": "true" }],
    }));
    let answer = project.symphony(&["doctor", "--json"]);
    assert_eq!(answer.code, 0, "{answer:#?}");
    let checks = answer.json();
    let bad: Vec<_> = checks["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|check| check["status"] == "failed")
        .collect();
    assert!(bad.is_empty(), "{bad:#?}");
    project.git(&["branch", "symphony"]);
    let answer = project.symphony(&["doctor"]);
    assert_eq!(answer.code, 1);
    assert!(
        answer.stdout.contains("git branch -m symphony"),
        "{answer:#?}"
    );
}

#[test]
fn a_branch_of_symphonys_own_is_no_base() {
    let project = Project::repository("tool");
    project.configure(&json!({ "prefix": "SYM" }));
    let refused = project.symphony(&["config", "set", "base_branch", "symphony/SYM-1"]);
    assert_eq!(refused.code, 1, "{refused:#?}");
    let why = "a branch's name that does not begin with `symphony/`";
    assert!(refused.stderr.contains(why), "{refused:#?}");
}

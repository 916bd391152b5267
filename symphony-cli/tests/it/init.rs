//! `symphony init`: once, twice, in odd places.

use serde_json::json;

use crate::support::Project;
use crate::transcript::{Transcript, assert_transcript};

#[test]
fn a_repository_is_set_up_once_and_its_tree_stays_clean() {
    let project = Project::repository("api server");
    let transcript = Transcript::of(&project)
        .run(&["status"])
        .run(&["init"])
        .run(&["init"])
        .run(&["init", "--prefix", "OTHER"])
        .run(&["config", "check"])
        .run(&["-q", "init"])
        .run(&["issue", "add", "First"]);
    assert_transcript!("init", transcript);
    assert_eq!(project.git(&["status", "--porcelain"]), "");
    let exclude = std::fs::read_to_string(project.root.join(".git/info/exclude")).unwrap();
    for entry in [
        "/.symphony/",
        "/.symphony-workspaces/",
        "/symphony.config.json",
    ] {
        assert_eq!(
            exclude.lines().filter(|line| *line == entry).count(),
            1,
            "{entry} in {exclude}"
        );
    }
}

#[test]
fn gates_are_detected_and_a_file_that_is_there_stays() {
    let project = Project::repository("tool");
    std::fs::write(project.root.join("Makefile"), "test:\n\ttrue\n").unwrap();
    let first = project.json(&["init"]);
    assert_eq!(first["gates"], json!(["test"]));
    assert_eq!(
        (&first["registered"], &first["config_written"]),
        (&json!(true), &json!(true))
    );
    project.configure(&json!({ "prefix": "TOOL", "gates": [] }));
    let second = project.json(&["init"]);
    assert_eq!(second["gates"], json!([]));
    assert_eq!(
        (&second["registered"], &second["config_written"]),
        (&json!(false), &json!(false))
    );
}

#[test]
fn the_wizard_is_asked_for_in_the_file() {
    let project = Project::repository("tool");
    project.ok(&["init", "--wizard"]);
    let value = project.json(&["config", "show", "wizard_enabled"]);
    assert_eq!(value["items"][0]["value"], true);
}

#[test]
fn projects_of_one_installation_have_prefixes_and_ids_of_their_own() {
    let project = Project::repository("web");
    let other = project.beside.join("below").join("web");
    std::fs::create_dir_all(&other).unwrap();
    project.git(&["clone", "-q", ".", other.to_str().unwrap()]);
    let database = project.beside.join("shared.db");
    let shared = project.beside.join("home/.config/symphony");
    std::fs::create_dir_all(&shared).unwrap();
    std::fs::write(
        shared.join("config.json"),
        json!({ "database": database }).to_string(),
    )
    .unwrap();
    let other = other.to_str().unwrap();
    let transcript = Transcript::of(&project)
        .run(&["init", "--json"])
        .run(&["-C", other, "init"])
        .run(&["-C", other, "init", "--prefix", "WEBB", "--json"])
        .run(&["-C", other, "issue", "add", "Over there"])
        .run(&["issue", "list"])
        .run(&["issue", "list", "--all-projects"]);
    assert_transcript!("init_shared", transcript);
}

#[test]
fn places_that_can_not_be_set_up_say_what_to_do() {
    let project = Project::repository("tool");
    let outside = project.beside.join("outside");
    let empty = project.beside.join("empty");
    std::fs::create_dir_all(&outside).unwrap();
    project.git(&["init", "-q", empty.to_str().unwrap()]);
    let linked = project.beside.join("linked");
    project.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    let transcript = Transcript::of(&project)
        .run(&["-C", outside.to_str().unwrap(), "init"])
        .run(&["-C", empty.to_str().unwrap(), "init"])
        .run(&["-C", linked.to_str().unwrap(), "init"])
        .run(&["-C", "nowhere", "init"])
        .run(&["--config", "nowhere.json", "init"])
        .run(&["init", "--prefix", "lower"]);
    assert_transcript!("init_refused", transcript);
}

#[test]
fn what_keeps_agents_from_starting_is_said_at_once() {
    let project = Project::repository("tool");
    project.ok(&["init"]);
    let nowhere = json!({ "claude-cli": { "binary": "/nowhere/claude" } });
    project.configure(&json!({ "prefix": "TOOL", "provider": "claude-cli", "providers": nowhere }));
    let said = project.ok(&["init"]);
    let line = "No agent can be started yet: find the program of provider `claude-cli`: `/nowhere/claude` is not an executable file; ";
    assert!(said.contains(line), "{said}");
}

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
    project.commit_files(&[("Makefile", "test:\n\ttrue\n")]);
    // gates run in a checkout of a commit, where a file that is not committed is missing
    std::fs::write(project.root.join("go.mod"), "module tool\n").unwrap();
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
fn the_gates_and_the_set_up_of_several_stacks_are_shown_and_written() {
    let project = Project::repository("mono");
    project.commit_files(&[
        (".gitignore", "target/\n"),
        ("Cargo.toml", "[workspace]\nmembers = [\"core\"]\n"),
        ("Cargo.lock", ""),
        ("core/Cargo.toml", "[package]\nname = \"core\"\n"),
        (
            "web/package.json",
            r#"{"scripts": {"test": "jest", "lint": "eslint ."}}"#,
        ),
        ("web/package-lock.json", "{}"),
        ("docs/package.json", r#"{"scripts": {"test": "jest"}}"#),
        (
            "tool/package.json",
            r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#,
        ),
    ]);
    let transcript = Transcript::of(&project)
        .run(&["init", "--prefix", "MONO"])
        .run(&["config", "show", "worktree.setup"])
        .run(&["config", "check"]);
    assert_transcript!("init_stacks", transcript);
    // what the set-up fills is no work of an agent's; the project ignores `target` itself
    let exclude = std::fs::read_to_string(project.root.join(".git/info/exclude")).unwrap();
    assert!(exclude.contains("\n/web/node_modules/\n"), "{exclude}");
    assert!(!exclude.contains("target"), "{exclude}");
}

#[test]
fn a_shared_configuration_is_shown_by_git_and_holds_no_path_of_this_machine() {
    let project = Project::repository("team");
    project.commit_files(&[("Makefile", "test:\n\ttrue\n")]);
    project.ok(&["init"]);
    let config = project.root.join("symphony.config.json");
    assert_eq!(project.git(&["status", "--porcelain"]), "");
    std::fs::remove_file(&config).unwrap();
    let said = project.ok(&["init", "--shared"]);
    assert!(said.contains("git add symphony.config.json"), "{said}");
    assert_eq!(
        project.git(&["status", "--porcelain"]),
        "?? symphony.config.json"
    );
    let text = std::fs::read_to_string(&config).unwrap();
    assert!(!text.contains("\"database\""), "{text}");
    project.git(&["add", "symphony.config.json"]);
    project.git(&["commit", "-q", "-m", "Share Symphony's configuration"]);

    // who clones the repository gets prefix and gates, and keeps the file in git
    let clone = project.beside.join("clone");
    let path = clone.to_str().unwrap();
    project.git(&["clone", "-q", ".", path]);
    let view = project.json(&["-C", path, "init"]);
    assert_eq!(
        (&view["prefix"], &view["shared"], &view["config_written"]),
        (&json!("TEAM"), &json!(true), &json!(false))
    );
    assert_eq!(view["gates"], json!(["test"]));
    let exclude = std::fs::read_to_string(clone.join(".git/info/exclude")).unwrap();
    assert!(!exclude.contains("symphony.config.json"), "{exclude}");
    assert_eq!(project.git(&["-C", path, "status", "--porcelain"]), "");
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

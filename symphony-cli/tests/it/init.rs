//! `symphony init`: once, twice, in odd places.

use serde_json::json;

use crate::support::{Project, text};
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
        .run(&["init", "--prefix", "MONO", "--no-try"])
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
    // the file is there, and git begins to show it
    let said = project.ok(&["init", "--shared"]);
    for told in [
        "symphony.config.json is now visible to git",
        "git add symphony.config.json",
    ] {
        assert!(said.contains(told), "{said}");
    }
    assert_eq!(
        project.git(&["status", "--porcelain"]),
        "?? symphony.config.json"
    );
    let said = project.ok(&["init", "--shared"]);
    assert!(!said.contains("now visible"), "{said}");

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
        json!({ "database": database, "sandbox": "off" }).to_string(),
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
    let line = "No agent can be started yet: provider `claude-cli` needs `/nowhere/claude`, which is not an executable file; ";
    assert!(said.contains(line), "{said}");
}

/// A fake `npm` on the search path: a program that writes down what it was asked for, and then does what the test says.
fn with_npm(project: &mut Project, body: &str) -> std::path::PathBuf {
    let bin = project.beside.join("bin");
    let log = project.beside.join("npm.log");
    std::fs::create_dir(&bin).unwrap();
    let script = format!("#!/bin/sh\necho \"$*\" >> '{}'\n{body}\n", log.display());
    std::fs::write(bin.join("npm"), script).unwrap();
    make_executable(&bin.join("npm"));
    let path = std::env::var("PATH").unwrap();
    project.set_variable("PATH", &format!("{}:{path}", bin.display()));
    log
}

fn make_executable(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn npm_project(npm: &str) -> (Project, std::path::PathBuf) {
    let mut project = Project::repository("web");
    project.commit_files(&[
        (".gitignore", "node_modules/\n"),
        (
            "package.json",
            r#"{"scripts": {"test": "jest", "lint": "eslint ."}, "devDependencies": {"jest": "1"}}"#,
        ),
        ("package-lock.json", "{}"),
    ]);
    let log = with_npm(&mut project, npm);
    (project, log)
}

fn outcomes(view: &serde_json::Value) -> Vec<String> {
    let trial = &view["trial"];
    let steps = std::iter::once(&trial["setup"]).chain(trial["gates"].as_array().unwrap());
    steps
        .map(|step| format!("{} {}", text(&step["name"]), text(&step["outcome"])))
        .collect()
}

#[test]
fn set_up_and_gates_are_tried_in_a_checkout_that_nothing_of_the_working_tree_is_in() {
    // the gates pass only where the set-up ran, and only without the file that is not committed
    let npm =
        "case $1 in ci) mkdir node_modules;; *) test -d node_modules && test ! -e broken;; esac";
    let (project, log) = npm_project(npm);
    std::fs::write(project.root.join("broken"), "").unwrap();
    let view = project.json(&["init"]);
    assert_eq!(
        outcomes(&view),
        ["set-up passed", "test passed", "lint passed"]
    );
    assert_eq!(
        view["trial"]["commit"],
        json!(project.git(&["rev-parse", "main"]))
    );
    let asked = || std::fs::read_to_string(&log).unwrap();
    assert_eq!(asked(), "ci\ntest\nrun lint\n");
    // nothing is left of it, and a second time is quick
    assert_eq!(project.processes(), [""; 0]);
    let left = std::fs::read_dir(project.root.join(".symphony-workspaces"));
    assert_eq!(left.map_or(0, Iterator::count), 0);
    let said = project.ok(&["init"]);
    assert!(
        said.contains("have not changed since they were last tried"),
        "{said}"
    );
    assert!(said.contains("All gates pass."), "{said}");
    assert_eq!(asked(), "ci\ntest\nrun lint\n");
    let said = project.ok(&["doctor", "--gates"]);
    assert!(said.contains("All gates pass."), "{said}");
    assert_eq!(asked(), "ci\ntest\nrun lint\nci\ntest\nrun lint\n");
}

#[test]
fn what_is_red_on_the_base_is_said_before_any_agent_works_and_stays_a_gate() {
    let npm =
        "test \"$1\" != test || { echo 'Tests: 1 failed'; echo 'expected 1 to be 2'; exit 1; }";
    let (project, _) = npm_project(npm);
    let transcript = Transcript::of(&project)
        .run(&["init"])
        .run(&["config", "check"])
        .run(&["doctor", "--gates"]);
    assert_transcript!("init_red", transcript);
    let text = std::fs::read_to_string(project.root.join("symphony.config.json")).unwrap();
    let red = text
        .lines()
        .position(|line| line.contains("// RED when `symphony init` tried it"));
    let gate = text
        .lines()
        .position(|line| line.contains(r#"{ "name": "test""#));
    assert!(red.unwrap() < gate.unwrap(), "{text}");
    assert!(!text.contains("\"required\": false"), "{text}");
    let value = project.json(&["config", "show", "gates"]);
    assert_eq!(value["items"][0]["value"][0]["name"], "test", "{value:#}");
}

#[test]
fn a_missing_program_is_named_and_the_gates_wait_for_the_set_up() {
    let (project, _) = npm_project("no-such-program-of-this-test");
    let transcript = Transcript::of(&project).run(&["init"]);
    assert_transcript!("init_missing", transcript);
}

#[test]
fn a_trial_has_an_end_and_can_be_left_out() {
    let (project, log) = npm_project("test \"$1\" != test || sleep 600");
    let view = project.json(&["init", "--try-limit", "2"]);
    assert_eq!(
        outcomes(&view),
        ["set-up passed", "test not_tried", "lint not_tried"]
    );
    assert_eq!(project.processes(), [""; 0]);
    std::fs::remove_file(project.root.join("symphony.config.json")).unwrap();
    std::fs::remove_file(&log).unwrap();
    let view = project.json(&["init", "--no-try"]);
    assert_eq!(view["trial"]["state"], "not");
    assert!(!log.exists());
}

#[test]
fn what_the_wizard_finds_is_not_overruled_by_what_init_proposes() {
    let project = Project::repository("tool");
    project.commit_files(&[("Makefile", "test:\n\ttrue\n"), ("go.mod", "module tool\n")]);
    let source = || text(&project.json(&["config", "show", "gates"])["items"][0]["source"]);
    project.ok(&["init", "--no-try"]);
    assert_ne!(source(), "database");
    // asked for later, it finds gates that nobody chose: they hold from the database until it has found better ones
    project.ok(&["init", "--wizard", "--no-try"]);
    assert_eq!(source(), "database");
    let gates = project.json(&["config", "show", "gates"]);
    assert_eq!(gates["items"][0]["value"][0]["command"], "go test ./...");
    let setup = project.json(&["config", "show", "worktree.setup"]);
    assert_eq!(setup["items"][0]["value"], "go mod download");

    // gates of a person stay
    let own = r#"[{"name": "mine", "command": "make test"}]"#;
    project.ok(&["config", "set", "gates", own]);
    for command in [&["init", "--wizard"][..], &["project", "wizard", "--again"]] {
        let said = project.ok(command);
        assert!(
            said.contains("override those that the wizard finds"),
            "{said}"
        );
        let gates = project.json(&["config", "show", "gates"]);
        assert_eq!(gates["items"][0]["value"][0]["name"], "mine");
    }
}

#[test]
fn what_a_trial_found_is_known_to_a_second_init_until_something_changes() {
    let npm = "test \"$1\" != test || test -e \"$(dirname \"$0\")/repaired\"";
    let (project, log) = npm_project(npm);
    assert_eq!(
        outcomes(&project.json(&["init"])),
        ["set-up passed", "test failed", "lint passed"]
    );
    let config = project.root.join("symphony.config.json");
    let is_remarked = || std::fs::read_to_string(&config).unwrap().contains("// RED");
    assert!(is_remarked());
    std::fs::remove_file(&log).unwrap();
    for options in [&["init"][..], &["init", "--no-try"]] {
        let again = project.json(options);
        assert_eq!(again["trial"]["state"], "before", "{again:#}");
        assert_eq!(
            outcomes(&again),
            ["set-up passed", "test failed", "lint passed"]
        );
    }
    assert!(!log.exists(), "it is known");
    // another command is another trial; what it shows is not what `init` once found
    std::fs::write(project.beside.join("bin/repaired"), "").unwrap();
    project.ok(&["config", "set", "gates[1].command", "npm run lint --quiet"]);
    let again = project.json(&["init"]);
    assert_eq!(again["trial"]["state"], "ran", "{again:#}");
    assert!(log.exists());
    assert_eq!(project.json(&["status"])["holds"], json!([]));
    assert!(!is_remarked(), "the gate passes now");
    project.ok(&["config", "check"]);
}

#[test]
fn init_names_the_base_branch_and_a_checkout_does_not_change_it() {
    let project = Project::repository("tool");
    // a name that says nothing: it is the base because it is checked out
    project.git(&["branch", "-m", "work"]);
    let said = project.ok(&["init"]);
    assert!(said.contains("Work starts from `work`"), "{said}");
    let base = || text(&project.json(&["config", "show", "base_branch"])["items"][0]["value"]);
    assert_eq!(base(), "work");
    project.git(&["checkout", "-q", "-b", "idea"]);
    assert_eq!(project.json(&["init"])["base_branch"], "work");
    // a configuration that does not name it goes on as before, and says so
    project.configure(&json!({ "prefix": "TOOL" }));
    let said = project.ok(&["init"]);
    assert!(
        said.contains("`symphony config set base_branch idea`"),
        "{said}"
    );
}

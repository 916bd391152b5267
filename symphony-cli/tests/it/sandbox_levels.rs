//! Which level of protection a project gets when it is set up, and what older projects hear of it.

use serde_json::{Value, json};

use crate::support::{Project, Terminal};

/// A repository of a user who said nothing about sandboxes.
fn undecided() -> Project {
    let project = Project::repository("tool");
    project.configure_home("{}");
    project
}

fn level(project: &Project) -> Value {
    let shown = project.json(&["config", "show", "sandbox.level"]);
    let item = &shown["items"][0];
    json!([item["value"], item["source"]])
}

#[test]
fn a_new_project_gets_the_strongest_level_of_the_machine() {
    let project = undecided();
    let said = project.ok(&["init", "--no-try"]);
    assert!(
        said.contains(
            "Agents run in a sandbox: `sandbox.level` is `namespace`, the strongest level of this machine."
        ),
        "{said}"
    );
    assert_eq!(level(&project), json!(["namespace", "database"]));
    let again = project.ok(&["init", "--no-try"]);
    assert!(
        again.contains("in a sandbox (`sandbox.level` is `namespace`)"),
        "{again}"
    );
}

#[test]
fn a_machine_without_a_sandbox_is_named_with_its_reason() {
    let project = Project::repository("tool");
    project.configure_home("{ \"sandbox\": { \"bwrap\": \"/nowhere/bwrap\" } }");
    let said = project.ok(&["init", "--no-try"]);
    assert!(
        said.contains("because this machine cannot confine them (bubblewrap is not installed"),
        "{said}"
    );
    assert_eq!(level(&project), json!(["off", "database"]));
}

#[test]
fn a_partial_clone_is_no_place_for_a_sandbox() {
    let project = undecided();
    let packs = project.root.join(".git/objects/pack");
    std::fs::write(packs.join("pack-0.promisor"), "").unwrap();
    let said = project.ok(&["init", "--no-try"]);
    assert!(said.contains("the repository is a partial clone"), "{said}");
    assert_eq!(level(&project), json!(["off", "database"]));
}

#[test]
fn what_a_person_says_about_the_level_is_kept() {
    for (home, arguments, expected) in [
        ("{}", &["--sandbox", "off"][..], "off"),
        ("{}", &["--sandbox", "auto"], "auto"),
        ("{ \"sandbox\": \"landlock\" }", &[], "landlock"),
    ] {
        let project = undecided();
        project.configure_home(home);
        project.ok(&[&["init", "--no-try"], arguments].concat());
        assert_eq!(level(&project)[0], expected);
        assert_eq!(level(&project)[1] == "database", home == "{}");
    }
    let project = undecided();
    project.configure_home("{ \"sandbox\": \"landlock\" }");
    let answer = project.symphony(&["init", "--no-try", "--sandbox", "off"]);
    assert_eq!(answer.code, 4, "{answer:#?}");
    assert!(
        answer.stderr.contains("sets `sandbox.level` to `landlock`"),
        "{answer:#?}"
    );
}

#[test]
fn the_wizard_keeps_the_level() {
    let project = undecided();
    project.commit_files(&[
        ("Cargo.toml", "[package]\nname = \"a\"\n"),
        ("src/lib.rs", ""),
    ]);
    project.ok(&["init", "--no-try"]);
    project.ok(&["init", "--wizard", "--no-try"]);
    assert_eq!(level(&project), json!(["namespace", "database"]));
    let settings = &project.json(&["project", "show"])["settings"];
    assert!(settings["gates"].is_array(), "{settings:#}");
}

fn on_terminal(project: &Project, arguments: &[&str]) -> String {
    Terminal::start(project, 400, arguments).end().1.join("\n")
}

/// A project of a version that knew no sandboxes has no level.
#[test]
fn an_older_project_stays_as_it_is_and_its_person_hears_of_sandboxes_once() {
    let project = Project::recorded();
    project.configure_home("{}");
    assert_eq!(level(&project), json!(["off", "default"]));
    let notice = "Symphony can now run them in a sandbox";
    for arguments in [&["status"][..], &["status", "--json"], &["tick", "--quiet"]] {
        let answer = project.symphony(arguments);
        assert!(!answer.stderr.contains(notice), "no terminal: {answer:#?}");
        if arguments.len() > 1 {
            let seen = on_terminal(&project, arguments);
            assert!(!seen.contains(notice), "{arguments:?}: {seen}");
        }
    }
    let seen = on_terminal(&project, &["status"]);
    assert!(seen.contains(notice), "{seen}");
    for command in ["status", "tick"] {
        let seen = on_terminal(&project, &[command]);
        assert!(!seen.contains(notice), "{command}: {seen}");
    }
    assert_eq!(level(&project), json!(["off", "default"]));

    let new = Project::recorded();
    let seen = on_terminal(&new, &["status"]);
    assert!(
        !seen.contains(notice),
        "a level that a person chose: {seen}"
    );
}

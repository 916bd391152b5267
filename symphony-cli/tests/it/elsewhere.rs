//! Two projects share a database: what is offered in one about the other acts on the other, and neither hides the other's problems.

use std::path::PathBuf;

use serde_json::json;

use crate::support::{Project, approving_judge, commit, create_pr, scenarios, text, worker};

/// A project, and another one of its installation in a folder whose name a shell has to be given in quotes.
pub(crate) fn two() -> (Project, PathBuf) {
    let scenarios = scenarios([
        approving_judge(),
        worker([commit("hello.txt", "hello"), create_pr("Greet")]),
    ]);
    let project = Project::new("here", &scenarios, &json!({ "max_retry_backoff_ms": 1 }));
    let other = project.beside.join("over there");
    project.git(&["clone", "-q", ".", other.to_str().unwrap()]);
    project.ok(&["project", "add", other.to_str().unwrap(), "--prefix", "OTH"]);
    let scenario = project.beside.join("scenario.json");
    for (key, value) in [
        ("provider", "scripted"),
        ("providers.scripted.scenario", scenario.to_str().unwrap()),
        ("base_branch", "main"),
    ] {
        project.ok(&["-C", other.to_str().unwrap(), "config", "set", key, value]);
    }
    (project, other)
}

/// What the inbox says of the other project, and the first command that answers it.
fn offered(project: &Project) -> (String, String) {
    let inbox = project.json(&["inbox"]);
    let items = inbox["items"].as_array().unwrap();
    let item = items.iter().find(|item| item["project"] == "over-there");
    let item = item.unwrap_or_else(|| panic!("{inbox:#}"));
    (text(&item["text"]), text(&item["answers"][0]))
}

/// Types a command as it was offered, here.
fn typed(project: &Project, command: &str) -> std::process::Output {
    let symphony = env!("CARGO_BIN_EXE_symphony");
    let line = command.replacen("symphony ", &format!("'{symphony}' "), 1);
    let mut shell = project.program("sh");
    shell.arg("-c").arg(line).current_dir(&project.root);
    shell.output().unwrap()
}

#[test]
fn a_command_that_is_offered_about_another_project_acts_on_that_one() {
    let (project, other) = two();
    let there = other.to_str().unwrap();
    let git = |arguments: &[&str]| project.git(&[&["-C", there], arguments].concat());
    project.ok(&["-C", there, "issue", "add", "Greet"]);
    git(&["branch", "-m", "main", "trunk"]);
    let warned = project.symphony(&["tick"]);
    let (why, answer) = offered(&project);
    let expected = format!("symphony -C '{there}' config set base_branch NAME");
    assert_eq!(answer, expected);
    assert!(why.contains(&format!("`{expected}`")), "{why}");
    assert!(
        why.contains(&format!("`git -C '{there}' branch main COMMIT`")),
        "{why}"
    );
    for answer in [
        warned,
        project.symphony(&["inbox"]),
        project.symphony(&["explain", "OTH-1"]),
        project.symphony(&["tick", "--dry-run"]),
        project.symphony(&["-C", there, "inbox"]),
    ] {
        let said = answer.stdout.clone() + &answer.stderr;
        assert!(said.contains(&expected), "{answer:#?}");
        assert!(!said.contains("symphony config set"), "{answer:#?}");
    }
    // typed there, it needs no folder
    let mut inbox = project.command(&["inbox"]);
    let inbox = inbox.current_dir(&other).output().unwrap();
    let inbox = String::from_utf8(inbox.stdout).unwrap();
    assert!(
        inbox.contains("  symphony config set base_branch NAME"),
        "{inbox}"
    );

    let before = std::fs::read_to_string(project.root.join("symphony.config.json")).unwrap();
    let done = typed(&project, &answer.replace("NAME", "trunk"));
    assert!(done.status.success(), "{done:?}");
    let after = std::fs::read_to_string(project.root.join("symphony.config.json")).unwrap();
    assert_eq!(before, after);
    assert_eq!(project.json(&["inbox"])["items"], json!([]));

    let config = other.join("symphony.config.json");
    let aside = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, "{").unwrap();
    let (_, answer) = offered(&project);
    assert_eq!(answer, format!("symphony -C '{there}' config check"));
    assert!(!typed(&project, &answer).status.success());
    std::fs::write(&config, aside).unwrap();
}

#[test]
fn a_project_whose_folder_is_gone_is_led_to_its_new_one_by_the_offered_command() {
    let (project, other) = two();
    project.ok(&["-C", other.to_str().unwrap(), "issue", "add", "Greet"]);
    let new = project.beside.join("elsewhere");
    std::fs::rename(&other, &new).unwrap();
    let (why, answer) = offered(&project);
    assert!(why.contains("its folder"), "{why}");
    assert_eq!(answer, "symphony project move over-there FOLDER");
    let done = typed(&project, &answer.replace("FOLDER", "../elsewhere"));
    assert!(done.status.success(), "{done:?}");
    assert_eq!(project.json(&["inbox"])["items"], json!([]));
}

/// What the audit says of both projects.
fn audited(project: &Project) -> Vec<String> {
    let audit = project.symphony(&["doctor", "--audit", "--json"]).json();
    let found = audit["items"].as_array().unwrap().iter();
    found
        .map(|item| {
            format!(
                "{} {}: {}",
                text(&item["invariant"]),
                text(&item["subject"]),
                text(&item["detail"])
            )
        })
        .collect()
}

#[test]
fn the_audit_names_the_project_that_it_cannot_look_at_and_checks_the_rest() {
    let (project, other) = two();
    let there = other.to_str().unwrap();
    let stray = project.root.join(".symphony-workspaces/stray");
    std::fs::create_dir_all(&stray).unwrap();
    let is_stray = |found: &str| found.contains("git knows no worktree there");
    let found = audited(&project);
    assert!(found.len() == 1 && is_stray(&found[0]), "{found:#?}");

    project.git(&["-C", there, "branch", "-m", "main", "trunk"]);
    let lost = other.join(".symphony-workspaces/lost");
    std::fs::create_dir_all(&lost).unwrap();
    let found = audited(&project);
    assert_eq!(
        found.iter().filter(|found| is_stray(found)).count(),
        2,
        "{found:#?}"
    );
    let named = "I13 project over-there: it was not searched for secret values, nor for merges that the database does not know: its base branch `main` does not exist";
    assert!(
        found.iter().any(|found| found.starts_with(named)),
        "{found:#?}"
    );
    project.git(&["-C", there, "branch", "-m", "trunk", "main"]);
    std::fs::remove_dir(&lost).unwrap();

    std::fs::rename(&other, project.beside.join("away")).unwrap();
    let found = audited(&project);
    assert_eq!(
        found.iter().filter(|found| is_stray(found)).count(),
        1,
        "{found:#?}"
    );
    let named = "I13 project over-there: its repository was not checked: its folder";
    assert!(
        found.iter().any(|found| found.starts_with(named)),
        "{found:#?}"
    );
}

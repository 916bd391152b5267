//! Notes of the vault in the prompts of real runs, and what `prompt show` says of them.

use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Project, WORKER, call, commit, create_pr, scenario, scenarios, text, turn};

const RESEARCHER: &str = "^# Researcher$";

/// A project with a vault: four notes, one of them through a link inside; and what must not be read.
fn project_with_vault() -> Project {
    let report = turn(call(
        "mcp__symphony__record_coverage",
        json!({ "file": "README.md", "concept": "purpose", "notes": "a project" }),
    ));
    let plays = scenarios([
        scenario("reads", &json!({ "match_system": RESEARCHER }), [report]),
        scenario(
            "works",
            &json!({ "match_system": WORKER }),
            [commit("hello.txt", "hello"), create_pr("Expire sessions")],
        ),
    ]);
    let config = json!({ "vault": { "path": "notes" }, "judge_enabled": false });
    let project = Project::new("place", &plays, &config);
    for (file, content) in [
        ("sessions.md", "# Sessions\nThey expire after an hour."),
        ("deep/cookies.md", "# Cookies\nA session has one."),
        ("colours.md", "# Colours\nOnly blue."),
        ("empty.md", " \n"),
        (".editor/sessions.md", "# Sessions\nof the editor"),
        ("sessions.txt", "Sessions in no note"),
    ] {
        let path = project.root.join("notes").join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    let outside = project.beside.join("outside.md");
    std::fs::write(&outside, "# Sessions\nof somebody else").unwrap();
    symlink(&outside, project.root.join("notes/zz-outside.md")).unwrap();
    symlink("sessions.md", project.root.join("notes/again.md")).unwrap();
    project
}

/// The report's row on the vault, and what was not read.
fn reported(prompt: &Value) -> (Value, Value) {
    let rows = prompt["report"]["system"].as_array().unwrap();
    let row = rows.iter().find(|row| row["part"] == "vault");
    let warnings = prompt["report"]["warnings"].as_array().unwrap().iter();
    let not_read = warnings.filter(|warning| warning["warning"] == "not_read");
    let problems = not_read.map(|warning| warning["problem"].clone()).collect();
    (row.cloned().unwrap_or_default(), problems)
}

/// What is said of the one link that leads out of a vault.
fn left_out(vault: &Path) -> Value {
    let vault = vault.display();
    json!([format!(
        "vault.path: 1 file is left out of {vault}, the first: zz-outside.md: it leads out of the folder"
    )])
}

/// Where texts stand in a prompt; none of a text that does not.
fn places(prompt: &str, texts: &[&str]) -> Vec<Option<usize>> {
    texts.iter().map(|text| prompt.find(text)).collect()
}

#[test]
fn notes_that_match_stand_in_the_prompts_and_nothing_from_outside() {
    let project = project_with_vault();
    let left_out = left_out(&project.root.join("notes"));

    // without an issue: every note, by path
    project.configure_more(&json!({ "vault": { "path": "notes" }, "background_research": true }));
    let run = project.tick_one("researcher", "succeeded");
    let system = project.run_file(&text(&run["id"]), "system-prompt.md");
    let wanted = [
        "### again.md",
        "### colours.md",
        "### deep/cookies.md",
        "### sessions.md",
    ];
    let found = places(&system, &wanted);
    assert!(found.is_sorted() && found[0].is_some(), "{system}");

    project.configure_more(&json!({ "vault": { "path": "notes" }, "judge_enabled": false }));
    project.add_issue("Expire sessions");
    let run = project.tick_one("worker", "succeeded");
    let system = project.run_file(&text(&run["id"]), "system-prompt.md");
    // headings first, then by path
    let wanted = [
        "### again.md",
        "### sessions.md\n\n# Sessions\nThey expire after an hour.",
    ];
    let found = places(&system, &wanted);
    assert!(found.is_sorted() && found[0].is_some(), "{system}");
    let unwanted = ["colours", "of the editor", "of somebody else", "in no note"];
    assert_eq!(places(&system, &unwanted), [None; 4], "{system}");

    // phases and judges have it too
    project.add_issue("Expire sessions");
    project.ok(&["issue", "edit", "SYM-2", "--add-label", "phase:research"]);
    for arguments in [
        &["prompt", "show", "SYM-1", "--profile", "judge"][..],
        &["prompt", "show", "SYM-1", "--profile", "planner"],
        &["prompt", "show", "SYM-2"],
    ] {
        let shown = project.json(arguments);
        let (row, warnings) = reported(&shown);
        assert_eq!(row["note"], "2 of 4 notes match", "{arguments:?} {row:#}");
        assert_eq!(warnings, left_out, "{arguments:?}");
        assert!(
            text(&shown["system"]).contains("### sessions.md"),
            "{arguments:?}"
        );
    }
}

#[test]
fn the_vault_has_a_cap_and_a_wrong_path_is_said() {
    let project = project_with_vault();
    project.add_issue("Expire sessions");
    let show = |config: Value| {
        project.configure_more(&config);
        let shown = project.json(&["prompt", "show", "SYM-1"]);
        let (row, warnings) = reported(&shown);
        (shown, row, warnings)
    };
    let (shown, row, _) = show(json!({ "vault": { "path": "notes", "max_tokens": 20 } }));
    assert_eq!(row["note"], "2 of 4 notes match, cut at 20 tokens");
    assert!(row["tokens"].as_u64().unwrap() <= 20, "{row:#}");
    assert!(
        !text(&shown["system"]).contains("### sessions.md"),
        "{row:#}"
    );
    let page = project.ok(&["prompt", "show", "SYM-1"]);
    assert!(
        page.contains("2 of 4 notes match, cut at 20 tokens"),
        "{page}"
    );

    // a link that the user names is the folder it leads to; a path may lie anywhere
    let elsewhere = project.beside.join("elsewhere");
    symlink(project.root.join("notes"), &elsewhere).unwrap();
    let (_, row, warnings) = show(json!({ "vault": { "path": elsewhere } }));
    assert_eq!(row["note"], "2 of 4 notes match");
    assert_eq!(warnings, left_out(&elsewhere));
    for (path, why) in [
        ("gone", "No such file or directory (os error 2)"),
        ("symphony.config.json", "it is not a folder"),
        (".git", "it holds no markdown file"),
    ] {
        let (_, row, warnings) = show(json!({ "vault": { "path": path } }));
        let expected = format!(
            "vault.path: no notes are read from {}: {why}",
            project.root.join(path).display()
        );
        assert_eq!((row, warnings), (Value::Null, json!([expected])));
    }
}

#[test]
fn doctor_says_what_is_read_of_a_vault() {
    let project = project_with_vault();
    let told = || {
        let doctor = project.symphony(&["doctor", "--json"]).json();
        let items = doctor["items"].as_array().unwrap().iter();
        let mut found = items.filter(|item| item["check"] == "vault");
        let item = found.next().expect("it tells of the vault").clone();
        [text(&item["status"]), text(&item["detail"])]
    };
    let vault = project.root.join("notes");
    assert_eq!(told(), ["warning".to_owned(), text(&left_out(&vault)[0])]);
    std::fs::remove_file(vault.join("zz-outside.md")).unwrap();
    assert_eq!(
        told(),
        ["ok".to_owned(), format!("4 notes in {}", vault.display())]
    );
    std::fs::remove_dir_all(&vault).unwrap();
    let gone = format!(
        "vault.path: no notes are read from {}: No such file or directory (os error 2)",
        vault.display()
    );
    assert_eq!(told(), ["warning".to_owned(), gone]);
}

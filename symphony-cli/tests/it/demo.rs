//! The demo: twice, in a folder with spaces, and nothing is left.

use serde_json::json;

use crate::support::{Project, agents_of, text};

/// The level of each run of a demo, and what was printed.
fn demo_with(configuration: &str) -> (Vec<String>, String) {
    let project = Project::repository("unrelated");
    project.configure_home(configuration);
    let folder = project.beside.join("demo");
    let at = folder.to_str().unwrap();
    let answer = project.symphony(&["demo", "--dir", at]);
    assert_eq!(answer.code, 0, "{answer:#?}");
    let runs = project.json(&["-C", at, "runs", "list"]);
    let runs = runs["items"].as_array().unwrap().iter();
    let levels = runs.filter_map(|run| run["sandbox"]["level"].as_str());
    (
        levels.map(str::to_owned).collect(),
        answer.stderr + &answer.stdout,
    )
}

#[test]
fn the_demo_uses_a_sandbox_where_there_is_one_and_says_which() {
    let (levels, said) = demo_with("{}");
    assert!(levels.len() >= 6, "{levels:?}");
    assert!(
        levels.iter().all(|level| level == "namespace"),
        "{levels:?}"
    );
    for words in [
        "Agents run in a sandbox: `sandbox.level` is `namespace`, the strongest level of this machine.",
        "The agents ran at the sandbox level `namespace`.",
    ] {
        assert!(said.contains(words), "{said}");
    }
    let (levels, said) = demo_with("{ \"sandbox\": { \"bwrap\": \"/nowhere/bwrap\" } }");
    assert!(levels.iter().all(|level| level == "off"), "{levels:?}");
    for words in [
        "`sandbox.level` is `off`, because this machine cannot confine them (bubblewrap is not installed",
        "The agents ran at the sandbox level `off`.",
    ] {
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn the_demo_merges_its_issues_and_leaves_nothing() {
    let project = Project::repository("unrelated");
    let folder = project.beside.join("a demo");
    let arguments = ["demo", "--dir", folder.to_str().unwrap()];
    let first = project.symphony(&arguments);
    assert_eq!(first.code, 0, "{first:#?}");
    assert!(
        first.stdout.contains("2 of 2 issues done, in 7 runs"),
        "{}",
        first.stdout
    );
    assert!(
        first
            .stdout
            .contains("Not cleaned up: 0 processes, 0 worktrees."),
        "{}",
        first.stdout
    );
    let at = folder.to_str().unwrap();
    let (merged, ended) = (
        "Merged pull request 1 into main as ",
        ". DEMO-1 is done: worktree removed, ",
    );
    let mut lines = first.stderr.lines();
    let line = lines.find(|line| line.starts_with(merged));
    assert!(
        line.is_some_and(|line| line.contains(ended)),
        "{}",
        first.stderr
    );

    // an issue that no script knows goes the same way
    project.ok(&["-C", at, "issue", "add", "Greet in Latin"]);
    project.ok(&["-C", at, "run", "--until-idle"]);
    let issue = project.json(&["-C", at, "issue", "show", "DEMO-3"]);
    assert_eq!(issue["status"], "review", "{issue:#}");
    // and a person can send it back
    project.ok(&[
        "-C",
        at,
        "pr",
        "reject",
        "DEMO-3",
        "--point",
        "notes/DEMO-3.md:1: Say it in Latin",
    ]);
    project.ok(&["-C", at, "run", "--until-idle"]);
    let pr = project.json(&["-C", at, "pr", "show", "DEMO-3"]);
    assert_eq!(pr["points"][0]["answered"], true, "{pr:#}");
    assert_eq!(pr["verdict"]["kind"], "approved", "{pr:#}");
    project.ok(&["-C", at, "pr", "approve", "DEMO-3", "--close", "1"]);
    project.ok(&["-C", at, "pr", "merge", "DEMO-3"]);
    assert_eq!(
        project
            .git(&["-C", at, "show", "main:notes/DEMO-3.md"])
            .lines()
            .next(),
        Some("# DEMO-3: Greet in Latin")
    );

    // what is offered can be typed, also where `symphony` is not installed
    let program = env!("CARGO_BIN_EXE_symphony");
    assert!(
        first
            .stdout
            .contains(&format!("\n  alias symphony={program}\n  cd '")),
        "{}",
        first.stdout
    );
    // the folder is taken now
    let second = project.json(&arguments);
    assert_eq!(
        text(&second["dir"]),
        project.beside.join("a demo-2").display().to_string()
    );
    assert_eq!(
        second["leftovers"],
        json!({ "processes": 0, "worktrees": 0 })
    );
    for issue in second["issues"].as_array().unwrap() {
        assert_eq!(issue["status"], "done", "{issue:#}");
    }
    for pr in second["pull_requests"].as_array().unwrap() {
        assert_eq!(
            (&pr["state"], &pr["gates"][0]["passed"]),
            (&json!("merged"), &json!(true)),
            "{pr:#}"
        );
    }
    for run in second["runs"].as_array().unwrap() {
        assert_eq!(agents_of(&text(&run["id"])), Vec::<String>::new());
    }
    let made = second["dir"].as_str().unwrap();
    assert_eq!(project.git(&["-C", made, "status", "--porcelain"]), "");
    assert_eq!(
        project
            .git(&["-C", made, "worktree", "list", "--porcelain"])
            .matches("worktree ")
            .count(),
        1
    );
    let greeting = project
        .program("sh")
        .args(["greet.sh", "--bye", "Ada"])
        .current_dir(made)
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8(greeting.stdout).unwrap(),
        "Goodbye, Ada!\n"
    );
}

//! What the tests of `symphony prompt trial` have in common: agents whose effect is known, issues and sets.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{
    Project, approving_judge, bash, create_pr, git_commit, scenario, scenarios, worker,
};

/// The word that makes the scripted agent work well.
const MARKER: &str = "Check your work before you hand it in.";

pub(crate) fn write(path: PathBuf, content: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

/// A worker that does its job when its prompt has the marker, and otherwise hands in what its gate refuses, until it gives up.
fn agents() -> Value {
    let commit = |content: &str| {
        bash(&format!(
            "echo {content} > hello.txt && {}",
            git_commit("hello.txt", "Greet")
        ))
    };
    let careful = scenario(
        "careful",
        &json!({ "match_system": format!("(?s)^# Worker$.*{MARKER}") }),
        [commit("hello"), create_pr("Greet")],
    );
    let careless = worker([commit("goodbye-$RANDOM-$$"), create_pr("Greet")]);
    scenarios([careful, careless, approving_judge()])
}

/// A project with a history: each of its issues has a pull request that was opened on the first commit.
pub(crate) fn project(name: &str, issues: usize) -> Project {
    let project = Project::new(
        name,
        &agents(),
        &json!({
            "max_retries": 1,
            "gates": [{ "name": "check", "command": "test ! -e hello.txt || grep -q hello hello.txt", "retries": 0 }],
        }),
    );
    set(&project, "careful", &format!("\n{MARKER}\n"));
    set(&project, "plain", "\n");
    let base = project.git(&["rev-parse", "HEAD"]).trim().to_owned();
    record(&project, "issues.json", issues, &base);
    project
}

fn record(project: &Project, file: &str, issues: usize, base: &str) {
    let issue = |number| {
        json!({
            "id": format!("SYM-{number}"),
            "title": format!("Greet number {number}"),
            "description": "Write hello.txt.",
            "base_commit": base,
            "comments": [{ "text": "In English, please." }],
        })
    };
    let issues: Vec<Value> = (1..=issues).map(issue).collect();
    let document = json!({ "version": 1, "issues": issues });
    write(project.root.join(file), &document.to_string());
}

/// A set: the shipped worker with some words more.
pub(crate) fn set(project: &Project, name: &str, words: &str) {
    let shipped = include_str!("../../../prompts/profiles/worker.md");
    let path = project.beside.join(name).join("profiles/worker.md");
    write(path, &format!("{shipped}{words}"));
}

pub(crate) fn sets(project: &Project, a: &str, b: &str) -> [String; 4] {
    let set =
        |name: &str, folder: &str| format!("{name}={}", project.beside.join(folder).display());
    ["--set".into(), set("A", a), "--set".into(), set("B", b)]
}

pub(crate) fn trial<'a>(sets: &'a [String; 4], more: &[&'a str]) -> Vec<&'a str> {
    let begin = ["prompt", "trial", "--issues", "issues.json"];
    let sets = sets.iter().map(String::as_str);
    begin
        .into_iter()
        .chain(sets)
        .chain(more.iter().copied())
        .collect()
}

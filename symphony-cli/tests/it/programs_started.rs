//! How many git processes an issue and its merge start. Each costs time in every run, and the number grows unnoticed.

use std::collections::BTreeMap;

use serde_json::json;

use crate::support::{
    Project, approving_judge, commit, create_pr, git_in_front, scenarios, until, worker,
};

/// Most calls that one issue may take through worker, gates and judge, those of its agent included.
const RUN_MAX: usize = 58;
/// Most calls that its merge may take.
const MERGE_MAX: usize = 14;

/// Lets git note each call, without the settings that come with it; returns the search path for that, and how to take the notes.
fn note_calls(project: &mut Project) -> (String, impl Fn() -> Vec<String> + use<>) {
    let calls = project.beside.join("calls");
    let note = "echo $(echo \"$*\" | sed 's/-c [^ ]* //g')";
    let search = git_in_front(project, &format!("{note} >> {}", calls.display()));
    let take = move || {
        let noted = std::fs::read_to_string(&calls).unwrap_or_default();
        std::fs::write(&calls, "").unwrap();
        noted.lines().map(str::to_owned).collect()
    };
    (search, take)
}

/// Reads of the user's and the system's settings are left out: one is used for two seconds, so that a slow machine takes more.
fn assert_at_most(calls: &[String], most: usize, what: &str) {
    let counted: Vec<&String> = calls
        .iter()
        .filter(|call| !call.contains("--show-scope"))
        .collect();
    let mut commands: BTreeMap<&str, usize> = BTreeMap::new();
    for call in &counted {
        *commands.entry(call.split(' ').next().unwrap()).or_default() += 1;
    }
    assert!(
        (1..=most).contains(&counted.len()),
        "{what}: {} calls of git, at most {most}: {commands:#?}\n{counted:#?}",
        counted.len()
    );
}

#[test]
fn an_issue_starts_no_more_programs_than_before() {
    let worker = worker([commit("hello.txt", "hello"), create_pr("Say hello")]);
    let mut project = Project::new(
        "project",
        &scenarios([worker, approving_judge()]),
        &json!({}),
    );
    let settings = "[user]\n\tname = A Person\n\temail = person@example.invalid\n";
    std::fs::write(project.home.join(".gitconfig"), settings).unwrap();
    let issue = project.add_issue("Say hello");
    let (search, calls) = note_calls(&mut project);
    until("the pull request to be approved", || {
        project.tick_wait();
        // this look is no part of what is counted
        project.unset_variable("PATH");
        let list = project.json(&["pr", "list"]);
        project.set_variable("PATH", &search);
        (list["items"][0]["state"] == "approved").then_some(())
    });
    assert_at_most(&calls(), RUN_MAX, "worker, gates and judge");
    project.ok(&["pr", "merge", &issue]);
    assert_at_most(&calls(), MERGE_MAX, "the merge");
}

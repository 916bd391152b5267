//! A project whose folder is moved while an agent works there.

use serde_json::json;

use crate::support::{
    Answer, Project, WORKER, bash, commit, create_pr, scenario, scenarios, text, until, worker,
};

#[test]
fn a_run_whose_project_was_moved_uses_no_attempt_and_the_next_one_goes_on() {
    let begins = scenario(
        "begins",
        &json!({ "match_system": WORKER, "uses": 1 }),
        [
            bash(
                "echo part > part.txt; touch begun; until test -e go; do sleep 0.05; done; rm begun go",
            ),
            commit("lost.txt", "never there"),
            create_pr("Never opened"),
        ],
    );
    let goes_on = worker([commit("hello.txt", "hello"), create_pr("Hello")]);
    let project = Project::new(
        "before",
        &scenarios([begins, goes_on]),
        &json!({ "judge_enabled": false, "max_retry_backoff_ms": 1000 }),
    );
    project.add_issue("Say hello");
    project.tick_start();
    let begun = project.worktree("SYM-1").join("begun");
    until("the agent works", || begun.exists().then_some(()));
    let new = project.beside.join("after");
    std::fs::rename(&project.root, &new).unwrap();
    std::fs::write(new.join(".symphony-workspaces/SYM-1/go"), "").unwrap();
    // the root is gone: commands start beside it
    let symphony = |arguments: &[&str]| {
        let mut command = project.program(env!("CARGO_BIN_EXE_symphony"));
        command
            .current_dir(&project.beside)
            .args(["-C", new.to_str().unwrap()])
            .args(arguments);
        Answer::from(command.output().unwrap())
    };
    // refused while the supervisor is still there
    let issue = until("the issue is under review", || {
        symphony(&["tick", "--wait"]);
        let shown = symphony(&["issue", "show", "SYM-1", "--json"]);
        let issue = (shown.code == 0).then(|| shown.json())?;
        (issue["status"] == "review").then_some(issue)
    });
    let runs = symphony(&["runs", "list", "--json"]).json();
    let runs = runs["items"].as_array().unwrap();
    let classes: Vec<String> = runs
        .iter()
        .filter(|run| run["profile"] == "worker")
        .filter_map(|run| run["error"]["class"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(classes, ["moved"], "{runs:#?}");
    assert_eq!(issue["total_runs"], 1, "{issue:#}");
    let git = |arguments: &[&str]| {
        let mut git = project.program("git");
        git.current_dir(&new).args(arguments);
        Answer::from(git.output().unwrap()).stdout
    };
    let head = text(&issue["pull_requests"][0]["head_commit"]);
    assert_eq!(git(&["show", &format!("{head}:part.txt")]).trim(), "part");
    let inbox = symphony(&["inbox"]).stdout;
    assert!(!inbox.contains("changed"), "{inbox}");
    assert_eq!(symphony(&["doctor", "--audit"]).code, 0);
}

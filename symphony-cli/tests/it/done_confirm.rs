//! What is in the way of confirming that nothing is left to do, whoever confirms it: what there is now counts, not what there was
//! when the proposal was made.

use serde_json::{Value, json};

use crate::done::{agreeing_judge, integrate, on_parent, propose, propose_with_readme, run_all};
use crate::support::{Project, bash, create_pr, git_commit, scenarios, text, until, worker};

/// A project whose worker makes this proposal, which a judge approves; `auto_done` is off until the test turns it on.
fn judged(turn: Value, config: &Value) -> Project {
    let plays = scenarios([worker([turn]), agreeing_judge()]);
    let project = Project::new("project", &plays, config);
    project.add_issue("Say it");
    run_all(&project);
    assert_eq!(project.issue("SYM-1")["status"], "review");
    project
}

fn with_evidence(kind: &str, reference: &str) -> Value {
    propose(&json!([{ "kind": kind, "reference": reference }]))
}

fn status(project: &Project) -> String {
    text(&project.issue("SYM-1")["status"])
}

/// The text of what waits in review, and the commands that answer it.
fn waits(project: &Project) -> (String, String) {
    let waits = project.first_waiting("review");
    (text(&waits["text"]), waits["answers"].to_string())
}

fn refused(project: &Project, why: &str) {
    let answer = project.symphony(&["done", "approve", "SYM-1"]);
    assert_eq!(answer.code, 4, "{answer:#?}");
    assert!(answer.stderr.contains(why), "{answer:#?}");
    assert!(answer.stderr.contains("issue close SYM-1"), "{answer:#?}");
}

#[test]
fn a_gate_that_is_added_after_the_verdict_runs_before_anybody_confirms() {
    let project = judged(propose_with_readme(), &json!({}));
    let check = json!({ "name": "check", "command": "test -e README.md" });
    let md = json!({ "name": "md", "command": "test -e none.md" });
    project.configure_more(&json!({ "auto_done": true, "gates": [check, md] }));
    run_all(&project);
    assert_eq!(status(&project), "review");
    refused(&project, "gate md is red");
    let md = json!({ "name": "md", "command": "test -e README.md" });
    project.configure_more(&json!({ "auto_done": true, "gates": [check, md] }));
    until("the gates that were changed", || {
        project.tick_wait();
        (status(&project) == "done").then_some(())
    });
    project.assert_sound();
}

#[test]
fn a_project_without_gates_leaves_the_confirmation_to_a_person() {
    let config = json!({ "auto_done": true, "gates": [] });
    let project = judged(propose_with_readme(), &config);
    let (said, answers) = waits(&project);
    assert!(said.contains("no required gate verifies it"), "{said}");
    assert!(answers.contains("symphony done approve SYM-1"), "{answers}");
    let done = project.symphony(&["done", "approve", "SYM-1"]);
    assert_eq!(done.code, 0, "{done:#?}");
    let told = format!("{}{}", done.stdout, done.stderr);
    assert!(
        told.contains("although no required gate verifies it"),
        "{told}"
    );
    assert_eq!(status(&project), "done");
    project.assert_sound();
}

#[test]
fn a_sub_task_that_is_open_again_keeps_its_parent_back() {
    let (project, _) = integrate(&json!({}));
    for to in ["todo", "backlog"] {
        project.ok(&["issue", "move", "SYM-3", to]);
    }
    project.configure_more(&json!({ "auto_done": true }));
    run_all(&project);
    assert_eq!(status(&project), "review");
    refused(&project, "sub-task SYM-3 has not ended");
    let (said, answers) = waits(&project);
    assert!(said.contains("sub-task SYM-3 has not ended"), "{said}");
    assert!(!answers.contains("done approve"), "{answers}");
    assert!(answers.contains("symphony explain SYM-3"), "{answers}");
    project.ok(&["issue", "close", "SYM-3", "--done", "--reason", "Still so."]);
    run_all(&project);
    assert_eq!(status(&project), "done");
    project.assert_sound();
}

#[test]
fn what_a_person_adds_after_the_verdict_is_judged_before_symphony_confirms() {
    let project = judged(propose_with_readme(), &json!({}));
    for words in [
        &["issue", "edit", "SYM-1", "--description", "b.txt exists"][..],
        &["issue", "comment", "SYM-1", "b.txt is needed, too"],
    ] {
        project.ok(words);
        assert_eq!(on_parent(&run_all(&project)), ["judge"], "{words:?}");
    }
    assert_eq!(status(&project), "review");
    project.ok(&["issue", "comment", "SYM-1", "And c.txt"]);
    project.configure_more(&json!({ "auto_done": true }));
    let planned = project.ok(&["tick", "--dry-run"]);
    assert!(
        planned.contains("have its proposal judged again"),
        "{planned}"
    );
    // a person needs no judge, and is reminded
    let done = project.symphony(&["done", "approve", "SYM-1"]);
    assert_eq!(done.code, 0, "{done:#?}");
    let told = format!("{}{}", done.stdout, done.stderr);
    assert!(told.contains("edited or commented on the issue"), "{told}");
    project.assert_sound();
}

#[test]
fn files_of_evidence_match_what_the_base_changes_however_they_were_typed() {
    for typed in ["./docs//a.md", "docs/"] {
        let plays = scenarios([worker([with_evidence("file", typed)]), agreeing_judge()]);
        let project = Project::new("project", &plays, &json!({}));
        project.commit_files(&[("docs/a.md", "it is all there\n")]);
        project.add_issue("Say it");
        run_all(&project);
        assert_eq!(status(&project), "review", "{typed}");
        project.git(&["rm", "-q", "docs/a.md"]);
        project.git(&["commit", "-qm", "Remove it"]);
        project.configure_more(&json!({ "auto_done": true }));
        refused(&project, "changed what the evidence is about: docs/a.md");
        project.tick_wait();
        assert_eq!(status(&project), "todo", "{typed}");
        project.assert_sound();
    }
}

#[test]
fn a_gate_as_evidence_has_to_pass_on_the_base_of_now() {
    let project = judged(with_evidence("gate", "check"), &json!({}));
    project.configure_more(&json!({ "auto_done": true }));
    project.commit_files(&[("hello.txt", "broken\n")]);
    run_all(&project);
    assert_eq!(status(&project), "review");
    refused(&project, "gate check is red");
    project.commit_files(&[("hello.txt", "hello\n")]);
    run_all(&project);
    assert_eq!(status(&project), "done");
    project.assert_sound();
}

#[test]
fn gates_run_before_a_person_confirms_on_a_base_that_moved() {
    let project = judged(propose_with_readme(), &json!({}));
    project.commit_files(&[("other.txt", "x")]);
    project.ok(&["done", "approve", "SYM-1"]);
    assert_eq!(status(&project), "done");
    let shown = project.json(&["pr", "show", "SYM-1"]);
    let head = project.git(&["rev-parse", "main"]);
    assert_eq!(shown["gates_merged_with"], head.as_str(), "{shown:#}");
    project.assert_sound();
}

#[test]
fn work_after_the_proposal_waits_for_a_person_whatever_auto_done_says() {
    let late = git_commit("late.txt", "late");
    let turns = [
        propose_with_readme(),
        bash(&format!("echo late > late.txt && {late}")),
    ];
    let plays = scenarios([worker(turns), agreeing_judge()]);
    let project = Project::new("project", &plays, &json!({ "auto_done": true }));
    project.add_issue("Say it");
    run_all(&project);
    assert_eq!(status(&project), "review");
    assert!(project.waiting("left_behind").len() == 1);
    let (said, _) = waits(&project);
    assert!(said.contains("refs/symphony/rescue/SYM-1/"), "{said}");
    let done = project.symphony(&["done", "approve", "SYM-1"]);
    let told = format!("{}{}", done.stdout, done.stderr);
    assert!(told.contains("refs/symphony/rescue/SYM-1/"), "{told}");
    assert_eq!(status(&project), "done");
    project.assert_sound();
}

#[test]
fn an_open_point_is_named_with_the_command_that_closes_it() {
    let config = json!({ "judge_enabled": false });
    let plays = scenarios([
        crate::done::answering_worker(),
        worker([propose_with_readme()]),
    ]);
    let project = Project::new("project", &plays, &config);
    project.add_issue("Say it");
    run_all(&project);
    project.ok(&["done", "reject", "SYM-1", "--feedback", "Where is it?"]);
    run_all(&project);
    let (said, answers) = waits(&project);
    assert!(
        said.contains("review point 1 is open, and only you can close it"),
        "{said}"
    );
    assert!(answers.contains("symphony point close SYM-1"), "{answers}");
    assert!(!answers.contains("done approve"), "{answers}");
    refused(&project, "review point 1 (`must`) is open");
    project.ok(&["point", "close", "SYM-1", "1"]);
    let (_, answers) = waits(&project);
    assert!(answers.contains("done approve"), "{answers}");
    project.assert_sound();
}

#[test]
fn commits_of_a_base_that_was_rewritten_are_no_work_of_the_worker() {
    let turns = [
        propose_with_readme(),
        bash("git log --oneline -5"),
        create_pr("Nothing"),
    ];
    let plays = scenarios([worker(turns), agreeing_judge()]);
    let project = Project::new("project", &plays, &json!({}));
    project.commit_files(&[("other.txt", "x")]);
    project.add_issue("Say it");
    run_all(&project);
    project.git(&["commit", "-q", "--amend", "-m", "In other words"]);
    run_all(&project);
    let issue = project.issue("SYM-1");
    assert_eq!(issue["status"], "review", "{issue:#}");
    let newest = &issue["pull_requests"][0];
    assert_eq!(newest["state"], "approved", "{issue:#}");
    let head = project.git(&["rev-parse", "main"]);
    assert_eq!(newest["head_commit"], head.as_str(), "{newest:#}");
    project.ok(&["done", "approve", "SYM-1"]);
    project.assert_sound();
}

#[test]
fn an_open_proposal_is_named_where_its_issue_or_its_project_goes() {
    let project = judged(propose_with_readme(), &json!({}));
    let id = text(&project.json(&["project", "list"])["items"][0]["id"]);
    let removed = project.ok(&["project", "remove", &id, "--worktrees", "keep"]);
    assert!(
        removed.contains("The proposal that nothing is left to do on SYM-1 was not confirmed"),
        "{removed}"
    );

    let project = judged(propose_with_readme(), &json!({}));
    let closed = project.symphony(&["issue", "close", "SYM-1", "--cancelled", "--reason", "No."]);
    let told = format!("{}{}", closed.stdout, closed.stderr);
    assert!(
        told.contains("Proposal 1 that nothing is left to do is closed"),
        "{told}"
    );
    assert!(!told.contains("its commits are on"), "{told}");
    project.assert_sound();
}

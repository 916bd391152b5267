//! A plan's work that somebody merged outside Symphony: the next tick notices it, and nobody is paid for it any more.

use serde_json::{Value, json};

use crate::plan_support::{any_phase, plan_of};
use crate::support::{JUDGE, Project, approving_judge, hang, scenario, scenarios, text, until};

const BRANCH: &str = "symphony/plan-plan/base";

/// A project whose plan of two phases is in review; no judge has seen it.
fn in_review(judge: Value) -> Project {
    let project = Project::new(
        "project",
        &scenarios([judge, any_phase()]),
        &json!({ "gates": [{ "name": "check", "command": "true" }] }),
    );
    let plan = plan_of(&[("a", &[]), ("b", &["a"])]);
    std::fs::write(project.root.join("plan.md"), plan).unwrap();
    project.ok(&["plan", "run", "plan.md"]);
    project
}

fn status(project: &Project) -> String {
    text(&project.json(&["plan", "status"])["status"])
}

fn notices(project: &Project) -> Vec<Value> {
    let inbox = project.json(&["inbox"]);
    let items = inbox["items"].as_array().unwrap().iter();
    items
        .filter(|item| item["kind"] == "base")
        .cloned()
        .collect()
}

/// Asserts that a tick finds the merge, pays nobody, and cleans up.
fn assert_noticed(project: &Project) {
    let planned = project.ok(&["tick", "--dry-run"]);
    assert!(
        planned.contains("plan plan: record that it was merged outside"),
        "{planned}"
    );
    assert_eq!(status(project), "review", "a dry run writes nothing");
    let runs = project.tick_wait();
    assert!(runs.is_empty(), "nobody is paid: {runs:#?}");
    let plan = project.json(&["plan", "status"]);
    assert_eq!(
        json!([plan["status"], plan["pull_request"]["state"]]),
        json!(["completed", "merged"])
    );
    let pr = project.json(&["pr", "show", "1"]);
    assert_eq!(pr["merged_outside"]["by"], "a person", "{pr:#}");
    assert_eq!(project.git(&["branch", "--list", "symphony/*"]), "");
    let state = std::fs::read_to_string(project.root.join(".symphony-state.json")).unwrap();
    let state: Value = serde_json::from_str(&state).unwrap();
    assert_eq!(state["status"], "completed");
    assert_eq!(project.git(&["show", "main:b.txt"]), "by b");
    project.assert_sound();
    // noticed once
    assert!(project.tick_wait().is_empty());
}

#[test]
fn a_merge_by_hand_completes_the_plan_and_what_was_missing_is_told() {
    let project = in_review(approving_judge());
    project.commit_files(&[("other.txt", "x\n")]);
    project.git(&["merge", "-q", "--no-ff", "-m", "Merge it", BRANCH]);
    assert_noticed(&project);
    let [item] = notices(&project).try_into().unwrap();
    assert_eq!(
        json!([
            item["text"],
            item["title"],
            item["issue"],
            item["answers"][0]
        ]),
        json!([
            "pull request 1 was merged into main outside Symphony by a person, without green gates and without approval",
            "plan plan (plan.md)",
            null,
            "symphony pr show 1"
        ])
    );
    let key = text(&item["key"]);
    let told = project.ok(&["inbox", "--dismiss", &key]);
    assert_eq!(told, "The notice about plan plan is dismissed.\n");
    assert!(notices(&project).is_empty());
    project.assert_sound();
}

#[test]
fn a_squash_of_an_approved_plan_completes_it_without_a_notice() {
    let project = in_review(approving_judge());
    project.tick_wait();
    project.tick_wait();
    assert_eq!(project.json(&["pr", "show", "1"])["state"], "approved");
    project.commit_files(&[("other.txt", "x\n")]);
    project.git(&["merge", "-q", "--squash", BRANCH]);
    project.git(&["commit", "-q", "-m", "Two phases (#1)"]);
    assert_noticed(&project);
    assert!(notices(&project).is_empty());
}

#[test]
fn a_part_of_a_plan_leaves_the_review_open() {
    let project = in_review(approving_judge());
    project.git(&["checkout", "-q", BRANCH, "--", "a.txt"]);
    project.git(&["commit", "-q", "-m", "A part of it"]);
    project.configure_more(&json!({ "judge_enabled": false }));
    project.tick_wait();
    assert_eq!(status(&project), "review");
    project.assert_sound();
}

#[test]
fn a_judge_at_work_is_ended_when_the_plan_was_merged() {
    let judge = scenario("judge", &json!({ "match_system": JUDGE }), [hang()]);
    let project = in_review(judge);
    project.tick_wait();
    project.ok(&["tick"]);
    let live = || project.json(&["runs", "list", "--live"])["items"].clone();
    until("the judge to be at work", || {
        (live()[0]["status"] == "running").then_some(())
    });
    project.git(&["merge", "-q", "--ff-only", BRANCH]);
    project.ok(&["tick"]);
    assert_eq!(status(&project), "completed");
    until("the end of the judge", || {
        (live() == json!([])).then_some(())
    });
    let runs = project.json(&["runs", "list"]);
    assert_eq!(
        json!([runs["items"][0]["profile"], runs["items"][0]["status"]]),
        json!(["judge", "cancelled"])
    );
    project.assert_sound();
}

//! What was green or approved counts for the head and the gates of then: a plan's branch that moves, gates that change, a target that
//! goes away, judges that say nothing, and a merge that is stopped.

use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::plan_support::{any_phase, complete, of_phase, plan_of, write_own};
use crate::support::{
    Answer, JUDGE, Project, approving_judge, bash, commit, create_pr, scenario, scenarios, text,
    until, worker,
};

const BASE: &str = "symphony/plan-plan/base";

fn project_with(gate: &str, scenes: Vec<Value>) -> Project {
    let scenes: Vec<Value> = scenes.into_iter().chain([any_phase()]).collect();
    let config = json!({ "gates": [{ "name": "check", "command": gate }] });
    let project = Project::new("project", &scenarios(scenes), &config);
    std::fs::write(
        project.root.join("plan.md"),
        plan_of(&[("a", &[]), ("b", &["a"])]),
    )
    .unwrap();
    project
}

/// A plan whose pull request is gated and approved.
fn approved() -> Project {
    let project = project_with("true", vec![approving_judge()]);
    project.ok(&["plan", "run", "plan.md"]);
    project.tick_one("gates", "succeeded");
    project.tick_one("judge", "succeeded");
    assert_eq!(pr(&project)["state"], "approved");
    project
}

fn pr(project: &Project) -> Value {
    project.json(&["pr", "show", "1"])
}

/// Adds a commit to the plan's branch, as a person does in a worktree of their own.
fn add_to_base(project: &Project, file: &str) {
    let folder = project.beside.join("mine");
    let folder = folder.to_str().unwrap();
    project.git(&["worktree", "add", "-q", folder, BASE]);
    std::fs::write(format!("{folder}/{file}"), "more\n").unwrap();
    project.git(&["-C", folder, "add", file]);
    project.git(&["-C", folder, "commit", "-qm", "More"]);
    project.git(&["worktree", "remove", "--force", folder]);
}

#[test]
fn a_plans_branch_that_moves_in_review_is_gated_and_judged_anew() {
    let project = approved();
    let old = text(&pr(&project)["head_commit"]);
    add_to_base(&project, "more.txt");
    // nothing is merged of what nobody looked at
    let refused = project.symphony(&["pr", "merge", "1"]);
    assert_eq!(refused.code, 4, "{refused:#?}");
    let told = project.ok(&["tick"]);
    assert!(
        told.contains(
            "its branch has moved, so the gates and the judge check pull request 1 again"
        ),
        "{told}"
    );
    let renewed = pr(&project);
    assert_eq!(renewed["state"], "open", "{renewed:#}");
    assert_eq!(renewed["verdict"], Value::Null, "{renewed:#}");
    assert_eq!(renewed["verified_gates"], Value::Null, "{renewed:#}");
    assert_eq!(
        text(&renewed["head_commit"]),
        project.git(&["rev-parse", BASE])
    );
    assert_ne!(text(&renewed["head_commit"]), old);
    project.assert_sound();
    project.tick_one("gates", "succeeded");
    project.tick_one("judge", "succeeded");
    let diff = project.ok(&["pr", "diff", "1"]);
    assert!(diff.contains("more.txt"), "{diff}");
    project.ok(&["pr", "merge", "1"]);
    assert_eq!(project.git(&["show", "main:more.txt"]), "more");
    project.assert_sound();
}

#[test]
fn a_plans_branch_that_lost_work_in_review_is_told_and_not_reviewed_without_it() {
    let project = approved();
    project.git(&["branch", "-f", BASE, "main"]);
    project.ok(&["tick"]);
    assert_eq!(pr(&project)["state"], "approved");
    let inbox = project.ok(&["inbox"]);
    assert!(inbox.contains(&format!("git branch -f {BASE}")), "{inbox}");
}

#[test]
fn a_person_is_asked_after_three_judges_without_a_verdict() {
    let silent = scenario("judge", &json!({ "match_system": JUDGE }), [bash("true")]);
    let project = project_with("true", vec![silent]);
    project.configure_more(&json!({ "judge_cooldown_ms": 0 }));
    project.ok(&["plan", "run", "plan.md"]);
    project.tick_one("gates", "succeeded");
    let judges = || {
        let runs = project.json(&["runs", "list", "-n", "0"]);
        let runs = runs["items"].as_array().unwrap().clone();
        runs.iter().filter(|run| run["profile"] == "judge").count()
    };
    for _ in 0..6 {
        project.symphony(&["tick", "--wait"]);
    }
    assert_eq!(judges(), 3);
    let inbox = project.ok(&["inbox"]);
    assert!(inbox.contains("symphony pr approve 1"), "{inbox}");
    project.assert_sound();
}

#[test]
fn a_gate_that_was_added_after_the_gates_were_green_runs_before_the_merge() {
    let plan = approved();
    let issue = {
        let scenes = [
            worker([commit("hello.txt", "hello"), create_pr("Say hello")]),
            approving_judge(),
        ];
        let config = json!({ "gates": [{ "name": "check", "command": "true" }] });
        let project = Project::new("project", &scenarios(scenes), &config);
        project.add_issue("Say hello");
        project.tick_one("worker", "succeeded");
        project.tick_one("judge", "succeeded");
        project
    };
    for project in [plan, issue] {
        let check = json!({ "name": "check", "command": "true" });
        for (gates, red) in [
            (
                json!([check, { "name": "new", "command": "false" }]),
                Some("new"),
            ),
            (
                json!([{ "name": "check", "command": "exit 3" }]),
                Some("check"),
            ),
            (json!([{ "name": "check", "command": "true; true" }]), None),
        ] {
            project.configure_more(&json!({ "gates": gates }));
            let merged = project.symphony(&["pr", "merge", "1"]);
            match red {
                Some(red) => {
                    assert_eq!(merged.code, 4, "{merged:#?}");
                    let told = format!(": {red};");
                    assert!(merged.stderr.contains(&told), "{merged:#?}");
                    // what is red now is not what `pr merge` is to find next time
                    project.ok(&["pr", "check", "1", "--no-wait"]);
                    project.configure_more(&json!({ "gates": [check] }));
                    project.symphony(&["tick", "--wait"]);
                }
                None => assert_eq!(merged.code, 0, "{merged:#?}"),
            }
        }
        project.assert_sound();
    }
}

#[test]
fn no_pull_request_is_opened_into_a_branch_that_is_gone() {
    let rename = bash("git -C ../.. branch -m main trunk");
    let renames = scenario(
        "renames",
        &of_phase("b"),
        [write_own(), rename, complete(&json!([]))],
    );
    let project = project_with("true", vec![renames]);
    let refused = project.symphony(&["plan", "run", "plan.md"]);
    assert_eq!(refused.code, 4, "{refused:#?}");
    let told = "the branch `main`, which its work goes into, no longer exists";
    assert!(refused.stderr.contains(told), "{refused:#?}");
    assert_eq!(project.json(&["pr", "list"])["items"], json!([]));
    project.git(&["branch", "-m", "trunk", "main"]);
    project.ok(&["plan", "run", "plan.md"]);
    assert_eq!(pr(&project)["base"], "main");
    project.assert_sound();
}

#[test]
fn no_plan_begins_on_the_branch_of_another_one() {
    let project = approved();
    project.git(&["switch", "-q", BASE]);
    std::fs::write(project.root.join("other.md"), plan_of(&[("x", &[])])).unwrap();
    let refused = project.symphony(&["plan", "run", "other.md"]);
    assert_eq!(refused.code, 4, "{refused:#?}");
    assert!(refused.stderr.contains("git switch"), "{refused:#?}");
    project.git(&["switch", "-q", "main"]);
    project.ok(&["plan", "run", "other.md"]);
}

#[test]
fn ctrl_c_ends_the_gates_of_a_merge() {
    let project = project_with("sleep 30", vec![]);
    project.ok(&["plan", "run", "plan.md"]);
    let before = project.git(&["rev-parse", "main"]);
    let merge = project
        .command(&["pr", "merge", "1"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let gates = || {
        let found = project.processes();
        found.iter().any(|line| line.contains("sleep 30"))
    };
    until("the gates to run", || gates().then_some(()));
    let begun = Instant::now();
    kill_process(Pid::from_child(&merge), Signal::INT).unwrap();
    let answer = Answer::from(merge.wait_with_output().unwrap());
    assert!(begun.elapsed() < Duration::from_secs(20), "{answer:#?}");
    assert_eq!(answer.code, 4, "{answer:#?}");
    assert!(answer.stderr.contains("you stopped"), "{answer:#?}");
    assert!(!gates(), "nothing of it is left");
    assert_eq!(project.git(&["rev-parse", "main"]), before);
    assert_eq!(pr(&project)["state"], "open");
}

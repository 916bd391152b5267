//! `explain` says why a plan waits, or what runs it, as it does for issues.

use serde_json::{Value, json};

use crate::plan_support::{PlanRun, any_phase, gated, open_gate, plan_of, until_at_gate};
use crate::support::{Project, approving_judge, scenarios};

fn project(scenes: Vec<Value>) -> Project {
    let project = Project::new(
        "project",
        &scenarios(scenes),
        &json!({ "gates": [{ "name": "check", "command": "true" }] }),
    );
    let plan = plan_of(&[("a", &[]), ("b", &["a"])]);
    std::fs::write(project.root.join("plan.md"), plan).unwrap();
    project
}

/// What `explain` says: the status, and the lines after it.
fn explained(project: &Project) -> String {
    let text = project.ok(&["explain", "plan.md"]);
    assert!(
        text.starts_with("Plan plan (plan.md)\nstatus        "),
        "{text}"
    );
    text.trim_end()
        .replace("Plan plan (plan.md)\nstatus        ", "")
}

#[test]
fn each_step_of_a_review_is_explained() {
    let project = project(vec![approving_judge(), any_phase()]);
    project.ok(&["plan", "run", "plan.md"]);
    assert_eq!(
        explained(&project),
        "review\nThe next tick will do this: plan plan: run its gates."
    );
    assert_eq!(
        project.json(&["explain", "plan"])["standing"]["state"],
        "runnable"
    );
    project.tick_wait();
    let text = explained(&project);
    assert!(
        text.contains("plan plan: start a judge with scripted"),
        "{text}"
    );
    project.tick_wait();
    assert_eq!(
        explained(&project),
        "review\nIt is waiting because:\n- pull request 1 of plan plan is approved and waits for you to merge it: \
         `symphony pr show 1` or `symphony pr merge 1` or `symphony pr reject 1 --feedback TEXT`"
    );
    assert_eq!(
        project.json(&["explain", "plan"])["standing"]["state"],
        "waits_for_person"
    );
    project.ok(&["pr", "merge", "plan"]);
    assert_eq!(explained(&project), "completed");
    assert_eq!(project.json(&["explain", "plan"])["standing"], Value::Null);
}

#[test]
fn what_runs_and_what_waits_for_it_is_explained() {
    let project = project(vec![]);
    let gate = gated(project.beside.to_str().unwrap(), "a");
    let file = scenarios([gate, any_phase()]).to_string();
    std::fs::write(project.beside.join("scenario.json"), file).unwrap();
    let run = PlanRun::start(&project, &["plan.md"]);
    until_at_gate(&project, "a");
    let text = explained(&project);
    for part in [
        "running\nAn agent is working on phase a: run ",
        "It is waiting because:\n- phase b is pending: waits for a",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    run.kill();
    open_gate(&project, "a");
    crate::support::until("the phase to end", || {
        let plan = project.json(&["plan", "status"]);
        (plan["completed"] == 1).then_some(())
    });
    let text = explained(&project);
    for part in [
        "plan plan (plan.md) is under way, but no command is running it: `symphony plan run --plan plan`",
        "- phase b is ready",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    project.ok(&["plan", "pause"]);
    let text = explained(&project);
    assert!(
        text.contains("plan plan (plan.md) is paused and starts no phase: `symphony plan resume"),
        "{text}"
    );
    project.ok(&["plan", "abort"]);
    let text = explained(&project);
    assert!(text.starts_with("aborted\n"), "{text}");
    assert!(text.contains("--retry-failed"), "{text}");
}

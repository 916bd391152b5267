//! Plans that have ended with work that the user's branch does not have: in the inbox, until somebody takes it over.

use serde_json::{Value, json};

use crate::plan_support::{any_phase, failed, of_phase, plan_of};
use crate::support::{Project, scenario, scenarios, text};

/// The items of the inbox that are about plans: text and answers.
fn waiting(project: &Project) -> Vec<(String, Vec<String>)> {
    let inbox = project.json(&["inbox"]);
    let items = inbox["items"].as_array().unwrap().iter();
    items
        .filter(|item| item["kind"] == "plan")
        .map(|item| {
            let answers = item["answers"].as_array().unwrap().iter();
            (text(&item["text"]), answers.map(text).collect())
        })
        .collect()
}

fn project(scenes: Vec<Value>) -> Project {
    let project = Project::new("project", &scenarios(scenes), &json!({ "gates": [] }));
    let plan = plan_of(&[("a", &[]), ("b", &["a"])]);
    std::fs::write(project.root.join("plan.md"), plan).unwrap();
    project.git(&["add", "plan.md"]);
    project.git(&["commit", "-qm", "a plan"]);
    project
}

#[test]
fn a_plan_that_was_given_up_with_complete_phases_waits_until_they_are_merged() {
    let broken = scenario("b", &of_phase("b"), [failed("3 tests failed")]);
    let project = project(vec![broken, any_phase()]);
    let answer = project.symphony(&[
        "plan",
        "run",
        "--merge",
        "plan.md",
        "--on-failure",
        "abort-all",
    ]);
    assert_eq!(answer.code, 1, "{answer:#?}");
    let found = waiting(&project);
    let [(about, answers)] = found.as_slice() else {
        panic!("{found:#?}")
    };
    assert_eq!(
        about,
        "plan plan (plan.md) has ended as aborted with 1 of 2 phases complete: their work is on symphony/plan-plan/base, not on main"
    );
    assert_eq!(
        answers,
        &[
            "symphony plan run --plan plan --retry-failed",
            "git merge symphony/plan-plan/base",
            "git branch -D symphony/plan-plan/base",
            "symphony plan status --plan plan"
        ]
    );
    project.git(&["merge", "-q", "symphony/plan-plan/base"]);
    project.ok(&["tick", "--wait"]);
    assert_eq!(waiting(&project), []);
}

#[test]
fn a_plan_whose_merge_was_refused_stays_in_review_until_it_is_merged() {
    let project = project(vec![any_phase()]);
    std::fs::write(project.root.join("a.txt"), "in the way\n").unwrap();
    let answer = project.symphony(&["plan", "run", "--merge", "plan.md"]);
    assert_eq!(answer.code, 4, "{answer:#?}");
    assert!(
        answer.stderr.contains("it has changes in a.txt"),
        "{answer:#?}"
    );
    assert_eq!(project.json(&["plan", "status"])["status"], "review");
    std::fs::remove_file(project.root.join("a.txt")).unwrap();
    project.ok(&["plan", "run", "--merge", "--plan", "plan"]);
    assert_eq!(waiting(&project), []);
}

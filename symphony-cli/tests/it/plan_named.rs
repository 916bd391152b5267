//! A plan names its pull request, by its id or by its file.

use serde_json::json;

use crate::plan_support::{any_phase, failed, of_phase, plan_of};
use crate::support::{Project, scenario, scenarios};

fn project(file: &str) -> Project {
    let project = Project::new(
        "project",
        &scenarios([any_phase()]),
        &json!({ "gates": [{ "name": "check", "command": "true" }] }),
    );
    std::fs::write(project.root.join(file), plan_of(&[("a", &[])])).unwrap();
    project
}

#[test]
fn a_plan_names_its_pull_request_by_id_and_by_file() {
    let project = project("ship.md");
    let refused = |name: &str, code: i32, part: &str| {
        let answer = project.symphony(&["pr", "show", name]);
        assert_eq!(answer.code, code, "{answer:#?}");
        assert!(answer.stderr.contains(part), "{answer:#?}");
    };
    refused(
        "ship",
        3,
        "no issue has the identifier `ship`, and no plan has this id or file",
    );
    refused("SYM-7", 3, "issue `SYM-7`");
    refused("what?", 2, "an issue such as SYM-12, or a plan");
    project.ok(&["plan", "run", "ship.md"]);
    for name in ["1", "ship", "ship.md", "./ship.md", "plan ship"] {
        let pr = project.json(&["pr", "show", name]);
        assert_eq!(
            json!([pr["id"], pr["plan"]]),
            json!(["1", "ship"]),
            "{name}"
        );
    }
    // the newest, when none is open
    project.ok(&["pr", "close", "ship"]);
    assert_eq!(project.json(&["pr", "show", "ship"])["state"], "closed");
    project.ok(&["plan", "resume"]);
    project.ok(&["plan", "run", "--plan", "ship"]);
    assert_eq!(project.json(&["pr", "show", "ship"])["id"], "2");
    project.ok(&["pr", "check", "ship"]);
    project.ok(&["pr", "approve", "ship"]);
    project.ok(&["pr", "merge", "ship.md"]);
    assert_eq!(project.json(&["plan", "status"])["status"], "completed");
}

#[test]
fn a_plan_without_a_pull_request_says_when_there_is_one() {
    let fails = scenario("fails", &of_phase("a"), [failed("3 tests failed")]);
    let project = Project::new("project", &scenarios([fails]), &json!({ "gates": [] }));
    std::fs::write(project.root.join("ship.md"), plan_of(&[("a", &[])])).unwrap();
    let ended = project.symphony(&["plan", "run", "ship.md", "--on-failure", "abort-all"]);
    assert_eq!(ended.code, 1, "{ended:#?}");
    let answer = project.symphony(&["pr", "show", "ship"]);
    assert_eq!(answer.code, 3, "{answer:#?}");
    assert!(
        answer.stderr.contains("plan ship has no pull request yet")
            && answer
                .stderr
                .contains("opened when every phase is complete"),
        "{answer:#?}"
    );
}

#[test]
fn an_issue_comes_before_a_plan_of_the_same_name() {
    let project = project("sym-1.md");
    project.ok(&["plan", "run", "sym-1.md"]);
    assert_eq!(project.json(&["pr", "show", "sym-1"])["plan"], "sym-1");
    project.add_issue("Say hello");
    let answer = project.symphony(&["pr", "show", "sym-1"]);
    assert!(
        answer.stderr.contains("SYM-1 has no pull request yet"),
        "{answer:#?}"
    );
    assert_eq!(project.json(&["pr", "show", "sym-1.md"])["plan"], "sym-1");
}

//! Phases of plans and issues share the installation: its slots, and what a project may spend.

use serde_json::{Value, json};

use crate::plan_support::{
    PLAN_WORKER, PlanRun, any_phase, complete, gated, of_phase, open_gate, phase, plan_of,
    run_statuses, until_phase, write_own,
};
use crate::support::{Project, WORKER, bash, hang, on_one_day, scenario, scenarios, text};

fn live(project: &Project) -> Vec<String> {
    let runs = project.json(&["runs", "list", "--live"]);
    let name = |run: &Value| match run["issue"].as_str() {
        Some(issue) => issue.to_owned(),
        None => text(&run["plan_phase"]),
    };
    let mut names: Vec<String> = runs["items"].as_array().unwrap().iter().map(name).collect();
    names.sort();
    names
}

/// Most runs at once, by their recorded starts and ends.
fn most_at_once(project: &Project) -> i32 {
    let runs = project.json(&["runs", "list", "-n", "0"]);
    let mut moments: Vec<(String, i32)> = Vec::new();
    for run in runs["items"].as_array().unwrap() {
        // fractions have no fixed length: without what follows them they sort like the times
        let sortable = |name: &str| text(&run[name]).trim_end_matches('Z').to_owned();
        moments.push((sortable("started_at"), 1));
        moments.push((sortable("ended_at"), -1));
    }
    moments.sort();
    let (mut now, mut most) = (0, 0);
    for (_, step) in moments {
        now += step;
        most = most.max(now);
    }
    most
}

#[test]
fn two_slots_are_two_slots_for_plans_and_issues_together() {
    let config = json!({ "max_concurrent_agents": 2, "judge_enabled": false, "gates": [] });
    let project = Project::new("project", &json!({ "scenarios": [] }), &config);
    let beside = project.beside.to_str().unwrap();
    let wait =
        format!("touch '{beside}/at-issue'; until [ -e '{beside}/go-issue' ]; do sleep 0.02; done");
    let file = scenarios([
        scenario("works", &json!({ "match_system": WORKER }), [bash(&wait)]),
        gated(beside, "one"),
        gated(beside, "two"),
        any_phase(),
    ]);
    std::fs::write(project.beside.join("scenario.json"), file.to_string()).unwrap();
    let phases: [(&str, &[&str]); 3] = [("one", &[]), ("two", &[]), ("three", &[])];
    std::fs::write(project.root.join("plan.md"), plan_of(&phases)).unwrap();
    for title in ["First", "Second", "Third"] {
        project.add_issue(title);
    }
    // issues have both slots: the plan begins, and waits
    project.json(&["tick"]);
    let at_work = live(&project);
    assert_eq!(at_work.len(), 2, "{at_work:?}");
    let run = PlanRun::start(&project, &["plan.md", "--json"]);
    until_phase(&project, "one", "ready");
    assert_eq!(live(&project), at_work);

    // phases have both: issues wait
    open_gate(&project, "issue");
    until_phase(&project, "one", "running");
    until_phase(&project, "two", "running");
    assert_eq!(live(&project), ["one", "two"]);
    assert_eq!(phase(&project, "three")["status"], "ready");
    let tick = project.json(&["tick"]);
    assert_eq!(tick["runs"], json!([]), "{tick:#}");
    let reasons = tick["decisions"].to_string();
    assert!(reasons.contains("no_slot"), "{reasons}");

    // one each
    open_gate(&project, "one");
    open_gate(&project, "two");
    let answer = run.answer();
    assert_eq!(answer.code, 0, "{answer:#?}");
    assert_eq!(most_at_once(&project), 2);
    project.assert_sound();
}

#[test]
fn phases_that_end_at_the_same_moment_keep_the_work_of_all() {
    const NAMES: [&str; 4] = ["a", "b", "c", "d"];
    let config = json!({ "max_concurrent_agents": 4, "judge_enabled": false, "gates": [] });
    let project = Project::new("project", &json!({ "scenarios": [] }), &config);
    let gate = project.beside.join("go");
    let wait = format!("until [ -e '{}' ]; do sleep 0.02; done", gate.display());
    let turns = [bash(&wait), write_own(), complete(&json!([]))];
    let file = scenarios([scenario(
        "any phase",
        &json!({ "match_system": PLAN_WORKER }),
        turns,
    )]);
    std::fs::write(project.beside.join("scenario.json"), file.to_string()).unwrap();
    std::fs::write(
        project.root.join("plan.md"),
        plan_of(&NAMES.map(|name| (name, &[][..]))),
    )
    .unwrap();
    let run = PlanRun::start(&project, &["plan.md", "--json"]);
    for name in NAMES {
        until_phase(&project, name, "running");
    }
    std::fs::write(gate, "").unwrap();
    // one that takes the merge of another for a loss would wait for a person
    for name in NAMES {
        until_phase(&project, name, "complete");
    }
    let answer = run.answer();
    assert_eq!(answer.code, 0, "{answer:#?}");
    for name in NAMES {
        assert!(project.root.join(format!("{name}.txt")).exists(), "{name}");
    }
    project.assert_sound();
}

#[test]
fn what_issues_have_spent_holds_phases_too() {
    on_one_day(hold_phases);
}

fn hold_phases() {
    let mut dear = bash("echo at work");
    dear["usage"] = json!({ "input_tokens": 4980, "output_tokens": 20 });
    let config = json!({ "spending": { "day": { "tokens": 3000 } }, "judge_enabled": false });
    let play = scenarios([
        scenario("dear", &json!({ "match_system": WORKER }), [dear, hang()]),
        scenario("cheap", &of_phase("only"), [complete(&json!([]))]),
    ]);
    let project = Project::new("project", &play, &config);
    std::fs::write(project.root.join("plan.md"), plan_of(&[("only", &[])])).unwrap();
    project.add_issue("Spend");
    project.tick_wait();
    let run = PlanRun::start(&project, &["plan.md", "--json"]);
    until_phase(&project, "only", "ready");
    let holds = project.json(&["status"])["holds"].clone();
    assert_eq!(holds.as_array().map(Vec::len), Some(1), "{holds:#}");
    assert_eq!(run_statuses(&project, "plan", "only"), [""; 0]);
    // a person raises the cap: the plan goes on
    project.ok(&["config", "set", "spending.day.tokens", "1000000"]);
    let answer = run.answer();
    assert_eq!(answer.code, 0, "{answer:#?}");
    assert_eq!(run_statuses(&project, "plan", "only"), ["succeeded"]);
}

#[test]
fn a_limit_that_is_changed_holds_for_a_plan_at_work() {
    let config = json!({ "max_concurrent_agents": 1, "gates": [] });
    let project = Project::new("project", &json!({ "scenarios": [] }), &config);
    let beside = project.beside.to_str().unwrap();
    let file = scenarios([gated(beside, "one"), gated(beside, "two"), any_phase()]);
    std::fs::write(project.beside.join("scenario.json"), file.to_string()).unwrap();
    std::fs::write(
        project.root.join("plan.md"),
        plan_of(&[("one", &[]), ("two", &[])]),
    )
    .unwrap();
    let run = PlanRun::start(&project, &["plan.md"]);
    until_phase(&project, "one", "running");
    assert_eq!(phase(&project, "two")["status"], "ready");
    project.configure_more(&json!({ "max_concurrent_agents": 2 }));
    until_phase(&project, "two", "running");
    assert_eq!(live(&project), ["one", "two"]);
    open_gate(&project, "one");
    open_gate(&project, "two");
    let answer = run.answer();
    assert_eq!(answer.code, 0, "{answer:#?}");
}

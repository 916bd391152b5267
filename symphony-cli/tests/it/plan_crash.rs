//! Plans whose loop, supervisors or both are killed: the next `plan run`, or a tick, takes over and ends in the same result.

use serde_json::json;

use crate::plan_support::{
    PlanRun, gated, open_gate, phase, plan_of, run_statuses, runs_of, until_at_gate, until_phase,
};
use crate::support::{Project, agents_of, kill, scenarios, supervisor_of, text, until};

const PHASES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// a, then b and c, then d; e alone. Each waits for its gate.
fn project(config: &serde_json::Value) -> Project {
    let mut config = config.clone();
    config["gates"] = json!([]);
    let project = Project::new("project", &json!({ "scenarios": [] }), &config);
    let beside = project.beside.to_str().unwrap();
    let file = scenarios(PHASES.map(|id| gated(beside, id)));
    std::fs::write(project.beside.join("scenario.json"), file.to_string()).unwrap();
    let plan = plan_of(&[
        ("a", &[]),
        ("b", &["a"]),
        ("c", &["a"]),
        ("d", &["b", "c"]),
        ("e", &[]),
    ]);
    std::fs::write(project.root.join("plan.md"), plan).unwrap();
    project
}

fn assert_result(project: &Project) {
    for id in PHASES {
        assert_eq!(
            project.git(&["show", &format!("main:{id}.txt")]),
            format!("by {id}")
        );
    }
    assert_eq!(project.git(&["branch", "--list", "symphony/*"]), "");
    for run in project.json(&["runs", "list", "--plan", "plan", "-n", "0"])["items"]
        .as_array()
        .unwrap()
    {
        assert_eq!(agents_of(&text(&run["id"])), [""; 0]);
    }
}

#[test]
fn plan_run_is_killed_again_and_again_and_no_complete_phase_runs_twice() {
    let project = project(&json!({}));
    // killed while two phases are at work: their supervisors go on and record their ends
    let run = PlanRun::start(&project, &["plan.md"]);
    until_at_gate(&project, "a");
    until_at_gate(&project, "e");
    run.kill();
    open_gate(&project, "a");
    until_phase(&project, "a", "complete");
    assert_eq!(phase(&project, "b")["status"], "ready", "nobody starts it");

    // another one re-attaches, and is killed too
    let run = PlanRun::start(&project, &["plan.md"]);
    until_at_gate(&project, "b");
    until_at_gate(&project, "c");
    run.kill();
    assert_eq!(phase(&project, "e")["status"], "running");

    // a second one at a time is told apart from the first
    let run = PlanRun::start(&project, &["plan.md"]);
    let busy = project.symphony(&["plan", "run", "--merge", "plan.md"]);
    assert_eq!(busy.code, 5, "{busy:#?}");
    assert!(
        busy.stderr.contains("another process is running plan plan"),
        "{busy:#?}"
    );
    for id in PHASES {
        open_gate(&project, id);
    }
    let answer = run.answer();
    assert_eq!(answer.code, 0, "{answer:#?}");
    assert_result(&project);
    for id in PHASES {
        assert_eq!(run_statuses(&project, "plan", id), ["succeeded"], "{id}");
    }
}

#[test]
fn a_phase_whose_supervisor_was_killed_runs_again_and_uses_no_attempt() {
    let project = project(&json!({}));
    let run = PlanRun::start(&project, &["plan.md"]);
    until_at_gate(&project, "a");
    until_at_gate(&project, "e");
    run.kill();
    let lost = text(&runs_of(&project, "plan", "a")[0]["id"]);
    let supervisor = supervisor_of(&lost);
    kill(supervisor.unwrap_or_else(|| panic!("{:#}", project.run(&lost))));
    for id in PHASES {
        open_gate(&project, id);
    }
    let answer = PlanRun::start(&project, &["plan.md"]).answer();
    assert_eq!(answer.code, 0, "{answer:#?}");
    assert_result(&project);
    assert_eq!(
        run_statuses(&project, "plan", "a"),
        ["crashed", "succeeded"]
    );
    assert_eq!(run_statuses(&project, "plan", "e"), ["succeeded"]);
    let a = phase(&project, "a");
    assert_eq!(json!([a["attempts"], a["retry_count"]]), json!([1, 0]));
}

#[test]
fn ticks_take_a_plan_over_where_they_may() {
    let project = project(&json!({ "plan": { "by_tick": true } }));
    let run = PlanRun::start(&project, &["plan.md"]);
    until_at_gate(&project, "a");
    run.kill();
    for id in PHASES {
        open_gate(&project, id);
    }
    // a tick opens the pull request of what the phases made
    until("ticks to open the pull request", || {
        project.json(&["tick"]);
        (project.json(&["plan", "status"])["status"] == "review").then_some(())
    });
    project.ok(&["pr", "merge", "1"]);
    assert_result(&project);
    for id in PHASES {
        assert_eq!(run_statuses(&project, "plan", id), ["succeeded"], "{id}");
    }
}

#[test]
fn a_tick_that_waits_waits_for_phases_too() {
    let project = project(&json!({ "plan": { "by_tick": true } }));
    let run = PlanRun::start(&project, &["plan.md"]);
    until_at_gate(&project, "a");
    until_at_gate(&project, "e");
    run.kill();
    for id in PHASES {
        open_gate(&project, id);
    }
    let mut ended = Vec::new();
    until("ticks to end the plan", || {
        let tick = project.json(&["tick", "--wait"]);
        for run in tick["runs"].as_array().unwrap() {
            ended.push((text(&run["plan_phase"]), text(&run["status"])));
        }
        (project.json(&["plan", "status"])["status"] == "review").then_some(())
    });
    // a and e were at work, and may have ended before the first tick
    ended.retain(|(phase, _)| !matches!(phase.as_str(), "a" | "e"));
    ended.sort();
    let succeeded = |id: &str| (id.to_owned(), "succeeded".to_owned());
    assert_eq!(ended, ["b", "c", "d"].map(succeeded));
}

#[test]
fn a_plan_that_is_given_up_ends_the_runs_at_work() {
    let project = project(&json!({}));
    let run = PlanRun::start(&project, &["plan.md", "--json"]);
    until_at_gate(&project, "a");
    until_at_gate(&project, "e");
    project.ok(&["plan", "pause"]);
    assert_eq!(project.json(&["plan", "status"])["status"], "paused");
    project.ok(&["plan", "resume"]);
    project.ok(&["plan", "abort", "e"]);
    project.ok(&["plan", "abort"]);
    let answer = run.answer();
    assert_eq!(answer.code, 1, "{answer:#?}");
    let summary = answer.json();
    assert_eq!(
        json!([summary["status"], summary["completed"]]),
        json!(["aborted", 0])
    );
    for id in ["a", "e"] {
        assert_eq!(run_statuses(&project, "plan", id), ["cancelled"]);
    }
    assert_eq!(
        project.git(&["rev-parse", "main"]),
        project.git(&["rev-parse", "HEAD"])
    );

    // it can be taken up again
    for id in PHASES {
        open_gate(&project, id);
    }
    let summary = project.json(&["plan", "run", "--merge", "--retry-failed"]);
    assert_eq!(
        json!([summary["status"], summary["completed"]]),
        json!(["completed", 5])
    );
    assert_result(&project);
}

//! Orders to plans under way: those that do not fit say what does, those that do hold whether anybody is at work or not.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::plan_support::{
    PlanRun, any_phase, failed, gated, of_phase, open_gate, phase, plan_of, run_statuses,
    until_at_gate, until_phase,
};
use crate::support::{Project, scenario, scenarios, text, until};

/// A project with a plan: `gated` waits for a file, `bad` fails for good, `flaky` once in passing.
fn project(phases: &[(&str, &[&str])]) -> Project {
    let project = Project::new(
        "orders",
        &json!({ "scenarios": [] }),
        &json!({ "gates": [] }),
    );
    let beside = project.beside.to_str().unwrap();
    let mut first_flaky = of_phase("flaky");
    first_flaky["uses"] = json!(1);
    let scenarios = scenarios([
        gated(beside, "gated"),
        gated(beside, "other"),
        scenario(
            "bad",
            &of_phase("bad"),
            [failed("3 tests failed: expected 1 but got 2")],
        ),
        scenario(
            "flaky",
            &first_flaky,
            [failed("read ECONNRESET: connection reset by peer")],
        ),
        any_phase(),
    ]);
    std::fs::write(project.beside.join("scenario.json"), scenarios.to_string()).unwrap();
    std::fs::write(project.root.join("plan.md"), plan_of(phases)).unwrap();
    project
}

fn state_file(project: &Project) -> Value {
    let text = std::fs::read_to_string(project.root.join(".symphony-state.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Every order of the table ends with its code, and says that on standard error.
fn assert_answers(project: &Project, table: &[(&[&str], i32, &str)]) {
    for (order, code, said) in table {
        let answer = project.symphony(&[&["plan"], *order].concat());
        assert_eq!(answer.code, *code, "{order:?}: {answer:#?}");
        assert!(answer.stderr.contains(said), "{order:?}: {answer:#?}");
    }
}

#[test]
fn an_order_that_does_not_fit_says_what_does() {
    let project = project(&[
        ("ok", &[]),
        ("bad", &[]),
        ("behind", &["bad"]),
        ("gated", &[]),
    ]);
    let run = PlanRun::start(&project, &["plan.md"]);
    until_at_gate(&project, "gated");
    until_phase(&project, "bad", "awaiting_decision");
    until_phase(&project, "ok", "complete");
    assert_answers(
        &project,
        &[
            (&["skip", "ok"], 4, "hint: a complete phase stays as it is"),
            (&["retry", "ok"], 4, "phase `ok` is complete"),
            (&["decide", "ok", "skip_phase"], 4, "phase `ok` is complete"),
            (
                &["skip", "gated"],
                4,
                "hint: `symphony plan abort --plan plan gated` ends its run",
            ),
            (&["retry", "gated"], 4, "phase `gated` is running"),
            (
                &["retry", "behind"],
                4,
                "hint: it starts automatically when it can; `symphony plan skip --plan plan behind`",
            ),
            (
                &["decide", "behind", "skip_phase"],
                4,
                "phase `behind` is pending",
            ),
            (
                &["abort", "nowhere"],
                3,
                "hint: `symphony plan status --plan plan` names its phases",
            ),
            (
                &["decide", "bad", "give-up"],
                2,
                "retry_once_more, skip_phase, abort_branch, abort_all",
            ),
            // an order that was carried out already is no mistake
            (&["resume"], 0, ""),
            (&["pause"], 0, ""),
            (&["pause"], 0, ""),
            (&["retry"], 0, "there is nothing to retry"),
            (&["resume"], 0, ""),
        ],
    );
    let status = project.ok(&["plan", "status"]);
    assert!(status.contains("waits for bad"), "{status}");
    assert!(
        !status.contains("No command is running this plan"),
        "{status}"
    );
    run.kill();
    let status = project.ok(&["plan", "status"]);
    assert!(
        status.ends_with(
            "\nNo command is running this plan: `symphony plan run --plan plan` continues it.\n"
        ),
        "{status}"
    );

    // nobody is at work, and yet the plan is given up: its runs are ended, then the plan is
    project.ok(&["plan", "abort"]);
    until("the plan to end", || {
        (project.json(&["plan", "status"])["status"] == "aborted").then_some(())
    });
    assert_eq!(run_statuses(&project, "plan", "gated"), ["cancelled"]);
    let graph = project.ok(&["plan", "graph", "--plan", "plan"]);
    assert!(
        graph.contains("  gated [aborted]: Title of gated\n"),
        "{graph}"
    );
    assert_answers(
        &project,
        &[
            (
                &["pause"],
                4,
                "hint: `symphony plan retry --plan plan` retries what failed",
            ),
            (&["resume"], 4, "the plan is aborted"),
            (&["abort"], 0, ""),
            (
                &["decide", "bad", "skip_phase"],
                4,
                "hint: `symphony plan retry --plan plan bad` tries it again",
            ),
        ],
    );
    until("the state file to tell", || {
        (state_file(&project)["status"] == "aborted").then_some(())
    });
    project.assert_sound();

    // what it left is removed on request; its branches are there for another attempt
    let before = project.git(&["branch", "--format", "%(refname:short)"]);
    let clean = project.json(&["clean"]);
    let phases = ["bad", "gated"].map(|phase| json!({ "plan": "plan", "phase": phase }));
    assert_eq!(clean["plan_worktrees"], json!(phases));
    assert_eq!(project.ok(&["clean"]), "Nothing to remove.\n");
    assert_eq!(project.git(&["worktree", "list"]).lines().count(), 1);
    let after = project.git(&["branch", "--format", "%(refname:short)"]);
    assert_eq!(before.lines().count(), 4, "{before}");
    assert_eq!(
        after, "main\nsymphony/plan-plan/base",
        "nothing was committed on the others"
    );
    open_gate(&project, "gated");
    let orders = [
        "plan",
        "run",
        "--merge",
        "--retry-failed",
        "--on-failure",
        "skip",
    ];
    assert_eq!(project.json(&orders)["status"], "completed");
}

#[test]
fn a_plan_that_another_process_has_is_left_as_it_is() {
    let project = project(&[("gated", &[]), ("flaky", &[])]);
    let run = PlanRun::start(&project, &["plan.md", "--max-parallel", "3"]);
    until_at_gate(&project, "gated");
    let before = project.json(&["plan", "status"])["options"].clone();
    project.ok(&["plan", "pause"]);
    std::fs::write(
        project.root.join("plan.md"),
        plan_of(&[("gated", &[]), ("flaky", &[]), ("more", &[])]),
    )
    .unwrap();
    let orders = [
        "plan",
        "run",
        "--max-parallel",
        "1",
        "--no-retry",
        "--on-failure",
        "skip",
        "--accept-changes",
    ];
    let busy = project.symphony(&orders);
    assert_eq!(busy.code, 5, "{busy:#?}");
    assert!(
        busy.stderr
            .contains("hint: `symphony plan status --plan plan` shows how far it is"),
        "{busy:#?}"
    );
    let after = project.json(&["plan", "status"]);
    assert_eq!(
        json!([after["options"], after["status"], after["total"]]),
        json!([before, "paused", 2])
    );

    project.ok(&["plan", "resume"]);
    until_phase(&project, "flaky", "complete");
    open_gate(&project, "gated");
    let answer = run.answer();
    assert_eq!(answer.code, 0, "{answer:#?}");
    assert!(
        answer
            .stderr
            .contains("\nflaky: a fault of the network or a service: "),
        "what becomes of a failed attempt is told: {answer:#?}"
    );
    assert!(answer.stderr.contains("; attempt 2 in "), "{answer:#?}");
}

#[test]
fn what_ends_while_nobody_watches_is_told_and_the_plan_goes_on_without_its_file() {
    let project = project(&[("gated", &[]), ("other", &["gated"])]);
    let run = PlanRun::start(&project, &["plan.md"]);
    until_at_gate(&project, "gated");
    run.kill();
    open_gate(&project, "gated");
    until("the state file to tell that the phase is complete", || {
        (state_file(&project)["phases"]["gated"]["status"] == "complete").then_some(())
    });
    assert_eq!(state_file(&project)["phases"]["other"]["status"], "ready");

    std::fs::remove_file(project.root.join("plan.md")).unwrap();
    for arguments in [
        &["plan", "run", "--merge", "plan.md"][..],
        &["plan", "run", "--merge"],
    ] {
        let gone = project.symphony(arguments);
        assert_eq!(gone.code, 3, "{gone:#?}");
        let hint = "hint: `symphony plan run --plan plan` continues the plan that is under way";
        assert!(gone.stderr.contains(hint), "{gone:#?}");
    }
    let run = PlanRun::start(&project, &["--plan", "plan"]);
    until_at_gate(&project, "other");
    run.kill();
    open_gate(&project, "other");
    // the last phase is recorded, though nobody is there to open the pull request: any tick does
    until(
        "the state file to tell that the phases are complete",
        || (state_file(&project)["completedCount"] == 2).then_some(()),
    );
    project.json(&["tick"]);
    assert_eq!(state_file(&project)["status"], "review");
    let line = project.symphony(&["plan", "statusline", "--color", "never"]);
    assert_eq!(line.stdout, "[Review] 2/2\n");
    let status = project.ok(&["plan", "status"]);
    assert!(status.contains("pull request  1 (open)\n"), "{status}");
    assert!(
        status.ends_with("`symphony pr merge 1` merges it.\n"),
        "{status}"
    );

    let result = project.json(&["plan", "run", "--merge", "--plan", "plan"]);
    assert_eq!(
        json!([result["status"], result["completed"], result["merged_into"]]),
        json!(["completed", 2, "main"])
    );
    assert!(project.root.join("other.txt").exists());
    for id in ["gated", "other"] {
        assert_eq!(run_statuses(&project, "plan", id), ["succeeded"]);
    }
}

#[test]
fn another_plan_of_a_file_does_not_leave_the_last_ones_work_behind() {
    let project = project(&[("one", &[])]);
    project.ok(&["plan", "run"]);
    let plans = &project.json(&["status"])["plans"];
    assert_eq!(
        json!([plans[0]["id"], plans[0]["status"]]),
        json!(["plan", "review"])
    );
    std::fs::write(project.root.join("plan.md"), plan_of(&[("two", &[])])).unwrap();
    let refused = project.symphony(&["plan", "run", "--merge"]);
    assert_eq!(refused.code, 4, "{refused:#?}");
    assert!(
        refused.stderr.contains("was changed since plan plan began"),
        "{refused:#?}"
    );

    project.ok(&["pr", "merge", "1"]);
    let result = project.json(&["plan", "run", "--merge"]);
    assert_eq!(
        json!([text(&result["id"]), result["merged_into"]]),
        json!(["plan-2", "main"])
    );
    for file in ["one.txt", "two.txt"] {
        assert!(project.root.join(file).exists(), "{file}");
    }
    assert_eq!(
        project.git(&["branch", "--format", "%(refname:short)"]),
        "main"
    );
    assert_eq!(project.json(&["status"])["plans"], json!([]));
}

#[test]
fn a_failure_that_nobody_is_asked_about_is_told_as_what_became_of_it() {
    let project = project(&[("bad", &[]), ("after", &["bad"])]);
    let answer = project.symphony(&["plan", "run", "--merge", "--on-failure", "skip"]);
    assert_eq!(answer.code, 0, "{answer:#?}");
    assert!(answer.stderr.contains("\nbad: skipped\n"), "{answer:#?}");
    assert!(!answer.stderr.contains("plan decide"), "{answer:#?}");
    let bad = phase(&project, "bad");
    assert_eq!(
        json!([bad["status"], bad["skipped"]]),
        json!(["complete", true])
    );
    let status = project.ok(&["plan", "status"]);
    assert!(
        status.contains("skipped after a fault of the work: 3 tests failed"),
        "{status}"
    );
}

#[test]
fn a_request_to_end_that_comes_twice_leaves_the_phases_at_work() {
    let project = project(&[("gated", &[])]);
    let run = PlanRun::start(&project, &["plan.md"]);
    until_at_gate(&project, "gated");
    run.signal(Signal::TERM);
    run.signal(Signal::TERM);
    let answer = run.answer();
    assert_eq!(answer.code, 1, "{answer:#?}");
    let last = "They continue without this command: `symphony plan run` continues the plan.\n";
    assert!(answer.stderr.ends_with(last), "{answer:#?}");
    assert_eq!(phase(&project, "gated")["status"], "running");
    open_gate(&project, "gated");
    assert_eq!(
        project.json(&["plan", "run", "--merge"])["status"],
        "completed"
    );
    assert_eq!(run_statuses(&project, "plan", "gated"), ["succeeded"]);
}

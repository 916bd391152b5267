//! Checks of phases: what Symphony runs itself on the merge of a phase's work before it counts, and what a phase is worth
//! whose agent says nothing.

use serde_json::{Value, json};

use crate::plan_support::{
    PLAN_WORKER, PlanRun, any_phase, complete, leave, of_phase, phase, run_statuses, runs_of,
    write_own,
};
use crate::support::{Answer, Project, bash, scenario, scenarios, text, turn, until};

/// A project whose phases work as the scenarios say.
fn project(scenes: impl IntoIterator<Item = Value>) -> Project {
    Project::new("checks", &scenarios(scenes), &json!({ "gates": [] }))
}

/// A plan of phases with checks, one after the other.
fn write_plan(project: &Project, phases: &[(&str, Value)]) {
    let mut before: Vec<&str> = Vec::new();
    let mut items = Vec::new();
    for (id, checks) in phases {
        items.push(
            json!({ "id": id, "title": format!("Title of {id}"), "objective": "o", "tasks": ["t"],
            "success_criteria": "s", "dependencies": before, "checks": checks }),
        );
        before = vec![id];
    }
    let plan = format!("```symphony-phases\n{:#}\n```\n", Value::Array(items));
    std::fs::write(project.root.join("plan.md"), plan).unwrap();
}

fn run(project: &Project, more: &[&str]) -> Answer {
    project.symphony(&[&["plan", "run", "--merge", "plan.md", "--json"], more].concat())
}

#[test]
fn the_base_moves_only_when_the_checks_are_green_on_the_merge() {
    // the first attempt leaves the check red; the second one reads its output
    let mut first = of_phase("api");
    first["uses"] = json!(1);
    let mut second = of_phase("api");
    second["match_prompt"] = json!("^Phase ID: api$[\\s\\S]*check_failed[\\s\\S]*api is not ready");
    let project = project([
        scenario("first", &first, [write_own(), complete(&json!([]))]),
        scenario(
            "second",
            &second,
            [bash("touch ready.txt"), complete(&json!([]))],
        ),
        any_phase(),
    ]);
    write_plan(
        &project,
        &[
            (
                "api",
                json!([
                    { "name": "ready", "command": "test -e ready.txt || { echo api is not ready; exit 3; }" },
                    { "name": "own", "file": "api.txt" },
                ]),
            ),
            (
                "ui",
                json!([{ "name": "sees-api", "command": ["test", "-e", "api.txt"] }]),
            ),
        ],
    );
    let answer = run(&project, &[]);
    assert_eq!(answer.code, 0, "{answer:#?}");
    let api = phase(&project, "api");
    assert_eq!(
        json!([
            api["status"],
            api["attempts"],
            api["retry_count"],
            api["unconfirmed"]
        ]),
        json!(["complete", 2, 1, false]),
        "{api:#}"
    );
    let merged = project.git(&["log", "--format=%s", "main"]);
    assert!(project.root.join("ready.txt").exists(), "{merged}");
    assert!(project.root.join("ui.txt").exists(), "{merged}");
}

#[test]
fn a_red_check_keeps_the_work_out_and_asks_in_the_end() {
    let project = project([any_phase()]);
    write_plan(
        &project,
        &[(
            "api",
            json!([{ "name": "never", "command": "echo why it is red; exit 7" }]),
        )],
    );
    let answer = run(&project, &["--on-failure", "fail"]);
    assert_eq!(answer.code, 1, "{answer:#?}");
    let api = phase(&project, "api");
    assert_eq!(
        json!([api["status"], api["error_class"], api["attempts"]]),
        json!(["failed", "check_failed", 3]),
        "{api:#}"
    );
    let error = text(&api["error"]);
    assert!(
        error.starts_with("check `never` failed:\nwhy it is red") && error.contains("exit code 7"),
        "{error}"
    );
    let base = project.git(&["ls-tree", "--name-only", "symphony/plan-plan/base"]);
    assert!(!base.contains("api.txt"), "{base}");
}

#[test]
fn a_plan_that_is_given_up_while_checks_run_ends_them_at_once() {
    for isolation in ["worktree", "none"] {
        let project = project([any_phase()]);
        let at_work = project.beside.join("at-work");
        let command = format!("touch '{}'; sleep 300", at_work.display());
        write_plan(
            &project,
            &[("api", json!([{ "name": "endless", "command": command }]))],
        );
        let run = PlanRun::start(&project, &["plan.md", "--isolation", isolation]);
        until("the check", || at_work.exists().then_some(()));
        project.ok(&["plan", "abort"]);
        let answer = run.answer();
        assert_eq!(answer.code, 1, "{answer:#?}");
        assert_eq!(
            run_statuses(&project, "plan", "api"),
            ["cancelled"],
            "{isolation}"
        );
        assert_eq!(project.json(&["plan", "status"])["status"], "aborted");
        let checkouts = project.git(&["worktree", "list"]);
        assert!(!checkouts.contains("_gates"), "{checkouts}");
        project.assert_sound();
    }
}

#[test]
fn a_check_that_ends_its_supervisor_again_and_again_fails_and_is_named() {
    let deadly = "p=$$; while [ $p -gt 1 ]; do p=$(cut -d' ' -f4 /proc/$p/stat); \
         if tr '\\0' ' ' </proc/$p/cmdline | grep -q ' supervise '; then kill -9 $p; sleep 30; fi; done";
    let project = project([any_phase()]);
    write_plan(
        &project,
        &[("api", json!([{ "name": "deadly", "command": deadly }]))],
    );
    let answer = run(&project, &["--on-failure", "fail", "--no-retry"]);
    assert_eq!(answer.code, 1, "{answer:#?}");
    let api = phase(&project, "api");
    assert_eq!(api["error_class"], "check_failed", "{api:#}");
    let error = text(&api["error"]);
    let why = "check `deadly` failed:\nThe supervisor that ran it died 3 times in a row";
    assert!(error.starts_with(why), "{error}");
    project.assert_sound();
}

#[test]
fn what_git_ignores_makes_no_check_green() {
    let project = project([scenario(
        "hides",
        &json!({ "match_system": PLAN_WORKER }),
        [
            bash("echo hidden.txt > .gitignore; touch hidden.txt"),
            complete(&json!([])),
        ],
    )]);
    write_plan(
        &project,
        &[("api", json!([{ "name": "there", "file": "hidden.txt" }]))],
    );
    let answer = run(&project, &["--no-retry"]);
    assert_eq!(answer.code, 1, "{answer:#?}");
    let error = text(&phase(&project, "api")["error"]);
    assert!(
        error.contains("check `there` failed") && error.contains("`hidden.txt` does not exist"),
        "{error}"
    );
}

#[test]
fn an_agent_that_changes_nothing_is_checked_too() {
    let project = project([scenario(
        "idle",
        &json!({ "match_system": PLAN_WORKER }),
        [complete(&json!([]))],
    )]);
    write_plan(
        &project,
        &[("api", json!([{ "name": "there", "file": "api.txt" }]))],
    );
    assert_eq!(run(&project, &["--no-retry"]).code, 1);
    assert_eq!(phase(&project, "api")["error_class"], "check_failed");
}

#[test]
fn green_checks_complete_a_phase_whose_agent_left_without_a_report() {
    let project = project([scenario(
        "silent",
        &json!({ "match_system": PLAN_WORKER }),
        [write_own(), leave()],
    )]);
    write_plan(
        &project,
        &[("api", json!([{ "name": "there", "file": "api.txt" }]))],
    );
    let answer = run(&project, &[]);
    assert_eq!(answer.code, 0, "{answer:#?}");
    let api = phase(&project, "api");
    assert_eq!(
        json!([api["status"], api["attempts"], api["unconfirmed"]]),
        json!(["complete", 1, false])
    );
}

#[test]
fn an_agent_that_left_without_a_report_is_continued_once_then_somebody_decides() {
    let mut again = json!({ "match_system": PLAN_WORKER });
    again["match_prompt"] =
        json!("Your last run of this phase ended without a `complete_phase` call");
    let project = project([
        scenario(
            "again",
            &again,
            [turn(bash_call("touch continued.txt")), leave()],
        ),
        scenario(
            "silent",
            &json!({ "match_system": PLAN_WORKER }),
            [write_own(), leave()],
        ),
    ]);
    write_plan(&project, &[("api", json!([]))]);
    let answer = run(&project, &["--on-failure", "fail"]);
    assert_eq!(answer.code, 1, "{answer:#?}");
    assert_eq!(
        run_statuses(&project, "plan", "api"),
        ["succeeded", "succeeded"]
    );
    let api = phase(&project, "api");
    assert_eq!(api["status"], "failed", "{api:#}");
    let branch = "symphony/plan-plan/api";
    assert_eq!(
        project.git(&["ls-tree", "--name-only", branch, "continued.txt"]),
        "continued.txt"
    );
    assert!(
        text(&api["error"]).contains("ended twice without saying whether the phase is complete"),
        "{api:#}"
    );
    // a person who never heard of the agents' tools reads what to do
    assert!(!text(&api["error"]).contains("complete_phase"), "{api:#}");
    assert!(
        text(&api["error"]).contains("retry the phase, or skip it"),
        "{api:#}"
    );
    assert_eq!(runs_of(&project, "plan", "api").len(), 2);
}

/// The call of a shell tool.
fn bash_call(command: &str) -> Value {
    crate::support::call("Bash", json!({ "command": command }))
}

#[test]
fn a_provider_without_tools_completes_phases_unconfirmed() {
    let project = Project::repository("plain");
    project.configure(
        &json!({ "prefix": "SYM", "provider": "command", "providers": { "command": {
        "command": "cat > /dev/null; touch made.txt; echo done", "output": "text" } } }),
    );
    project.ok(&["init"]);
    write_plan(
        &project,
        &[
            ("api", json!([])),
            ("ui", json!([{ "name": "there", "file": "made.txt" }])),
        ],
    );
    let answer = run(&project, &[]);
    assert_eq!(answer.code, 0, "{answer:#?}");
    let summary = answer.json();
    let of = |at: usize| {
        json!([
            summary["phases"][at]["status"],
            summary["phases"][at]["unconfirmed"]
        ])
    };
    assert_eq!(
        (of(0), of(1)),
        (json!(["complete", true]), json!(["complete", false]))
    );
    assert_eq!(phase(&project, "api")["unconfirmed"], true);
    assert!(project.ok(&["plan", "status"]).contains("unconfirmed"));
    let state = std::fs::read_to_string(project.root.join(".symphony-state.json")).unwrap();
    let state: Value = serde_json::from_str(&state).unwrap();
    assert_eq!(
        json!([
            state["phases"]["api"]["unconfirmed"],
            state["phases"]["ui"]["unconfirmed"]
        ]),
        json!([true, null])
    );
    let line = project.ok(&["plan", "statusline"]);
    assert!(line.contains("[Done] 2/2 (1 unconfirmed)"), "{line}");
}

#[test]
fn checks_without_worktrees_run_in_the_projects_folder() {
    let project = project([any_phase()]);
    write_plan(
        &project,
        &[(
            "api",
            json!([{ "name": "never", "command": "pwd; exit 1" }]),
        )],
    );
    let answer = run(&project, &["--isolation", "none", "--no-retry"]);
    assert_eq!(answer.code, 1, "{answer:#?}");
    let error = text(&phase(&project, "api")["error"]);
    assert!(
        error.contains(&project.root.display().to_string()),
        "{error}"
    );
}

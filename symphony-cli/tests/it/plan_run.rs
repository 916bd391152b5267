//! Plans carried out: from the file to the summary, with artifacts, retries and decisions on the way.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use symphony_core::Timestamp;

use crate::plan_support::{
    PLAN, PlanRun, any_phase, complete, failed, gated, of_phase, open_gate, phase, plan_of,
    run_statuses, runs_of, until_phase, write_own,
};
use crate::support::{Project, bash, call, moment, scenario, scenarios, text};

/// What the phases of the fixture do; the real CLIs play it too. `beside` is the folder where they meet.
pub(crate) fn plan_scenarios(beside: &str) -> Value {
    // both sides of a diamond are at work at once: each waits for the other
    let meets = |own: &str, other: &str| {
        bash(&format!(
            "touch '{beside}/{own}'; until [ -e '{beside}/{other}' ]; do sleep 0.02; done"
        ))
    };
    let export = json!([{ "type": "export", "name": "left()", "path": "left.txt", "content": "left(): side" }]);
    let mark = json!({ "content": [{ "type": "text",
        "text": "Done.\n[SYMPHONY:ARTIFACT] {\"type\":\"note\",\"content\":\"The right side is ready.\"}\n[SYMPHONY:ARTIFACT] {broken" }] });
    let mut first_flaky = of_phase("flaky");
    first_flaky["uses"] = json!(1);
    scenarios([
        scenario(
            "left",
            &of_phase("left"),
            [meets("l", "r"), write_own(), complete(&export)],
        ),
        // no call: its check completes it
        scenario(
            "right",
            &of_phase("right"),
            [meets("r", "l"), write_own(), mark],
        ),
        scenario(
            "flaky once",
            &first_flaky,
            [failed("read ECONNRESET: connection reset by peer")],
        ),
        scenario(
            "broken",
            &of_phase("broken"),
            [write_own(), failed("2 tests failed: expected 1 but got 2")],
        ),
        any_phase(),
    ])
}

/// Carries the plan of the fixture out; returns the project and the summary.
pub(crate) fn carry_out(project: &Project) -> Value {
    std::fs::write(project.root.join("plan.md"), PLAN).unwrap();
    project.git(&["add", "plan.md"]);
    project.git(&["commit", "-qm", "a plan"]);
    let run = PlanRun::start(project, &["plan.md", "--max-parallel", "3", "--json"]);
    let broken = until_phase(project, "broken", "awaiting_decision");
    assert_eq!(
        json!([
            broken["error"],
            broken["error_class"],
            broken["retry_count"]
        ]),
        json!(["2 tests failed: expected 1 but got 2", "logic", 0])
    );
    let inbox = project.json(&["inbox"]);
    let waits = inbox["items"].as_array().unwrap().iter();
    let waits = waits
        .filter(|item| item["kind"] == "plan")
        .collect::<Vec<_>>();
    assert_eq!(
        json!([waits.len(), waits[0]["answers"][1]]),
        json!([1, "symphony plan decide --plan plan broken skip_phase"])
    );
    // others go on meanwhile
    until_phase(project, "summed", "complete");
    let answer = project.symphony(&["plan", "decide", "broken", "skip_phase"]);
    assert_eq!(answer.code, 0, "{answer:#?}");
    assert!(
        answer
            .stderr
            .contains("phases that may lack artifacts of `broken`: after-broken"),
        "{answer:#?}"
    );
    let answer = run.answer();
    assert_eq!(answer.code, 0, "{answer:#?}");
    answer.json()
}

/// What must hold of the fixture's plan afterwards, whoever played it.
pub(crate) fn assert_carried_out(project: &Project, summary: &Value) {
    assert_eq!(
        json!([
            summary["status"],
            summary["total_phases"],
            summary["completed"],
            summary["failed"],
            summary["merged_into"]
        ]),
        json!(["completed", 14, 14, 0, "main"]),
        "{summary:#}"
    );
    // the user's branch has what every phase made, but the one that was skipped
    for id in [
        "set-up",
        "left",
        "right",
        "joined",
        "one",
        "two",
        "three",
        "four",
        "summed",
        "flaky",
        "after-broken",
        "docs",
        "last",
    ] {
        assert_eq!(
            project.git(&["show", &format!("main:{id}.txt")]),
            format!("by {id}")
        );
        assert_eq!(
            std::fs::read_to_string(project.root.join(format!("{id}.txt"))).unwrap(),
            format!("by {id}\n")
        );
    }
    assert_eq!(
        project.git(&["ls-tree", "--name-only", "main", "broken.txt"]),
        ""
    );
    assert_eq!(project.git(&["status", "--porcelain"]), "");
    // what is merged is tidied up; the work of the skipped phase is kept on its branch
    assert_eq!(
        project.git(&["branch", "--list", "symphony/*"]).trim(),
        "symphony/plan-plan/broken"
    );
    let left: Vec<_> = std::fs::read_dir(project.root.join(".symphony-workspaces"))
        .unwrap()
        .collect();
    assert!(left.is_empty(), "{left:?}");

    // a transient failure is tried again by itself, and only that
    assert_eq!(
        run_statuses(project, "plan", "flaky"),
        [
            "failed: read ECONNRESET: connection reset by peer",
            "succeeded"
        ]
    );
    assert_eq!(phase(project, "flaky")["retry_count"], 1);
    assert_eq!(
        run_statuses(project, "plan", "broken"),
        ["failed: 2 tests failed: expected 1 but got 2"]
    );

    // artifacts: seen by git, called, marked; passed on in the order that was asked for
    let left = phase(project, "left")["artifacts"].clone();
    assert_eq!(
        left,
        json!([{ "type": "file_created", "path": "left.txt" },
               { "type": "export", "path": "left.txt", "name": "left()", "content": "left(): side" }])
    );
    let joined = runs_of(project, "plan", "joined");
    let prompt = project.run_file(&text(&joined[0]["id"]), "user-prompt.md");
    let artifacts = "## Artifacts from Previous Phases\n\nThe following artifacts were produced by dependency phases. Use them as needed:\n\n\
                     Files Created:\n- right.txt\n- left.txt\n\nExports:\n- left(): left(): side\n\nNotes:\n- The right side is ready.\n";
    assert!(prompt.contains(artifacts), "{prompt}");
    assert!(
        prompt.contains("### left.txt\n```txt\nby left\n```"),
        "{prompt}"
    );
    assert!(prompt.contains("Error: file not found"), "{prompt}");
    let last = runs_of(project, "plan", "last");
    let prompt = project.run_file(&text(&last[0]["id"]), "user-prompt.md");
    assert!(
        !prompt.contains("## Artifacts from Previous Phases"),
        "{prompt}"
    );
    assert!(prompt.contains("- Touch nothing else"), "{prompt}");
    let second = runs_of(project, "plan", "flaky").remove(1);
    let prompt = project.run_file(&text(&second["id"]), "user-prompt.md");
    assert!(
        prompt.contains("It failed (transient):\n\n    read ECONNRESET"),
        "{prompt}"
    );

    assert_order(project);
}

/// By recorded starts and ends: phases that wait come after what they wait for, others overlap, never more than the limit.
fn assert_order(project: &Project) {
    let runs = project.json(&["runs", "list", "--plan", "plan", "-n", "0"]);
    let mut spans: BTreeMap<String, (Timestamp, Timestamp)> = BTreeMap::new();
    let mut moments = Vec::new();
    for run in runs["items"].as_array().unwrap() {
        let (from, to) = (moment(&run["started_at"]), moment(&run["ended_at"]));
        moments.push((from, 1));
        moments.push((to, -1));
        spans.insert(text(&run["plan_phase"]), (from, to));
    }
    for (before, after) in [
        ("set-up", "left"),
        ("left", "joined"),
        ("right", "joined"),
        ("joined", "one"),
        ("four", "summed"),
        ("summed", "last"),
    ] {
        assert!(
            spans[before].1 <= spans[after].0,
            "{before} {after}: {spans:#?}"
        );
    }
    let (left, right) = (&spans["left"], &spans["right"]);
    assert!(left.0 < right.1 && right.0 < left.1, "{left:?} {right:?}");
    // an end comes before a start of the same moment
    moments.sort();
    let mut at_once = 0;
    let mut most = 0;
    for (_, step) in moments {
        at_once += step;
        most = most.max(at_once);
    }
    assert_eq!(most, 3, "as many as may, and no more: {spans:#?}");
}

#[test]
fn a_plan_with_diamonds_artifacts_a_retry_and_a_decision_runs_to_its_summary() {
    let project = Project::new(
        "project",
        &plan_scenarios("../../.."),
        &json!({ "gates": [] }),
    );
    let summary = carry_out(&project);
    assert_carried_out(&project, &summary);

    // the state file is a picture of it
    let state: Value = serde_json::from_str(
        &std::fs::read_to_string(project.root.join(".symphony-state.json")).unwrap(),
    )
    .unwrap();
    assert_eq!(
        json!([
            state["managedBy"],
            state["planPath"],
            state["status"],
            state["completedCount"],
            state["phases"]["broken"]["skipped"]
        ]),
        json!(["symphony", "plan.md", "completed", 14, true])
    );
    // a plan that is done is done
    let again = project.symphony(&["plan", "run", "--merge", "plan.md"]);
    assert_eq!(again.code, 0, "{again:#?}");
    assert!(
        again.stdout.starts_with("Symphony Performance Complete\n"),
        "{again:#?}"
    );
    assert_eq!(run_statuses(&project, "plan", "set-up"), ["succeeded"]);
    assert_eq!(
        project.json(&["plan", "list"])["items"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn status_has_a_line_for_each_plan_under_way() {
    let project = Project::new(
        "project",
        &json!({ "scenarios": [] }),
        &json!({ "gates": [] }),
    );
    let beside = project.beside.to_str().unwrap();
    let doubts = [failed("2 tests failed: expected 1 but got 2")];
    let file = scenarios([
        gated(beside, "middle"),
        scenario("doubts", &of_phase("doubtful"), doubts),
        any_phase(),
    ]);
    std::fs::write(project.beside.join("scenario.json"), file.to_string()).unwrap();
    let plan = plan_of(&[
        ("first", &[]),
        ("middle", &["first"]),
        ("doubtful", &["first"]),
        ("last", &["middle"]),
    ]);
    std::fs::write(project.root.join("plan.md"), plan).unwrap();
    assert_eq!(project.json(&["status"])["plans"], json!([]));
    let run = PlanRun::start(&project, &["plan.md", "--json"]);
    until_phase(&project, "middle", "running");
    until_phase(&project, "doubtful", "awaiting_decision");
    let listed = project.json(&["plan", "list"])["items"][0]["status"].clone();
    assert_eq!(
        project.json(&["status"])["plans"],
        json!([{
            "id": "plan", "path": "plan.md", "status": listed, "total": 4, "completed": 1, "failed": 0,
            "running": ["middle"], "awaiting_decision": ["doubtful"],
            "unconfirmed": [], "lacking_branch": null,
        }])
    );
    let shown = project.ok(&["status"]);
    let line = shown.lines().find(|line| line.starts_with("plan "));
    let words: Vec<&str> = line.unwrap().split_whitespace().collect();
    let expected = [
        "plan",
        listed.as_str().unwrap(),
        "1/4",
        "middle",
        "doubtful",
        "plan.md",
    ];
    assert_eq!(words, expected, "{shown}");

    project.ok(&["plan", "decide", "doubtful", "skip_phase"]);
    open_gate(&project, "middle");
    let answer = run.answer();
    assert_eq!(answer.code, 0, "{answer:#?}");
    assert_eq!(project.json(&["status"])["plans"], json!([]));
}

/// Two phases that change the same lines.
#[test]
fn a_conflict_names_the_files_the_rest_goes_on_and_the_decision_works() {
    let project = Project::new(
        "project",
        &json!({ "scenarios": [] }),
        &json!({ "gates": [] }),
    );
    let beside = project.beside.to_str().unwrap();
    let writes = |own: &str, other: &str| {
        let script = format!(
            "echo {own} > shared.txt; touch '{beside}/{own}'; until [ -e '{beside}/{other}' ]; do sleep 0.02; done"
        );
        scenario(own, &of_phase(own), [bash(&script), complete(&json!([]))])
    };
    // told what happened, it merges the base and settles it
    let mut told = of_phase("(east|west)");
    told["match_prompt"] =
        json!("(?s)merge conflict in shared.txt.*Other phases have since merged work into");
    let mends = "git -c user.name=w -c user.email=w@example.invalid merge -q symphony/plan-plan/base; echo both > shared.txt; \
                 git add shared.txt; git -c user.name=w -c user.email=w@example.invalid commit -qm both";
    let file = scenarios([
        scenario("mends", &told, [bash(mends), complete(&json!([]))]),
        writes("east", "west"),
        writes("west", "east"),
        any_phase(),
    ]);
    std::fs::write(project.beside.join("scenario.json"), file.to_string()).unwrap();
    let plan = plan_of(&[
        ("east", &[]),
        ("west", &[]),
        ("other", &[]),
        ("end", &["east", "west"]),
    ]);
    std::fs::write(project.root.join("plan.md"), plan).unwrap();
    let run = PlanRun::start(&project, &["plan.md", "--json"]);

    let waiting = crate::support::until("the conflict", || {
        let ids = ["east", "west"];
        let found = ids
            .into_iter()
            .find(|id| phase(&project, id)["status"] == "awaiting_decision");
        found.map(|id| phase(&project, id))
    });
    assert_eq!(
        json!([waiting["error"], waiting["error_class"]]),
        json!(["merge conflict in shared.txt", "logic"])
    );
    until_phase(&project, "other", "complete");
    let status = crate::support::until("the plan to wait", || {
        let plan = project.json(&["plan", "status"]);
        (plan["status"] == "awaiting_user_decision").then(|| text(&plan["status"]))
    });
    assert_eq!(status, "awaiting_user_decision");
    project.ok(&[
        "plan",
        "decide",
        waiting["id"].as_str().unwrap(),
        "retry_once_more",
    ]);
    let answer = run.answer();
    assert_eq!(answer.code, 0, "{answer:#?}");
    assert_eq!(project.git(&["show", "main:shared.txt"]), "both");
    assert_eq!(project.git(&["show", "main:end.txt"]), "by end");
}

#[test]
fn a_file_that_was_changed_is_refused_unless_the_change_is_accepted() {
    let project = Project::new(
        "project",
        &json!({ "scenarios": [] }),
        &json!({ "gates": [] }),
    );
    let file = scenarios([
        scenario("b", &of_phase("b"), [failed("lint error")]),
        any_phase(),
    ]);
    std::fs::write(project.beside.join("scenario.json"), file.to_string()).unwrap();
    let path = project.root.join("plan.md");
    std::fs::write(&path, plan_of(&[("a", &[]), ("b", &["a"]), ("c", &["b"])])).unwrap();
    let answer = project.symphony(&["plan", "run", "--merge", "--no-retry"]);
    assert_eq!(answer.code, 1, "{answer:#?}");
    assert!(
        answer
            .stdout
            .contains("- b: failed - lint error\n- c: blocked\n"),
        "{answer:#?}"
    );

    std::fs::write(&path, plan_of(&[("a", &[]), ("d", &["a"])])).unwrap();
    let refused = project.symphony(&["plan", "run", "--merge"]);
    assert_eq!(refused.code, 4, "{refused:#?}");
    assert!(
        refused.stderr.contains("(added: d; removed: b, c)"),
        "{refused:#?}"
    );
    let summary = project.json(&["plan", "run", "--merge", "--accept-changes"]);
    assert_eq!(
        json!([summary["status"], summary["completed"]]),
        json!(["completed", 2])
    );
    assert_eq!(
        run_statuses(&project, "plan", "a"),
        ["succeeded"],
        "what is complete is not run again"
    );
    // a plan that is done and whose file says something else is history
    std::fs::write(&path, plan_of(&[("e", &[])])).unwrap();
    assert_eq!(project.json(&["plan", "run", "--merge"])["id"], "plan-2");
}

#[test]
fn without_isolation_phases_share_the_folder_and_tell_what_they_made() {
    let project = Project::new(
        "project",
        &json!({ "scenarios": [] }),
        &json!({ "gates": [] }),
    );
    let says = json!({ "content": [{ "type": "text", "text": "Created file made.txt\n[SYMPHONY:ARTIFACT] {\"type\":\"file_created\",\"path\":\"../out.txt\"}" },
        call("mcp__symphony__complete_phase", json!({ "outcome": "complete" }))] });
    let file = scenarios([
        scenario("a", &of_phase("a"), [bash("echo a > made.txt"), says]),
        scenario(
            "b",
            &of_phase("b"),
            [bash("cat made.txt > seen.txt"), complete(&json!([]))],
        ),
    ]);
    std::fs::write(project.beside.join("scenario.json"), file.to_string()).unwrap();
    std::fs::write(
        project.root.join("plan.md"),
        plan_of(&[("a", &[]), ("b", &["a"])]),
    )
    .unwrap();
    let summary = project.json(&["plan", "run", "--merge", "--isolation", "none"]);
    assert_eq!(
        json!([
            summary["status"],
            summary["artifacts"],
            summary["merged_into"]
        ]),
        json!(["completed", ["made.txt"], null])
    );
    assert_eq!(
        std::fs::read_to_string(project.root.join("seen.txt")).unwrap(),
        "a\n"
    );
    let runs = runs_of(&project, "plan", "a");
    let system = project.run_file(&text(&runs[0]["id"]), "system-prompt.md");
    assert!(
        system.starts_with("# Plan worker\n"),
        "no boundary: {system}"
    );
    let log = project.run_file(&text(&runs[0]["id"]), "supervisor.log");
    assert!(
        log.contains("an artifact was ignored") && log.contains("outside the project"),
        "{log}"
    );
    assert_eq!(project.git(&["branch", "--list", "symphony/*"]), "");
}

#[test]
fn a_dirty_tree_keeps_the_users_branch_and_the_command_is_told() {
    let project = Project::new(
        "project",
        &scenarios([any_phase()]),
        &json!({ "gates": [] }),
    );
    std::fs::write(project.root.join("plan.md"), plan_of(&[("a", &[])])).unwrap();
    std::fs::write(project.root.join("a.txt"), "in the way\n").unwrap();
    let refused = project.symphony(&["plan", "run", "--merge"]);
    assert_eq!(refused.code, 4, "{refused:#?}");
    assert!(
        refused.stderr.contains("it has changes in a.txt"),
        "{refused:#?}"
    );
    assert_eq!(project.json(&["plan", "status"])["status"], "review");
    assert_eq!(
        project.git(&["ls-tree", "--name-only", "main", "a.txt"]),
        ""
    );
    std::fs::remove_file(project.root.join("a.txt")).unwrap();
    // asked for again, nothing runs, and the work is taken over
    assert_eq!(
        project.json(&["plan", "run", "--merge"])["merged_into"],
        "main"
    );
    assert_eq!(project.git(&["show", "main:a.txt"]), "by a");
    assert_eq!(run_statuses(&project, "plan", "a"), ["succeeded"]);
}

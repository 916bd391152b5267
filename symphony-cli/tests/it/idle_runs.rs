//! Runs that come to nothing: three in a row are enough, and a person hears what the work is waiting for.

use serde_json::{Value, json};

use crate::support::{
    JUDGE, PLANNER, Project, agents_of, approving_judge, bash, call, commit, create_pr, hang, kill,
    scenario, scenarios, text, turn, until, worker,
};

/// A project whose agents wait for nothing between two runs.
fn project(plays: &[Value]) -> Project {
    let config =
        json!({ "max_retry_backoff_ms": 1, "judge_cooldown_ms": 0, "planner_enabled": true });
    Project::new("project", &scenarios(plays.to_vec()), &config)
}

/// Ticks until nothing was started, and returns who ran.
fn run_all(project: &Project) -> Vec<String> {
    let mut ran = Vec::new();
    until("the end of all runs", || {
        let runs = project.tick_wait();
        ran.extend(runs.iter().map(|run| text(&run["profile"])));
        // a continuation is due in a second
        (runs.is_empty() && project.retries().is_empty()).then_some(())
    });
    ran.retain(|profile| profile != "gates");
    ran
}

#[test]
fn three_workers_that_leave_nothing_are_enough() {
    let project = project(&[worker([])]);
    project.add_issue("Say hello");
    assert_eq!(run_all(&project), ["worker"; 3]);
    let breaker = project.first_waiting("breaker");
    let answers = breaker["answers"].to_string();
    assert!(
        answers.contains("symphony issue close SYM-1 --done --reason TEXT"),
        "{breaker:#}"
    );
    let comments = project.issue("SYM-1")["comments"].to_string();
    assert!(
        comments.contains("3 runs in a row ended without a commit and without calling `create_pr` or `propose_done`"),
        "{comments}"
    );
    // a person who takes it up again gets as many
    project.ok(&["issue", "retry", "SYM-1"]);
    assert_eq!(run_all(&project), ["worker"; 3]);
    project.assert_sound();
}

/// The reason that the breaker's entry of the inbox gives.
fn stopped(project: &Project) -> String {
    text(&project.first_waiting("breaker")["text"])
}

#[test]
fn three_workers_that_give_the_issue_back_are_enough() {
    let back = call(
        "mcp__symphony__update_issue_status",
        json!({ "status": "todo" }),
    );
    let project = project(&[worker([turn(back)])]);
    // where the breaker leaves issues in `todo`, nothing would keep this one from its next run
    project.configure_more(&json!({ "circuit_breaker_status": "todo" }));
    project.add_issue("Say hello");
    assert_eq!(run_all(&project), ["worker"; 3]);
    assert_eq!(
        stopped(&project),
        "its circuit breaker is open: 3 runs in a row gave the issue back without a commit, an answer or a sub-task. Say in the \
         issue what they lacked, or split it."
    );
    project.assert_sound();
    project.ok(&["issue", "retry", "SYM-1"]);
    assert_eq!(run_all(&project), ["worker"; 3]);
}

#[test]
fn three_runs_that_reach_their_cap_and_bring_nothing_are_enough() {
    let mut dear = bash("echo at work");
    dear["usage"] = json!({ "input_tokens": 4980, "output_tokens": 20 });
    let project = project(&[worker([dear, hang()])]);
    project.configure_more(&json!({ "spending": { "run": { "tokens": 3000 } } }));
    project.add_issue("Say hello");
    assert_eq!(run_all(&project), ["worker"; 3]);
    let reason = stopped(&project);
    for part in [
        "3 runs in a row reached the spending cap of a run",
        "Raise `spending.run` in the configuration",
    ] {
        assert!(reason.contains(part), "{reason}");
    }
    project.assert_sound();
}

#[test]
fn runs_that_reach_their_cap_with_commits_end_before_all_attempts() {
    // committed before the turn that reaches the cap, which may end the run at once
    let commits = bash("date +%s%N > a.txt; git add -A; git commit -qm more");
    let mut dear = bash("echo at work");
    dear["usage"] = json!({ "input_tokens": 4980, "output_tokens": 20 });
    let project = project(&[worker([commits, dear, hang()])]);
    project.configure_more(&json!({ "spending": { "run": { "tokens": 3000 } }, "max_retries": 8 }));
    project.add_issue("Say hello");
    assert_eq!(run_all(&project), ["worker"; 4]);
    let reason = stopped(&project);
    let part = "4 runs in a row reached the spending cap of a run before they could hand in";
    assert!(reason.contains(part), "{reason}");
    project.assert_sound();
}

#[test]
fn commits_are_progress_and_so_is_what_is_left_uncommitted() {
    for play in [
        bash("date +%s%N > a.txt; git add -A; git commit -qm more"),
        bash("date +%s%N > a.txt"),
    ] {
        let project = project(&[worker([play])]);
        project.configure_more(&json!({ "max_retries": 5 }));
        project.add_issue("Say hello");
        assert_eq!(run_all(&project), ["worker"; 5]);
    }
}

#[test]
fn three_planners_that_file_nothing_are_enough() {
    let when = json!({ "match_system": PLANNER });
    let project = project(&[scenario("planner", &when, [])]);
    project.add_issue("Split it");
    project.ok(&["issue", "edit", "SYM-1", "--add-label", "needs-planning"]);
    assert_eq!(run_all(&project), ["planner"; 3]);
    project.first_waiting("breaker");
    project.assert_sound();
}

#[test]
fn after_three_judges_without_a_verdict_a_person_is_asked_for_it() {
    let when = json!({ "match_system": JUDGE });
    let silent = scenario("silent", &when, []);
    let project = project(&[
        worker([commit("hello.txt", "hello"), create_pr("Say hello")]),
        silent,
    ]);
    let id = project.add_issue("Say hello");
    assert_eq!(run_all(&project), ["worker", "judge", "judge", "judge"]);
    assert_eq!(project.issue(&id)["status"], "review");
    let review = project.first_waiting("review");
    let said = text(&review["text"]);
    assert!(
        said.ends_with("waits for your verdict (3 judges ended without one)"),
        "{review:#}"
    );
    let explained = project.ok(&["explain", &id]);
    assert!(
        explained.contains("3 judges ended without one"),
        "{explained}"
    );
    // each command that is offered does what it says: another judge, or the person's own verdict
    project.ok(&["issue", "retry", &id]);
    assert_eq!(run_all(&project), ["judge"; 3]);
    let answers = review["answers"].to_string();
    for offered in ["symphony issue retry SYM-1", "symphony pr approve SYM-1"] {
        assert!(answers.contains(offered), "{answers}");
    }
    project.ok(&["pr", "approve", &id]);
    project.ok(&["pr", "merge", &id]);
    assert_eq!(project.issue(&id)["status"], "done");
    project.assert_sound();
}

#[test]
fn a_verdict_after_two_silent_judges_goes_on_as_ever() {
    let when = json!({ "match_system": JUDGE });
    let mut silent = scenario("silent", &when, []);
    silent["uses"] = json!(2);
    let project = project(&[
        worker([commit("hello.txt", "hello"), create_pr("Say hello")]),
        silent,
        approving_judge(),
    ]);
    let id = project.add_issue("Say hello");
    assert_eq!(run_all(&project), ["worker", "judge", "judge", "judge"]);
    let review = project.first_waiting("review");
    assert!(
        text(&review["text"]).ends_with("waits for you to merge it"),
        "{review:#}"
    );
    project.ok(&["pr", "merge", &id]);
    project.assert_sound();
}

/// Ticks until a judge is at work, and kills its agent, as a machine without memory does.
fn kill_a_judge(project: &Project) {
    let judge = until("a judge", || {
        let tick = project.json(&["tick"]);
        let mut runs = tick["runs"].as_array().unwrap().iter();
        let judge = runs.find(|run| run["profile"] == "judge")?;
        Some(text(&judge["id"]))
    });
    until("the judge's agent", || {
        let processes = agents_of(&judge);
        let agent = processes
            .iter()
            .find(|line| line.contains(" scripted-agent"))?;
        let (pid, _) = agent.split_once(' ')?;
        kill(pid.parse().unwrap());
        Some(())
    });
    until("the judge's end", || {
        (project.run(&judge)["status"] == "failed").then_some(())
    });
}

/// A project with a pull request whose judges take for ever.
fn project_with_slow_judges() -> Project {
    let when = json!({ "match_system": JUDGE });
    let project = project(&[
        worker([commit("hello.txt", "hello"), create_pr("Say hello")]),
        scenario("slow", &when, [hang()]),
    ]);
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    project
}

#[test]
fn a_judge_that_is_killed_is_no_judge_without_a_verdict() {
    let project = project_with_slow_judges();
    for _ in 0..4 {
        kill_a_judge(&project);
    }
    let play = scenarios([approving_judge()]).to_string();
    std::fs::write(project.beside.join("scenario.json"), play).unwrap();
    assert_eq!(run_all(&project), ["judge"]);
    let review = text(&project.first_waiting("review")["text"]);
    assert!(review.ends_with("waits for you to merge it"), "{review}");
    project.assert_sound();
}

#[test]
fn judges_that_are_killed_have_the_bound_of_any_other_run() {
    let project = project_with_slow_judges();
    project.configure_more(&json!({ "max_retries": 5 }));
    for _ in 0..5 {
        kill_a_judge(&project);
    }
    assert_eq!(run_all(&project), [""; 0]);
    let review = text(&project.first_waiting("review")["text"]);
    let asked = "waits for your verdict (5 judges ended without one)";
    assert!(review.ends_with(asked), "{review}");
    project.assert_sound();
}

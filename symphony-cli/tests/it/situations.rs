//! `explain` names the true reason, and `inbox` what waits for a human, in situations that are made for real.

use std::fs::File;

use serde_json::json;
use symphony_core::agent::AgentType;
use symphony_core::failure::ErrorClass;
use symphony_core::id::RunId;
use symphony_core::issue::{IssueEvent, Priority};
use symphony_core::run::RunTarget;
use symphony_store::{Context, NewSubtask};

use crate::records::{
    add, claimed_run, end_run, failed_run, id, idle_project, moved, open_pr, record_gates, store,
};
use crate::support::{Project, text};

/// Claims a worker's run whose supervisor seems to live: its lock is held for as long as the value is.
fn live_run(project: &Project, issue: &str) -> (RunId, File) {
    let run = claimed_run(project, RunTarget::Issue(id(issue)), AgentType::Worker);
    let folder = project.run_folder(run.as_str());
    std::fs::create_dir_all(&folder).unwrap();
    let lock = File::create(folder.join("lock")).unwrap();
    lock.lock().unwrap();
    (run, lock)
}

/// Asserts that every row's issue is explained by its text.
#[track_caller]
fn assert_explained(project: &Project, rows: &[(&str, &str)]) {
    for (issue, expected) in rows {
        let explained = project.ok(&["explain", issue]);
        assert!(explained.contains(expected), "{expected}\n{explained}");
    }
}

/// What waits, as `issue kind`.
fn inbox(project: &Project) -> Vec<String> {
    let inbox = project.json(&["inbox"]);
    let items = inbox["items"].as_array().expect("a list");
    let mut found: Vec<String> = items
        .iter()
        .map(|item| {
            let issue = item["issue"].as_str().unwrap_or("-");
            format!("{issue} {}", text(&item["kind"]))
        })
        .collect();
    found.sort();
    found
}

#[test]
fn issues_that_wait_for_a_human_are_explained_and_in_the_inbox() {
    let project = idle_project(&json!({}));
    let agent = |reason: &str| IssueEvent::AgentBlocked {
        reason: reason.to_owned(),
    };
    let backlog = add(&project, "Not asked for", &["--status", "backlog"]);
    let gone = add(&project, "Given up", &[]);
    let orphan = add(
        &project,
        "Needs what was given up",
        &["--depends-on", &gone],
    );
    project.ok(&["issue", "move", &gone, "cancelled", "--dependents", "keep"]);
    let asks = add(&project, "Asks", &[]);
    moved(&project, &asks, &agent("which time zone?"));
    let capped = add(&project, "Dear", &[]);
    let reason = "12 of 10 tokens (spending.issue.tokens)".to_owned();
    moved(&project, &capped, &IssueEvent::CapReached { reason });
    let evil = add(&project, "Evil", &[]);
    let reason = "core.fsmonitor was set".to_owned();
    moved(&project, &evil, &IssueEvent::Tampered { reason });
    let planned = add(&project, "Plan me", &["--label", "needs-planning"]);
    let nowhere = add(&project, "Look into it", &["--label", "phase:nowhere"]);
    let spent = add(&project, "Never works", &[]);
    let run = claimed_run(&project, RunTarget::Issue(id(&spent)), AgentType::Worker);
    end_run(&project, &run, ErrorClass::AgentFailed, 1);
    project.configure_more(&json!({ "max_retries": 1 }));
    let parent = add(&project, "Split", &[]);
    let child = split(&project, &parent);
    project.ok(&["issue", "move", &child, "cancelled"]);
    let accepted = add(&project, "Phases are over", &[]);
    moved(&project, &accepted, &IssueEvent::Dispatched);
    moved(&project, &accepted, &IssueEvent::PhaseDelivered);

    assert_explained(
        &project,
        &[
            (
                &backlog,
                "- it is in the backlog until you start it with `symphony issue move SYM-1 todo`",
            ),
            (
                &gone,
                "It is cancelled: `symphony issue move SYM-2 todo` reopens it.",
            ),
            (
                &orphan,
                "- it waits for SYM-2, which is cancelled: `symphony issue edit SYM-3 --no-dependencies`",
            ),
            (
                &asks,
                "- it is blocked (agent): which time zone? `symphony issue comment SYM-4 TEXT` or `symphony issue move SYM-4 todo`",
            ),
            (
                &capped,
                "- it is blocked (cap): 12 of 10 tokens (spending.issue.tokens): `symphony config set spending.issue.tokens VALUE`",
            ),
            (
                &evil,
                "- it is blocked (tampered): core.fsmonitor was set: `symphony issue show SYM-6`",
            ),
            (
                &planned,
                "- waits for a planner, but planner_enabled is off\n- it waits for you: `symphony config set planner_enabled true`",
            ),
            (
                &nowhere,
                "- it waits for you: `symphony phase list` or `symphony issue edit SYM-8 --remove-label phase:nowhere`",
            ),
            (
                &spent,
                "- its circuit breaker is open: 1 failure in a row, 1 run without progress; the last one failed (agent failed: it gave up): `symphony issue show SYM-9` or `symphony issue retry SYM-9`",
            ),
            (
                &parent,
                "- all its sub-tasks were cancelled: `symphony issue move SYM-10 todo`",
            ),
            (
                &accepted,
                "- its review waits for you: `symphony issue move SYM-12 done`",
            ),
        ],
    );
    assert_eq!(
        inbox(&project),
        [
            "SYM-10 subtasks",
            "SYM-12 review",
            "SYM-3 dependency",
            "SYM-4 blocked",
            "SYM-5 blocked",
            "SYM-6 blocked",
            "SYM-7 undispatched",
            "SYM-8 undispatched",
            "SYM-9 breaker",
        ]
    );
    // the answer of each works
    project.ok(&["issue", "edit", &orphan, "--no-dependencies"]);
    project.ok(&["issue", "move", &asks, "todo"]);
    project.ok(&["issue", "retry", &spent]);
    project.ok(&["issue", "move", &accepted, "done"]);
    project.configure_more(&json!({ "max_retries": 1, "planner_enabled": true }));
    let left = inbox(&project);
    assert_eq!(
        left,
        [
            "SYM-10 subtasks",
            "SYM-5 blocked",
            "SYM-6 blocked",
            "SYM-8 undispatched"
        ]
    );
}

/// Makes a sub-task of an issue; returns it.
fn split(project: &Project, parent: &str) -> String {
    let new = NewSubtask {
        parent: id(parent),
        title: "A part".to_owned(),
        description: "Do a part of it.".to_owned(),
        priority: Some(Priority::None),
        size: None,
        depends_on: Vec::new(),
    };
    let context = Context::human(symphony_core::Timestamp::now());
    let made = store(project).add_subtask(&context, &new).unwrap();
    made.issue.id.to_string()
}

#[test]
fn issues_that_wait_for_something_else_are_explained_and_not_in_the_inbox() {
    let project = idle_project(&json!({ "judge_cooldown_ms": 300_000 }));
    let first = add(&project, "First", &[]);
    let second = add(&project, "Second", &["--depends-on", &first]);
    let failed = add(&project, "Failed once", &[]);
    failed_run(&project, &failed);
    let parent = add(&project, "Split", &[]);
    split(&project, &parent);
    let running = add(&project, "At work", &[]);
    let (run, _lock) = live_run(&project, &running);
    let unverified = add(&project, "Gates to come", &[]);
    open_pr(&project, &unverified, "A change");
    let cooling = add(&project, "Judged a moment ago", &[]);
    let pr = open_pr(&project, &cooling, "A change");
    record_gates(&project, pr, true);
    let judge = claimed_run(
        &project,
        RunTarget::PullRequest(id(&cooling).into(), pr),
        AgentType::Judge,
    );
    end_run(&project, &judge, ErrorClass::AgentFailed, 15);
    let judged = add(&project, "Approved", &[]);
    let pr = open_pr(&project, &judged, "A change");
    record_gates(&project, pr, true);
    project.ok(&["pr", "approve", &judged]);
    let done = add(&project, "Done", &[]);
    open_pr(&project, &done, "A change");
    project.ok(&["issue", "move", &done, "done"]);

    assert_explained(
        &project,
        &[
            (&first, "The next tick will do this: SYM-1: start a worker"),
            (&second, "- waits for SYM-1\n"),
            (&failed, "- it failed; next try in "),
            (
                &parent,
                "- it is blocked (subtasks): waits for its sub-tasks; it continues when they have ended",
            ),
            (&running, &format!("The worker is working on it: run {run}")),
            (&unverified, ": run its gates."),
            (&cooling, "- it was judged a moment ago; again in "),
            (
                &judged,
                "- pull request 3 is approved and waits for you to merge it: `symphony pr show SYM-9`",
            ),
            (
                &done,
                "It is done: `symphony issue move SYM-10 todo` reopens it.",
            ),
        ],
    );
    assert_eq!(inbox(&project), ["SYM-9 review"]);
}

#[test]
fn what_holds_a_whole_project_up_is_explained() {
    let project = idle_project(&json!({}));
    let issue = add(&project, "Wait", &[]);
    let reviewed = add(&project, "Reviewed", &[]);
    let pr = open_pr(&project, &reviewed, "A change");
    record_gates(&project, pr, true);
    let table = [
        (
            json!({ "judge_enabled": false }),
            &reviewed,
            "It is not running because:\n- pull request 1 waits for your verdict (judge_enabled is off): `symphony pr show SYM-2`",
        ),
        (
            json!({ "judge_enabled": false, "max_open_reviews": 1 }),
            &issue,
            "- 1 review waits for a person (max_open_reviews is 1)",
        ),
        (
            json!({ "migration_mode": false }),
            &issue,
            "- has no `phase:` label, and migration_mode is off\n- it waits for you: `symphony issue edit SYM-1 --add-label phase:ready`",
        ),
        (
            json!({ "provider": "command" }),
            &issue,
            "configuration is broken: ",
        ),
        (
            json!({ "provider": "claude-cli", "providers": { "claude-cli": { "binary": "/no/such/claude" } } }),
            &issue,
            "- no provider can be used: ",
        ),
        (
            json!({ "max_concurrency": 0 }),
            &issue,
            "configuration is broken: ",
        ),
    ];
    for (config, issue, expected) in table {
        project.configure_more(&config);
        assert_explained(&project, &[(issue, expected)]);
    }
    project.configure_more(&json!({ "provider": "claude-cli", "providers": { "claude-cli": { "binary": "/no/such/claude" } } }));
    assert_eq!(inbox(&project), ["- project"]);
    project.configure_more(&json!({}));
    project.ok(&["pause"]);
    let paused = "- Symphony is paused (`symphony resume` ends the pause)";
    assert_explained(&project, &[(&issue, paused), (&reviewed, paused)]);
    project.ok(&["resume"]);

    let held = add(&project, "Met an outage", &[]);
    let other = add(&project, "Met it too", &[]);
    let runs = [&held, &other]
        .map(|issue| claimed_run(&project, RunTarget::Issue(id(issue)), AgentType::Worker));
    for run in &runs {
        end_run(&project, run, ErrorClass::Overloaded, 15);
    }
    assert_explained(&project, &[(&held, "- provider scripted is on hold: ")]);
    assert_eq!(inbox(&project), ["- hold"], "one warning a hold");
    let resumed = project.ok(&["resume"]);
    assert!(
        resumed.contains("What was on hold (1) will be retried at once."),
        "{resumed}"
    );
    assert_eq!(inbox(&project), [""; 0]);
}

#[test]
fn the_limit_that_takes_the_slot_is_named() {
    let project = idle_project(&json!({}));
    let running = add(&project, "At work", &[]);
    let (_run, _lock) = live_run(&project, &running);
    let waits = add(&project, "Waits", &[]);
    let reviewed = add(&project, "Reviewed", &[]);
    let pr = open_pr(&project, &reviewed, "A change");
    record_gates(&project, pr, true);
    for (config, expected) in [
        (
            json!({ "max_concurrent_agents": 1 }),
            "- the only slot is taken (max_concurrent_agents)",
        ),
        (
            json!({ "max_concurrent_agents": 2 }),
            "- all 2 slots are taken (max_concurrent_agents)",
        ),
        (
            json!({ "max_concurrent_agents": 4, "max_concurrency": 1 }),
            "- the only slot of the project is taken (max_concurrency)",
        ),
        (
            json!({ "max_concurrent_agents": 4, "profiles": { "worker": { "max_concurrency": 1 } } }),
            "- the only slot for worker is taken",
        ),
    ] {
        project.configure_more(&config);
        assert_explained(&project, &[(&waits, expected)]);
    }
    // the judge is cooling down: a worker has its slot meanwhile
    let target = RunTarget::PullRequest(id(&reviewed).into(), pr);
    let judge = claimed_run(&project, target, AgentType::Judge);
    end_run(&project, &judge, ErrorClass::AgentFailed, 15);
    project.configure_more(&json!({ "max_concurrent_agents": 2, "judge_cooldown_ms": 300_000 }));
    let starts = "The next tick will do this: SYM-2: start a worker with scripted.";
    assert_explained(&project, &[(&waits, starts)]);
}

#[test]
fn what_keeps_intake_from_an_issue_of_the_backlog_is_explained() {
    let project = idle_project(&json!({}));
    let issue = add(&project, "Sort me", &["--status", "backlog"]);
    let asked = "- it is in the backlog until you start it with `symphony issue move SYM-1 todo`";
    project.ok(&["pause"]);
    // without intake, only a person matters
    let explained = project.ok(&["explain", &issue]);
    assert!(explained.ends_with(&format!("{asked}\n")), "{explained}");
    project.configure_more(&json!({ "intake_enabled": true, "provider": "claude-cli",
        "providers": { "claude-cli": { "binary": "/no/such/claude" } } }));
    assert_explained(
        &project,
        &[
            (&issue, asked),
            (
                &issue,
                "- Symphony is paused (`symphony resume` ends the pause)",
            ),
            (&issue, "- no provider can be used: "),
        ],
    );
    project.ok(&["resume"]);
    project.configure_more(&json!({ "intake_enabled": true, "max_concurrent_agents": 1 }));
    let running = add(&project, "At work", &[]);
    let (_run, _lock) = live_run(&project, &running);
    let kept = "- the only slot is taken (max_concurrent_agents)";
    assert_explained(&project, &[(&issue, asked), (&issue, kept)]);
    project.configure_more(&json!({ "intake_enabled": true, "max_concurrent_agents": 2 }));
    let explained = project.ok(&["explain", &issue]);
    assert!(
        explained.contains("The next tick will do this: SYM-1: start"),
        "{explained}"
    );
}

#[test]
fn an_approved_change_with_red_gates_is_not_offered_as_ready() {
    let project = idle_project(&json!({}));
    let issue = add(&project, "Red", &[]);
    let pr = open_pr(&project, &issue, "A change");
    record_gates(&project, pr, false);
    project.ok(&["pr", "approve", &issue, "--force", "--comment", "Fine"]);
    assert_eq!(inbox(&project), ["SYM-1 review"]);
    let item = &project.json(&["inbox"])["items"][0];
    let why =
        "pull request 1 is approved, but its required gates are red: only `--force` merges it";
    assert_eq!(item["text"], why);
    let answers = item["answers"].as_array().unwrap();
    assert!(
        answers.contains(&json!("symphony pr merge SYM-1 --force"))
            && !answers.contains(&json!("symphony pr merge SYM-1")),
        "{item:#}"
    );
    let explained = project.ok(&["explain", &issue]);
    assert_eq!(explained.matches("approved").count(), 1, "{explained}");
    project.assert_sound();
}

/// Nothing in `todo` and nothing in review: only the run that is at work needs the base.
#[test]
fn a_base_that_is_renamed_while_an_agent_works_is_reported_before_the_run_ends() {
    let project = idle_project(&json!({ "base_branch": "main" }));
    let issue = add(&project, "Work on it", &[]);
    let (_run, _lock) = live_run(&project, &issue);
    assert_eq!(inbox(&project), [""; 0]);
    project.git(&["branch", "-m", "main", "trunk"]);
    assert_eq!(inbox(&project), ["- project"]);
    let gone = "its base branch `main` does not exist";
    let status = project.ok(&["status"]);
    assert!(status.contains(gone), "{status}");
    let tick = project.symphony(&["tick"]);
    assert!(tick.stderr.contains(gone), "{tick:#?}");
    project.git(&["branch", "-m", "trunk", "main"]);
    assert_eq!(inbox(&project), [""; 0]);
    assert_eq!(project.symphony(&["tick"]).stderr, "");
}

#[test]
fn an_issue_that_is_not_ready_yet_has_the_same_reasons_in_status() {
    let project = Project::recorded();
    project.json(&["issue", "add", "First", "--status", "backlog"]);
    let arguments = ["issue", "add", "Second", "--label", "phase:research"];
    project.json(&[&arguments[..], &["--depends-on", "SYM-1"]].concat());
    let status = project.json(&["status"]);
    let explained = project.json(&["explain", "SYM-2"]);
    assert_eq!(status["queue"][0]["identifier"], "SYM-2");
    assert_eq!(status["queue"][0]["reasons"], explained["reasons"]);
}

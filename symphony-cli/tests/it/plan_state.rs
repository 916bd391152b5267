//! The commands of a skill on a state file, by the real program.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::thread;

use serde_json::{Value, json};

use crate::support::{Answer, Project, text};

const STATE: &str = ".symphony-state.json";

/// A folder with a plan: `phases` holds an id each and what it waits for.
fn folder(phases: &[(&str, &[&str])]) -> Project {
    let project = Project::repository("plans");
    let phases: Vec<Value> = phases
        .iter()
        .map(|(id, waits_for)| {
            json!({"id": id, "title": id, "objective": "o", "tasks": ["a"], "success_criteria": "s",
                   "required_context": {"artifacts_from": waits_for}})
        })
        .collect();
    let block = serde_json::to_string_pretty(&phases).unwrap();
    fs::write(
        project.root.join("plan.md"),
        format!("```symphony-phases\n{block}\n```\n"),
    )
    .unwrap();
    project
}

fn begun(phases: &[(&str, &[&str])]) -> Project {
    let project = folder(phases);
    project.ok(&["plan", "init-state", "plan.md"]);
    project
}

/// A diamond.
const DIAMOND: &[(&str, &[&str])] = &[
    ("top", &[]),
    ("left", &["top"]),
    ("right", &["top"]),
    ("bottom", &["right", "left"]),
];

fn state_path(project: &Project) -> PathBuf {
    project.root.join(STATE)
}

fn state(project: &Project) -> Value {
    serde_json::from_str(&fs::read_to_string(state_path(project)).unwrap()).unwrap()
}

/// Runs a command that succeeds and prints JSON in a form of its own.
fn plan(project: &Project, arguments: &[&str]) -> Value {
    let answer = project.ok(&[&["plan"], arguments].concat());
    serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer}"))
}

fn refused(project: &Project, arguments: &[&str]) -> Answer {
    let before = fs::read(state_path(project)).ok();
    let answer = project.symphony(&[&["plan"], arguments].concat());
    assert_ne!(answer.code, 0, "{answer:#?}");
    assert_eq!(answer.stdout, "", "{answer:#?}");
    assert_eq!(
        fs::read(state_path(project)).ok(),
        before,
        "a refusal changes nothing"
    );
    answer
}

#[test]
fn a_plan_is_carried_out_from_its_state_file() {
    let project = folder(DIAMOND);
    let begun = plan(&project, &["init-state", "plan.md"]);
    assert_eq!(
        begun,
        json!({"success": true, "statePath": STATE, "planPath": project.root.join("plan.md"),
               "orchestrationStatus": "running", "totalPhases": 4, "newlyReady": ["top"]})
    );
    let ready = plan(&project, &["ready", STATE]);
    assert_eq!(
        (&ready[0]["phase"]["id"], &ready[0]["artifacts"]),
        (&json!("top"), &json!([]))
    );
    assert_eq!(
        plan(&project, &["ready", STATE]),
        ready,
        "asking changes nothing"
    );

    let answer = plan(
        &project,
        &[
            "mark-complete",
            STATE,
            "top",
            r#"[{"type": "export", "name": "db", "content": "the pool"}]"#,
        ],
    );
    assert_eq!(
        answer,
        json!({"success": true, "phaseId": "top", "status": "complete", "orchestrationStatus": "running",
               "newlyReady": ["left", "right"], "blocked": [], "retryCount": 0})
    );
    let failed = plan(
        &project,
        &["mark-failed", STATE, "left", "connect ECONNREFUSED"],
    );
    assert_eq!(
        json!([
            failed["status"],
            failed["retryCount"],
            failed["error"],
            failed["options"]
        ]),
        json!(["retrying", 1, {"class": "transient", "confidence": "high", "matched": "ECONNREFUSED"}, null])
    );
    assert!(failed["nextRetryAt"].is_string());
    // so that no machine is slow enough to see it come
    let mut put_off = state(&project);
    put_off["phases"]["left"]["nextRetryAt"] = json!("2999-01-01T00:00:00Z");
    fs::write(state_path(&project), put_off.to_string()).unwrap();
    let early = refused(&project, &["retry-phase", STATE, "left"]);
    assert_eq!(early.code, 4);
    assert!(early.stderr.contains("--force"), "{early:#?}");
    assert_eq!(
        plan(&project, &["retry-phase", STATE, "left", "--force"])["status"],
        "ready"
    );
    let failed = plan(
        &project,
        &["mark-failed", STATE, "left", "-- 3 tests failed"],
    );
    assert_eq!(
        json!([
            failed["status"],
            failed["error"]["class"],
            failed["options"]
        ]),
        json!([
            "awaiting_decision",
            "logic",
            ["retry_once_more", "skip_phase", "abort_branch", "abort_all"]
        ])
    );
    let resolved = plan(&project, &["resolve", STATE, "left", "skip_phase"]);
    assert_eq!(
        json!([resolved["status"], resolved["warnings"]]),
        json!([
            "complete",
            ["phases that may lack artifacts of `left`: bottom"]
        ])
    );
    let started = plan(&project, &["ready", STATE, "--start"]);
    assert_eq!(
        (
            started.as_array().unwrap().len(),
            &started[0]["phase"]["id"]
        ),
        (1, &json!("right"))
    );
    assert_eq!(
        started[0]["artifacts"],
        json!([{"type": "export", "name": "db", "content": "the pool", "metadata": {"sourcePhase": "top"}}])
    );
    assert_eq!(state(&project)["phases"]["right"]["status"], "running");
    assert_eq!(plan(&project, &["ready", STATE]), json!([]));
    let answer = plan(&project, &["mark-complete", STATE, "right"]);
    assert_eq!(answer["newlyReady"], json!(["bottom"]));
    let last = plan(
        &project,
        &["mark-failed", STATE, "bottom", "it broke", "--no-retry"],
    );
    assert_eq!(
        json!([last["status"], last["orchestrationStatus"]]),
        json!(["failed", "failed"])
    );
    let ended = state(&project);
    assert_eq!(
        json!([
            ended["status"],
            ended["completedCount"],
            ended["failedCount"],
            ended["managedBy"]
        ]),
        json!(["failed", 3, 1, null])
    );
}

#[test]
fn paths_in_the_project_become_relative_to_it() {
    let project = begun(DIAMOND);
    let artifacts = json!([
        {"type": "file_created", "path": project.root.join("src/a.rs")},
        {"type": "file_modified", "path": "./src//b.rs"},
        {"type": "export", "name": "a", "path": "src/a.rs"},
    ]);
    plan(
        &project,
        &["mark-complete", STATE, "top", &artifacts.to_string()],
    );
    let kept = state(&project)["phases"]["top"]["artifacts"].clone();
    assert_eq!(
        kept,
        json!([
            {"type": "file_created", "path": "src/a.rs"},
            {"type": "file_modified", "path": "src/b.rs"},
            {"type": "export", "name": "a", "path": "src/a.rs"},
        ])
    );
    let outside = json!([{"type": "file_created", "path": project.beside.join("x")}]);
    let answer = refused(
        &project,
        &["mark-complete", STATE, "left", &outside.to_string()],
    );
    assert!(answer.stderr.contains("outside the project"), "{answer:#?}");
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    let project = begun(DIAMOND);
    for (arguments, code, word) in [
        (
            &["mark-complete", STATE, "left"][..],
            4,
            "phase `left` waits for `top`",
        ),
        (
            &["mark-complete", STATE, "nowhere"],
            3,
            "no phase `nowhere`",
        ),
        (&["mark-complete", STATE, "Top"], 2, "kebab-case"),
        (
            &["mark-complete", STATE, "top", "{}"],
            2,
            "expected a list, found an object",
        ),
        (
            &["mark-complete", STATE, "top", r#"[{"type": "thing"}]"#],
            2,
            "[0].type",
        ),
        (
            &[
                "mark-complete",
                STATE,
                "top",
                r#"[{"type": "file_created", "path": "../x"}]"#,
            ],
            1,
            "outside the project",
        ),
        (
            &["mark-complete", "gone.json", "top"],
            3,
            "`gone.json` was not found",
        ),
        (
            &["retry-phase", STATE, "top"],
            4,
            "`retry` cannot happen there",
        ),
        (
            &["resolve", STATE, "top", "skip_phase"],
            4,
            "phase `top` is ready",
        ),
        (&["resolve", STATE, "top", "give_up"], 2, "retry_once_more"),
    ] {
        let answer = refused(&project, arguments);
        assert_eq!(answer.code, code, "{arguments:?}: {answer:#?}");
        assert!(answer.stderr.contains(word), "{arguments:?}: {answer:#?}");
    }
}

#[test]
fn a_file_that_symphony_manages_is_refused_by_every_command_that_changes_it() {
    let project = begun(DIAMOND);
    let mut managed = state(&project);
    managed["managedBy"] = json!("symphony");
    fs::write(state_path(&project), managed.to_string()).unwrap();
    for arguments in [
        &["ready", STATE][..],
        &["ready", STATE, "--start"],
        &["mark-complete", STATE, "top"],
        &["mark-failed", STATE, "top", "x"],
        &["retry-phase", STATE, "top", "--force"],
        &["resolve", STATE, "top", "abort_all"],
        &["init-state", "plan.md"],
        &["init-state", "plan.md", "--force"],
    ] {
        let answer = refused(&project, arguments);
        assert_eq!(answer.code, 4, "{arguments:?}: {answer:#?}");
        assert!(
            answer.stderr.contains("hint:"),
            "{arguments:?}: {answer:#?}"
        );
    }
    // looking at it is free
    let prompt = project.ok(&[
        "plan", "prompt", "plan.md", "left", "--state", STATE, "--style", "task",
    ]);
    assert!(prompt.starts_with("## Phase: left\n"), "{prompt}");
}

#[test]
fn a_torn_or_foreign_file_is_an_error_with_its_place() {
    let project = begun(DIAMOND);
    let whole = fs::read_to_string(state_path(&project)).unwrap();
    let lines = whole.lines().count();
    for (text, place) in [
        (whole.split_at(whole.len() / 2).0.to_owned(), " at line "),
        (String::new(), "line 1 column 0"),
        (
            "{\"items\": []}\n".to_owned(),
            "missing field `planPath` at line 1 column 13",
        ),
        (whole.replace("\"ready\"", "\"dancing\""), "phases.top"),
        (
            format!("{whole}x"),
            &*format!("line {} column 1", lines + 1),
        ),
    ] {
        fs::write(state_path(&project), &text).unwrap();
        let answer = refused(&project, &["mark-complete", STATE, "top"]);
        assert_eq!(answer.code, 1, "{answer:#?}");
        assert!(answer.stderr.contains(place), "{place}: {answer:#?}");
        assert!(answer.stderr.contains("init-state"), "{answer:#?}");
    }
    fs::write(state_path(&project), b"\xff").unwrap();
    let answer = refused(&project, &["ready", STATE]);
    assert!(answer.stderr.contains("line 1 is not UTF-8"), "{answer:#?}");
}

#[test]
fn a_plan_under_way_is_replaced_only_by_force() {
    let project = begun(DIAMOND);
    project.ok(&["plan", "init-state", "plan.md"]);
    project.ok(&["plan", "mark-complete", STATE, "top"]);
    let answer = refused(&project, &["init-state", "plan.md"]);
    assert_eq!(answer.code, 4, "{answer:#?}");
    project.ok(&["plan", "init-state", "plan.md", "--force"]);
    assert_eq!(state(&project)["completedCount"], 0);
    // one that has ended is in nobody's way
    for phase in ["top", "left", "right", "bottom"] {
        project.ok(&["plan", "mark-complete", STATE, phase]);
    }
    assert_eq!(state(&project)["status"], "completed");
    project.ok(&["plan", "init-state", "plan.md"]);
    assert_eq!(state(&project)["status"], "running");
    // another file is never taken for one
    fs::write(project.root.join("notes.json"), "[]").unwrap();
    let answer = refused(&project, &["init-state", "plan.md", "-o", "notes.json"]);
    assert_eq!(answer.code, 4, "{answer:#?}");
    let answer = refused(
        &project,
        &["init-state", "plan.md", "-o", "no/such/folder.json"],
    );
    assert_eq!(answer.code, 1, "{answer:#?}");
}

#[test]
fn a_link_is_followed_and_permissions_are_kept() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = folder(DIAMOND);
    fs::create_dir(project.root.join("kept")).unwrap();
    project.ok(&["plan", "init-state", "plan.md", "-o", "kept/state.json"]);
    let real = project.root.join("kept/state.json");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("kept/state.json", state_path(&project)).unwrap();
    project.ok(&["plan", "mark-complete", STATE, "top"]);
    assert!(
        fs::symlink_metadata(state_path(&project))
            .unwrap()
            .is_symlink()
    );
    assert_eq!(
        fs::metadata(&real).unwrap().permissions().mode() & 0o777,
        0o640
    );
    assert_eq!(state(&project)["completedCount"], 1);
    let left: Vec<_> = fs::read_dir(project.root.join("kept")).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing lies about beside it: {left:?}");
}

#[test]
fn eight_processes_at_once_lose_no_update() {
    const WORKERS: usize = 8;
    const PHASES: usize = 40;
    let ids: Vec<String> = (0..PHASES).map(|n| format!("phase-{n}")).collect();
    let phases: Vec<(&str, &[&str])> = ids.iter().map(|id| (id.as_str(), &[][..])).collect();
    let project = begun(&phases);
    let given: Vec<String> = thread::scope(|scope| {
        let work = || {
            let mut own = Vec::new();
            loop {
                let ready = plan(&project, &["ready", STATE, "--start", "--max", "1"]);
                let Some(first) = ready.get(0) else {
                    return own;
                };
                let id = text(&first["phase"]["id"]);
                let artifacts =
                    json!([{"type": "note", "content": format!("by {id}")}]).to_string();
                plan(&project, &["mark-complete", STATE, &id, &artifacts]);
                own.push(id);
            }
        };
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap())
            .collect()
    });
    assert_eq!(given.len(), PHASES, "each phase was given out once");
    let all: BTreeSet<&String> = given.iter().collect();
    assert_eq!(all, ids.iter().collect());
    let state = state(&project);
    assert_eq!(
        json!([state["status"], state["completedCount"]]),
        json!(["completed", PHASES])
    );
    for id in &ids {
        assert_eq!(
            state["phases"][id]["artifacts"][0]["content"],
            format!("by {id}")
        );
    }
}

#[test]
fn errors_are_classified() {
    let project = Project::repository("plans");
    assert_eq!(
        plan(&project, &["classify-error", "--flag: HTTP 503"]),
        json!({"class": "transient", "confidence": "high", "matched": "503"})
    );
    assert_eq!(
        plan(&project, &["classify-error", "nobody knows"]),
        json!({"class": "unknown", "confidence": "low"})
    );
}

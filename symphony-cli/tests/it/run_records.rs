//! Runs on the command line, as they are recorded.

use serde_json::json;

use crate::records::failed_run;
use crate::support::Project;
use crate::transcript::{Transcript, assert_transcript};

#[test]
fn a_failed_run_is_listed_shown_and_explained() {
    let project = Project::recorded();
    let issue = project.add_issue("One");
    let run = failed_run(&project, &issue);
    let run = run.as_str();
    let transcript = Transcript::of(&project)
        .run(&["runs", "list"])
        .run(&["runs", "list", "--issue", "SYM-1", "--live"])
        .run(&["runs", "list", "--issue", "SYM-99"])
        .run(&["runs", "show", "SYM-1"])
        .run(&["runs", "cancel", run])
        .run(&["runs", "logs", run])
        .run(&["runs", "show", "SYM-9"])
        .run(&["runs", "show", "nothing"]);
    assert_transcript!("runs", transcript);
    assert_eq!(project.run(run.get(..30).unwrap())["id"], run);
    assert_eq!(project.run(run.get(24..).unwrap())["id"], run);
}

#[test]
fn a_run_in_json() {
    let project = Project::recorded();
    let issue = project.add_issue("One");
    let id = failed_run(&project, &issue);
    let run = project.run(id.as_str());
    assert_eq!(
        json!({
            "id": run["id"], "issue": run["issue"], "profile": run["profile"], "phase": run["phase"],
            "attempt": run["attempt"], "provider": run["provider"], "model": run["model"], "status": run["status"],
            "exit_code": run["exit_code"], "error": run["error"], "usage": run["usage"], "worktree": run["worktree"],
            "branch": run["branch"], "metadata": run["metadata"],
        }),
        json!({
            "id": id.as_str(), "issue": "SYM-1", "profile": "worker", "phase": null, "attempt": 1,
            "provider": "scripted", "model": null, "status": "failed", "exit_code": 3,
            "error": { "class": "agent_failed", "message": "it gave up" },
            "usage": { "input_tokens": 0, "output_tokens": 0, "cache_read_tokens": 0, "cache_creation_tokens": 0,
                       "cost_usd": null, "turns": 0 },
            "worktree": null, "branch": null, "metadata": {},
        })
    );
    assert!(
        run["duration_ms"].is_u64() && run["started_at"].is_string() && run["ended_at"].is_string(),
        "{run:#}"
    );
}

#[test]
fn logs_are_formatted_raw_or_json() {
    let project = Project::recorded();
    let issue = project.add_issue("One");
    let run = failed_run(&project, &issue);
    let folder = project.run_folder(run.as_str());
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(
        folder.join("log.txt"),
        "23:59:58 [text] \u{1b}[31mred\n00:00:01 [result] done",
    )
    .unwrap();
    std::fs::write(folder.join("stream.ndjson"), "{\"a\": \"\u{1b}\"}\n").unwrap();
    assert_eq!(
        project.ok(&["runs", "logs", "SYM-1"]),
        "23:59:58 [text] ␛[31mred\n00:00:01 [result] done\n"
    );
    // a run that is over is not followed
    assert_eq!(
        project.ok(&["runs", "logs", "SYM-1", "-f", "--raw"]),
        "{\"a\": \"\u{1b}\"}\n"
    );
    let lines = project.ok(&["runs", "logs", "SYM-1", "--json"]);
    let kinds: Vec<serde_json::Value> = lines
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|line| {
            json!([
                line["version"],
                line["run"],
                line["kind"],
                line["text"],
                line["at"].is_string()
            ])
        })
        .collect();
    assert_eq!(
        json!(kinds),
        json!([
            [1, run.as_str(), "text", "\u{1b}[31mred", true],
            [1, run.as_str(), "result", "done", true]
        ])
    );
}

#[test]
fn the_last_lines_of_a_log_are_on_the_day_on_which_it_was_written() {
    let project = Project::recorded();
    let issue = project.add_issue("One");
    let run = failed_run(&project, &issue);
    let folder = project.run_folder(run.as_str());
    std::fs::create_dir_all(&folder).unwrap();
    let log = folder.join("log.txt");
    std::fs::write(
        &log,
        "09:00:00 [text] a\n23:59:58 [text] b\n00:00:01 [result] c\n",
    )
    .unwrap();
    let written = std::time::UNIX_EPOCH + std::time::Duration::from_secs(4_102_444_802);
    let file = std::fs::File::options().append(true).open(&log).unwrap();
    file.set_modified(written).unwrap();
    std::fs::write(folder.join("stream.ndjson"), "{}\n[]\n").unwrap();
    assert_eq!(
        project.ok(&["runs", "logs", "SYM-1", "-f", "--tail", "2"]),
        "23:59:58 [text] b\n00:00:01 [result] c\n"
    );
    assert_eq!(
        project.ok(&["runs", "logs", "SYM-1", "--raw", "-n", "1"]),
        "[]\n"
    );
    let lines = project.ok(&["runs", "logs", "SYM-1", "--json", "-n", "2"]);
    let times: Vec<serde_json::Value> = lines
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["at"].clone())
        .collect();
    assert_eq!(
        json!(times),
        json!(["2099-12-31T23:59:58.000Z", "2100-01-01T00:00:01.000Z"])
    );
    assert_eq!(
        project.symphony(&["runs", "logs", "SYM-1", "-n", "0"]).code,
        2
    );
}

#[test]
fn status_tick_and_pause_say_what_waits() {
    let project = Project::recorded();
    project.add_issue("One");
    project.ok(&["issue", "add", "Two", "--depends-on", "SYM-1"]);
    project.ok(&["issue", "add", "Three", "--label", "phase:unheard-of"]);
    failed_run(&project, "SYM-1");
    let transcript = Transcript::of(&project)
        .run(&["explain", "SYM-2"])
        .run(&["explain", "SYM-3"])
        .run(&["pause"])
        .run(&["tick", "--dry-run"])
        .run(&["tick"])
        .run(&["-q", "tick"])
        .run(&["resume"])
        .run(&["tick", "--dry-run", "--wait"]);
    assert_transcript!("waiting", transcript);
    let status = project.json(&["status"]);
    assert_eq!(status["retries"][0]["issue"], "SYM-1");
    assert_eq!(status["queue"].as_array().unwrap().len(), 3);
    assert_eq!(status["issues"], json!({ "todo": 3 }));
    let explained = project.json(&["explain", "SYM-2"]);
    assert_eq!(explained["reasons"][0]["reason"], "waiting_on");
    assert_eq!(explained["reasons"][0]["issues"], json!(["SYM-1"]));
}

#[test]
fn a_tick_in_json_has_actions_and_decisions() {
    let project = Project::recorded();
    project.add_issue("One");
    project.ok(&["issue", "add", "Three", "--label", "phase:unheard-of"]);
    let tick = project.json(&["tick", "--dry-run"]);
    assert_eq!(
        tick["actions"],
        json!([{ "action": "start_run", "project": "tool", "issue": "SYM-1", "pull_request": null, "run": null,
                 "profile": "worker", "phase": null, "attempt": 1, "provider": "command" }])
    );
    assert_eq!(tick["decisions"][0]["issue"], "SYM-2");
    assert_eq!(
        tick["decisions"][0]["reasons"][0]["reason"],
        "unknown_phase"
    );
    assert_eq!(
        project.json(&["runs", "list"])["items"],
        json!([]),
        "a dry run starts nothing"
    );
}

#[test]
fn a_tick_in_json_says_what_it_did_as_the_text_does() {
    let project = Project::recorded();
    project.add_issue("One");
    let tick = project.json(&["tick"]);
    let run = tick["runs"][0]["id"].as_str().unwrap();
    assert_eq!(
        tick["events"],
        json!([{ "event": "run_started", "project": "tool", "issue": "SYM-1", "run": run,
                 "text": format!("SYM-1: worker: started run {run}") }])
    );
}

#[test]
fn a_second_tick_says_that_another_is_at_work() {
    let project = Project::recorded();
    let path = project.root.join(".symphony/symphony.tick.lock");
    let lock = std::fs::File::create(path).unwrap();
    lock.lock().unwrap();
    let answer = project.symphony(&["tick"]);
    assert_eq!(
        (answer.code, answer.stdout.as_str()),
        (0, "Another tick is running.\n")
    );
    assert_eq!(project.json(&["tick"])["busy"], true);
}

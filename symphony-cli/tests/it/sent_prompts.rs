//! The prompts of past runs: what was sent, without secret values, for as long as the logs are kept.

use serde_json::{Value, json};

use crate::support::{Project, commit, create_pr, scenarios, text, worker};

/// A value that a prompt gets from a note of the vault.
const KEY: &str = "sk-live-0123456789abcdef";

#[test]
fn the_prompts_of_a_past_run_are_shown_without_secret_values() {
    let plays = scenarios([worker([
        commit("hello.txt", "hello"),
        create_pr("Expire sessions"),
    ])]);
    let config =
        json!({ "vault": { "path": "notes" }, "judge_enabled": false, "keep_run_files": false });
    let project = Project::new("project", &plays, &config);
    std::fs::write(project.root.join(".env"), format!("API_KEY={KEY}\n")).unwrap();
    std::fs::create_dir(project.root.join("notes")).unwrap();
    let note = format!("# Sessions\nSessions expire; log in with {KEY}.");
    std::fs::write(project.root.join("notes/sessions.md"), note).unwrap();
    project.add_issue("Expire sessions");
    let run = project.tick_one("worker", "succeeded");
    let id = text(&run["id"]);
    let folder = project.run_folder(&id);
    assert!(!folder.join("system-prompt.md").exists());

    let sent = project.json(&["runs", "prompt", "SYM-1"]);
    let system = text(&sent["system"]);
    assert!(
        system.contains("log in with [redacted: API_KEY].") && !system.contains(KEY),
        "{system}"
    );
    assert!(text(&sent["user"]).starts_with("# SYM-1: Expire sessions\n"));
    assert_eq!(sent["report"], run["metadata"]["prompt"]);
    let shown = project.ok(&["runs", "prompt", &id, "--texts"]);
    assert!(
        shown.contains("vault") && shown.contains(&system),
        "{shown}"
    );
    // the same issue now, beside that run
    let now = project.json(&["prompt", "show", "SYM-1", "--diff-run", &id]);
    assert!(now["difference"]["diff"].is_string(), "{now:#}");

    std::fs::remove_file(folder.join("sent-user-prompt.md")).unwrap();
    let gone = project.json(&["runs", "prompt", "SYM-1"]);
    assert_eq!(
        (&gone["system"], &gone["user"], &gone["report"]),
        (&Value::Null, &Value::Null, &sent["report"])
    );
    let shown = project.ok(&["runs", "prompt", &id, "--texts"]);
    assert!(
        shown.contains("It is no longer kept (`log_retention_days`)."),
        "{shown}"
    );
}

#[test]
fn a_run_without_prompts_says_so() {
    let project = Project::recorded();
    project.add_issue("One");
    let run = crate::records::failed_run(&project, "SYM-1");
    let shown = project.symphony(&["runs", "prompt", run.as_str()]);
    assert_eq!(
        (shown.code, shown.stderr),
        (
            3,
            format!(
                "error: failed to show the prompts: run {} has no report on its prompts\nhint: gates have no prompts, and \
                 neither does a run that ended before its prompts were built or in which a person works\n",
                run.as_str()
            )
        )
    );
}

//! Messages of a person to the real CLIs at work, in front of the scripted model.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{
    RealCli, WORKER, agents_of, call, git_commit, scenario, scenarios, text, turn, until,
};

const SAID: &str = "Greet the moon.";

/// A turn that runs a command with the CLI's own tool.
fn shell(cli: RealCli, command: &str) -> Value {
    turn(cli.shaped(call("Bash", json!({ "command": command }))))
}

/// The turns of a worker that waits for `go` in the middle of its work.
fn waits(cli: RealCli, meeting: &Path) -> [Value; 4] {
    let path = |name: &str| meeting.join(name).display().to_string();
    let wait = format!(
        "touch '{}'; python3 -c 'import os, sys, time\nwhile not os.path.exists(sys.argv[1]): time.sleep(0.05)' '{}'",
        path("started"),
        path("go")
    );
    let commit = format!(
        "echo hello > hello.txt && {}",
        git_commit("hello.txt", "hello")
    );
    let input = json!({ "title": "Say hello", "body": "As asked." });
    [
        shell(cli, &wait),
        shell(cli, &commit),
        turn(cli.shaped(call("mcp__symphony__create_pr", input))),
        json!({ "content": [{ "type": "text", "text": "Done." }] }),
    ]
}

/// A message reaches the agent in the turn that runs, and is not given to the next run.
fn at_work(cli: RealCli) {
    let meeting = tempfile::tempdir().unwrap();
    let when = json!({ "match_system": WORKER });
    let plays = scenarios([scenario("waits", &when, waits(cli, meeting.path()))]);
    let (project, model) = cli.project(&plays.to_string(), &json!({ "judge_enabled": false }));
    project.add_issue("Say hello");
    let run = project.tick_start();
    until("the agent is in the middle of its work", || {
        meeting.path().join("started").exists().then_some(())
    });
    let sent = project.json(&["runs", "say", "SYM-1", SAID]);
    assert_eq!(
        (
            text(&sent["reach"]),
            text(&sent["run"]),
            text(&sent["content"])
        ),
        ("at_work".to_owned(), run.clone(), SAID.to_owned())
    );
    until("the message was sent", || {
        project.run_log_has(&run, "[message]").then_some(())
    });
    std::fs::write(meeting.path().join("go"), "").unwrap();
    project.until_ended(&run);
    let found = project.run(&run);
    assert_eq!(found["status"], "succeeded", "{found:#}");
    assert_eq!(agents_of(&run), [""; 0]);
    let requests = model.requests();
    let has_it = |request: &&Value| request.to_string().contains(SAID);
    let first = requests.iter().position(|request| has_it(&request));
    assert!(first.is_some_and(|first| first > 0), "{requests:#?}");
    let comments = project.json(&["issue", "show", "SYM-1"])["comments"].clone();
    assert_eq!(
        comments[0]["message"]["read"]["run"],
        run.as_str(),
        "{comments:#}"
    );
}

#[test]
fn the_real_claude_reads_a_message_while_it_works() {
    at_work(RealCli::Claude);
}

#[test]
fn the_real_codex_app_server_reads_a_message_while_it_works() {
    at_work(RealCli::CodexAppServer);
}

#[test]
fn the_real_opencode_reads_a_message_while_it_works() {
    at_work(RealCli::Opencode);
}

#[test]
fn the_real_qwen_code_reads_a_message_while_it_works() {
    at_work(RealCli::Qwen);
}

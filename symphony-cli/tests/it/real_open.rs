//! A person in the session of a real CLI, in front of the scripted model: they ask something, see the answer, leave, and
//! the next run goes on.

use serde_json::{Value, json};

use crate::support::{
    RealCli, Terminal, WORKER, call, git_commit, scenario, scenarios, text, turn,
};

fn shell(cli: RealCli, command: &str) -> Value {
    turn(cli.shaped(call("Bash", json!({ "command": command }))))
}

fn say(said: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": said }] })
}

/// One conversation: a worker's first run, a person's session, and the worker's second run.
fn conversation(cli: RealCli) -> Value {
    let commit = |file: &str, content: &str| {
        let commit = git_commit(file, content);
        shell(cli, &format!("echo '{content}' > {file} && {commit}"))
    };
    let pr = json!({ "title": "Say hello", "body": "As asked." });
    let create_pr = turn(cli.shaped(call("mcp__symphony__create_pr", pr)));
    let turns = vec![
        commit("one.txt", "one"),
        say("The worker stops here."),
        shell(cli, "echo two > two.txt"),
        turn(cli.shaped(call(
            "mcp__symphony__add_comment",
            json!({ "content": "A person asked." }),
        ))),
        say("The answer for a person."),
        commit("three.txt", "three"),
        create_pr,
        say("Handed in."),
    ];
    scenarios([scenario(
        "worker",
        &json!({ "match_system": WORKER }),
        turns,
    )])
}

fn types(terminal: &mut Terminal, line: &str) {
    terminal.press(line);
    terminal.until_seen("what was typed", |lines| {
        lines.iter().any(|one| one.contains(line))
    });
    terminal.press("\r");
}

/// Takes an issue over between two runs of its worker.
fn takes_over(cli: RealCli, leave: &str, config: &Value) {
    let mut whole = json!({
        "resume": "auto",
        "max_retry_backoff_ms": 1,
        "judge_enabled": false,
        "gates": [],
    });
    for (key, value) in config.as_object().unwrap() {
        whole[key] = value.clone();
    }
    let (mut project, _model) = cli.project(&conversation(cli).to_string(), &whole);
    if cli == RealCli::Claude {
        // what a person has long answered
        let answers = json!({
            "hasCompletedOnboarding": true,
            "customApiKeyResponses": { "approved": ["no-key-of-anybody"], "rejected": [] },
        });
        std::fs::write(project.home.join(".claude.json"), answers.to_string()).unwrap();
        project.set_variable("CLAUDE_CODE_SANDBOXED", "1");
    }
    project.json(&["issue", "add", "Say hello", "--description", "Say it."]);
    let first = project.tick_one("worker", "succeeded");

    let mut terminal = Terminal::start(&project, 100, &["runs", "open", "SYM-1"]);
    terminal.until_seen("the session so far", |lines| {
        lines
            .iter()
            .any(|line| line.contains("The worker stops here."))
    });
    types(&mut terminal, "What now?");
    terminal.until_seen("the answer", |lines| {
        lines
            .iter()
            .any(|line| line.contains("The answer for a person."))
    });
    types(&mut terminal, leave);
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen:#?}");
    let run = project.json(&["runs", "list"])["items"][0].clone();
    assert_eq!(
        json!([
            run["status"],
            run["metadata"]["session"],
            run["metadata"]["interactive"]
        ]),
        json!(["succeeded", first["metadata"]["session"], true]),
        "{run:#}"
    );
    assert_eq!(
        project.git(&["show", "symphony/SYM-1:two.txt"]).trim(),
        "two"
    );
    let issue = project.issue("SYM-1");
    assert_eq!(issue["status"], "blocked");
    let comments = issue["comments"].to_string();
    assert!(comments.contains("A person asked."), "{comments}");
    assert_eq!(project.tick_wait(), Vec::<Value>::new());

    project.ok(&["issue", "release", "SYM-1"]);
    let last = project.tick_one("worker", "succeeded");
    let resumed = json!({ "outcome": "resumed", "run": run["id"] });
    assert_eq!(last["metadata"]["resumed"], resumed, "{last:#}");
    assert_eq!(
        text(&last["metadata"]["session"]),
        text(&first["metadata"]["session"])
    );
    assert_eq!(project.issue("SYM-1")["status"], "review");
    assert_eq!(
        project.git(&["show", "symphony/SYM-1:three.txt"]).trim(),
        "three"
    );
    project.assert_sound();
}

#[test]
fn a_person_works_in_the_session_of_the_real_claude_cli() {
    takes_over(RealCli::Claude, "/exit", &json!({}));
}

#[test]
fn a_person_works_in_the_session_of_the_real_codex_cli() {
    takes_over(RealCli::Codex, "/quit", &json!({}));
}

#[test]
fn a_person_works_in_the_session_of_the_real_claude_cli_in_a_sandbox() {
    let config = json!({ "sandbox": "namespace" });
    takes_over(RealCli::Claude, "/exit", &config);
}

#[test]
fn a_person_works_in_the_session_of_the_real_codex_cli_in_a_sandbox() {
    takes_over(RealCli::Codex, "/quit", &json!({ "sandbox": "namespace" }));
}

//! Second attempts of the real CLIs, in front of the scripted model: they resume the session of the first, and are sent
//! only what is new.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{
    JUDGE, Model, Project, RealCli, WORKER, call, git_commit, scenario, scenarios, text, turn,
};

/// What the model deals out for each request.
const DEALT: [u64; 2] = [111, 22];
const POINT: &str = "Greet the world.";
const DESCRIPTION: &str = "hello.txt says hello.";

/// A turn that runs a command with the CLI's own tool.
fn shell(cli: RealCli, command: &str) -> Value {
    turn(cli.shaped(call("Bash", json!({ "command": command }))))
}

/// A turn that calls a tool of Symphony's.
fn symphony(cli: RealCli, name: &str, input: Value) -> Value {
    turn(cli.shaped(call(&format!("mcp__symphony__{name}"), input)))
}

fn say(said: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": said }] })
}

fn commit(cli: RealCli, content: &str) -> Value {
    let commit = git_commit("hello.txt", content);
    shell(cli, &format!("echo '{content}' > hello.txt && {commit}"))
}

fn create_pr(cli: RealCli) -> Value {
    let input = json!({ "title": "Say hello", "body": "As asked." });
    symphony(cli, "create_pr", input)
}

/// What the second attempt does with the point.
fn greets(cli: RealCli) -> [Value; 4] {
    let answer = json!({ "point": 1, "answer": "fixed", "text": "it greets the world" });
    [
        commit(cli, "hello world"),
        symphony(cli, "answer_review_point", answer),
        create_pr(cli),
        say("Greeted."),
    ]
}

fn rejects(cli: RealCli) -> [Value; 2] {
    let points = json!([{ "text": POINT, "file": "hello.txt", "lines": "1" }]);
    [
        symphony(cli, "reject_pr", json!({ "points": points })),
        say("Rejected."),
    ]
}

fn approves(cli: RealCli) -> [Value; 2] {
    let closed = json!({ "comment": "Good.", "points": [{ "id": 1, "state": "closed" }] });
    [symphony(cli, "approve_pr", closed), say("Approved.")]
}

/// One conversation of each role; each attempt is a part of it.
fn one_conversation(cli: RealCli) -> Value {
    let mut worker = vec![commit(cli, "bye"), create_pr(cli), say("Written.")];
    worker.extend([commit(cli, "hello"), create_pr(cli), say("Repaired.")]);
    worker.extend(greets(cli));
    let mut judge = rejects(cli).to_vec();
    judge.extend(approves(cli));
    plays([
        ("worker", WORKER, None, worker),
        ("judge", JUDGE, None, judge),
    ])
}

/// A conversation for each attempt, known by what only its prompt has.
fn many_conversations(cli: RealCli) -> Value {
    let first = vec![commit(cli, "hello"), create_pr(cli), say("Written.")];
    plays([
        (
            "worker, second",
            WORKER,
            Some("Greet the world"),
            greets(cli).to_vec(),
        ),
        ("worker", WORKER, None, first),
        (
            "judge, second",
            JUDGE,
            Some("Greet the world"),
            approves(cli).to_vec(),
        ),
        ("judge", JUDGE, None, rejects(cli).to_vec()),
    ])
}

/// A play: its name, what the system prompt and the first prompt have, and its turns.
type Play<'a> = (&'a str, &'a str, Option<&'a str>, Vec<Value>);

fn plays<const N: usize>(of: [Play<'_>; N]) -> Value {
    scenarios(of.map(played))
}

fn played((name, system, prompt, turns): Play<'_>) -> Value {
    let usage = json!({ "input_tokens": DEALT[0], "output_tokens": DEALT[1] });
    let mut when = json!({ "match_system": system, "usage": usage });
    if let Some(prompt) = prompt {
        when["match_prompt"] = json!(prompt);
    }
    scenario(name, &when, turns)
}

fn project(cli: RealCli, plays: &Value, config: &Value) -> (Project, Model) {
    let mut whole = json!({ "resume": "auto", "max_retry_backoff_ms": 1 });
    for (key, value) in config.as_object().unwrap() {
        whole[key] = value.clone();
    }
    let (project, model) = cli.project(&plays.to_string(), &whole);
    project.json(&["issue", "add", "Say hello", "--description", DESCRIPTION]);
    (project, model)
}

/// The requests of a run, by their number in the whole conversation.
fn requests_of(model: &Model, scenario: &str, turns: std::ops::Range<u64>) -> Vec<Value> {
    let mut requests = model.requests();
    requests.retain(|request| {
        request["scenario"] == scenario && turns.contains(&request["turn"].as_u64().unwrap())
    });
    requests
}

/// The text that was sent last in a request.
fn last_text(request: &Value) -> String {
    let body = &request["body"];
    let messages = body["messages"]
        .as_array()
        .or(body["input"].as_array())
        .unwrap();
    let of_user = messages
        .iter()
        .rev()
        .find(|message| message["role"] == "user")
        .unwrap();
    let content = &of_user["content"];
    let block = content
        .as_array()
        .and_then(|blocks| blocks.last())
        .unwrap_or(content);
    text(block.get("text").unwrap_or(block))
}

fn assert_used(run: &Value, requests: u64) {
    // opencode reports the last request of a turn
    let requests = if run["provider"] == RealCli::Opencode.provider() {
        1
    } else {
        requests
    };
    let usage = &run["usage"];
    assert_eq!(
        json!([usage["input_tokens"], usage["output_tokens"]]),
        json!([DEALT[0] * requests, DEALT[1] * requests]),
        "{run:#}"
    );
}

fn session(run: &Value) -> String {
    text(&run["metadata"]["session"])
}

/// A red gate, then a rejection: each next run goes on in the session, until the pull request is merged.
pub(crate) fn resumes(cli: RealCli, config: &Value) -> Project {
    let (project, model) = project(cli, &one_conversation(cli), config);
    let first = project.tick_one("worker", "succeeded");
    assert_eq!(
        first["metadata"]["resumed"],
        json!({ "outcome": "new", "why": "first" })
    );
    let second = project.tick_one("worker", "succeeded");
    let judge = project.tick_one("judge", "succeeded");
    let third = project.tick_one("worker", "succeeded");
    let last = project.tick_one("judge", "succeeded");
    for (run, before) in [(&second, &first), (&third, &second), (&last, &judge)] {
        let expected = json!({ "outcome": "resumed", "run": before["id"] });
        assert_eq!(run["metadata"]["resumed"], expected, "{run:#}");
        assert_eq!(session(run), session(before));
        let shown = project.ok(&["runs", "show", &text(&run["id"])]);
        assert!(shown.contains("resumed from run "), "{shown}");
    }
    assert_ne!(
        session(&first),
        session(&judge),
        "a judge never gets a worker's"
    );
    for (run, requests) in [
        (&first, 3),
        (&second, 3),
        (&judge, 2),
        (&third, 4),
        (&last, 2),
    ] {
        assert_used(run, requests);
    }

    let repaired = requests_of(&model, "worker", 3..4).remove(0);
    let news = last_text(&repaired);
    assert!(news.contains("## This Session Goes On"), "{news}");
    assert!(news.contains("check"), "the gate's output is new: {news}");
    assert!(!news.contains(DESCRIPTION), "{news}");
    assert!(
        text(&repaired["prompt"]).contains(DESCRIPTION),
        "the session has the first prompt"
    );
    let greeted = requests_of(&model, "worker", 6..7).remove(0);
    let news = last_text(&greeted);
    assert!(
        news.contains(POINT) && !news.contains(DESCRIPTION),
        "{news}"
    );
    let sent = project.run_file(&text(&third["id"]), "sent-user-prompt.md");
    assert_eq!(news.trim(), sent.trim());
    let shown = project.ok(&["runs", "prompt", &text(&third["id"])]);
    assert!(
        shown.contains("not sent again: the session has it"),
        "{shown}"
    );
    let judged = last_text(&requests_of(&model, "judge", 2..3).remove(0));
    assert!(
        judged.contains("+hello world") && judged.contains(POINT),
        "{judged}"
    );

    project.json(&["pr", "merge", "SYM-1"]);
    assert_eq!(project.issue("SYM-1")["status"], "done");
    assert!(!kept(&project).exists(), "an ended issue keeps no session");
    project.assert_sound();
    project
}

fn kept(project: &Project) -> PathBuf {
    project.root.join(".symphony/sessions/issue/SYM-1")
}

#[test]
fn attempts_of_the_real_claude_cli_resume_their_session() {
    resumes(RealCli::Claude, &json!({}));
}

#[test]
fn attempts_of_the_real_codex_cli_resume_their_session() {
    resumes(RealCli::Codex, &json!({}));
}

#[test]
fn attempts_of_the_real_claude_cli_resume_their_session_in_a_sandbox() {
    resumes(RealCli::Claude, &json!({ "sandbox": "namespace" }));
}

#[test]
fn attempts_of_the_real_codex_app_server_resume_their_session() {
    resumes(RealCli::CodexAppServer, &json!({}));
}

#[test]
fn attempts_of_the_real_opencode_resume_their_session() {
    resumes(RealCli::Opencode, &json!({}));
}

#[test]
fn attempts_of_the_real_qwen_code_resume_their_session_in_a_sandbox() {
    resumes(RealCli::Qwen, &json!({ "sandbox": "namespace" }));
}

/// Removes the files of all sessions below a folder.
fn expire(folder: &Path) -> usize {
    let mut removed = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            removed += expire(&path);
        } else if path.extension().is_some_and(|end| end == "jsonl") {
            std::fs::remove_file(path).unwrap();
            removed += 1;
        }
    }
    removed
}

/// The session is gone: the same run goes on with the full prompt.
fn falls_back(cli: RealCli) {
    let config = json!({ "sandbox": "namespace" });
    let (project, model) = project(cli, &many_conversations(cli), &config);
    let first = project.tick_one("worker", "succeeded");
    project.tick_one("judge", "succeeded");
    assert!(expire(&kept(&project)) >= 2, "both roles have files");
    let second = project.tick_one("worker", "succeeded");
    let resumed = &second["metadata"]["resumed"];
    assert_eq!(
        json!([resumed["outcome"], resumed["run"]]),
        json!(["refused", first["id"]]),
        "{second:#}"
    );
    assert_ne!(session(&second), session(&first));
    assert_used(&second, 4);
    assert_eq!(
        second["attempt"], 3,
        "the third run: the refused start is none"
    );
    assert_eq!(project.issue("SYM-1")["status"], "review");
    let prompt = project.run_file(&text(&second["id"]), "sent-user-prompt.md");
    assert!(
        prompt.contains(DESCRIPTION) && prompt.contains(POINT),
        "{prompt}"
    );
    assert!(!prompt.contains("This Session Goes On"), "{prompt}");
    assert_eq!(
        last_text(&requests_of(&model, "worker, second", 0..1)[0]).trim(),
        prompt.trim()
    );
    let shown = project.ok(&["runs", "show", &text(&second["id"])]);
    assert!(shown.contains("could not be resumed"), "{shown}");
    project.tick_one("judge", "succeeded");
    project.json(&["pr", "merge", "SYM-1"]);
    project.assert_sound();
}

#[test]
fn an_expired_session_of_the_real_claude_cli_falls_back_to_the_full_prompt() {
    falls_back(RealCli::Claude);
}

#[test]
fn an_expired_session_of_the_real_codex_cli_falls_back_to_the_full_prompt() {
    falls_back(RealCli::Codex);
}

/// A project that wants no sessions to be resumed gets a new one each time.
fn starts_again(cli: RealCli) {
    let config = json!({ "resume": "never" });
    let (project, _model) = project(cli, &many_conversations(cli), &config);
    let first = project.tick_one("worker", "succeeded");
    project.tick_one("judge", "succeeded");
    let second = project.tick_one("worker", "succeeded");
    assert_eq!(second["metadata"]["resumed"]["why"], "never", "{second:#}");
    assert_ne!(session(&second), session(&first));
    assert_used(&second, 4);
    let prompt = project.run_file(&text(&second["id"]), "sent-user-prompt.md");
    assert!(prompt.contains(DESCRIPTION), "{prompt}");
}

#[test]
fn the_real_claude_cli_starts_a_new_session_where_the_project_says_so() {
    starts_again(RealCli::Claude);
}

#[test]
fn the_real_codex_cli_starts_a_new_session_where_the_project_says_so() {
    starts_again(RealCli::Codex);
}

/// Files that an agent reads before it changes something, and how long each is.
const FILES: usize = 6;
const FILE_BYTES: usize = 4_000;

/// What the second attempt of a worker took.
#[derive(Debug)]
struct Figures {
    prompt_tokens: u64,
    requests: usize,
    /// Bytes of all requests.
    input: usize,
    /// Bytes that no request had sent before, in either attempt of the same session.
    fresh: usize,
    ms: u64,
}

/// A worker that reads the files, writes, is rejected, and works again: in its session, or after reading them again.
fn second_attempt(cli: RealCli, mode: &str) -> Figures {
    let reads = || (0..FILES).map(|number| shell(cli, &format!("cat file{number}.txt")));
    let mut first: Vec<Value> = reads().collect();
    first.extend([commit(cli, "hello"), create_pr(cli), say("Written.")]);
    let (name, begin, of_worker) = if mode == "auto" {
        let begin = first.len() as u64;
        first.extend(greets(cli));
        ("worker", begin, vec![("worker", WORKER, None, first)])
    } else {
        let second = reads().chain(greets(cli)).collect();
        let other = ("worker, second", WORKER, Some("Greet the world"), second);
        (
            "worker, second",
            0,
            vec![other, ("worker", WORKER, None, first)],
        )
    };
    let judge = [("judge", JUDGE, None, rejects(cli).to_vec())];
    let of_all = of_worker.into_iter().chain(judge).map(played);
    let (project, model) = cli.project(
        &scenarios(of_all).to_string(),
        &json!({ "resume": mode, "max_retry_backoff_ms": 1 }),
    );
    let files: Vec<_> = (0..FILES)
        .map(|number| {
            (
                format!("file{number}.txt"),
                format!("{number} of the file\n").repeat(FILE_BYTES / 14),
            )
        })
        .collect();
    let files: Vec<_> = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    project.commit_files(&files);
    let description = "The greeting is written as the conventions of the team ask for. ".repeat(60);
    project.json(&["issue", "add", "Say hello", "--description", &description]);
    project.tick_one("worker", "succeeded");
    project.tick_one("judge", "succeeded");
    let run = project.tick_one("worker", "succeeded");
    let requests = requests_of(&model, name, begin..u64::MAX);
    let bytes = |request: &Value| request["body"].to_string().len();
    let sizes: Vec<usize> = requests.iter().map(bytes).collect();
    let before = requests_of(&model, name, 0..begin);
    Figures {
        prompt_tokens: run["metadata"]["prompt"]["user_tokens"].as_u64().unwrap(),
        requests: sizes.len(),
        input: sizes.iter().sum(),
        fresh: sizes.last().unwrap() - before.last().map_or(0, bytes),
        ms: run["duration_ms"].as_u64().unwrap(),
    }
}

/// The figures of `docs/design/0041`; they are printed.
#[test]
fn a_resumed_attempt_of_the_real_clis_sends_less() {
    for cli in [RealCli::Claude, RealCli::Codex] {
        let [resumed, fresh] = ["auto", "never"].map(|mode| second_attempt(cli, mode));
        for (name, figures) in [("resumed", &resumed), ("new", &fresh)] {
            println!("{} {name}: {} ms, {figures:?}", cli.provider(), figures.ms);
        }
        assert!(
            resumed.prompt_tokens * 2 < fresh.prompt_tokens,
            "{resumed:?} {fresh:?}"
        );
        assert!(resumed.requests < fresh.requests, "{resumed:?} {fresh:?}");
        assert!(resumed.input < fresh.input, "{resumed:?} {fresh:?}");
        assert!(resumed.fresh * 2 < fresh.fresh, "{resumed:?} {fresh:?}");
    }
}

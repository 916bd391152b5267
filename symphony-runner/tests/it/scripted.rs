//! The scripted agent: scenarios with real tools, a real MCP server, faults, errors.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use symphony_core::failure::ErrorClass;
use symphony_runner::stream::{
    Conclusion, ExitFact, RunEnd, StreamFormat, StreamState, write_log_line,
};
use symphony_scripted::{OptionsError, ScriptedOptions, Surroundings, run};

/// A folder with what a run of the scripted agent needs.
struct Stage {
    dir: tempfile::TempDir,
    options: ScriptedOptions,
    surroundings: Surroundings,
}

/// What a run came to.
struct Played {
    code: u8,
    output: String,
    state: StreamState,
    log: Vec<String>,
}

impl Stage {
    /// Makes a folder with a scenario, prompts and a configuration of the MCP server for tests.
    fn new(scenario: &Value) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::write(path("scenario.json"), scenario.to_string()).unwrap();
        fs::write(path("system.md"), "You are a worker.").unwrap();
        fs::write(path("user.md"), "ISSUE-42 to do.\nIssue id: SYM-42\n").unwrap();
        fs::create_dir(path("work")).unwrap();
        let options = ScriptedOptions {
            scenario: path("scenario.json"),
            system_prompt: Some(path("system.md")),
            user_prompt: Some(path("user.md")),
            state_dir: Some(path("state")),
            model: Some("claude-opus-5-5".to_owned()),
            ..ScriptedOptions::default()
        };
        let surroundings = Surroundings {
            cwd: path("work"),
            api_retries_max: 3,
            mcp_timeout: Duration::from_secs(20),
        };
        Self {
            dir,
            options,
            surroundings,
        }
        .with_mcp(&[])
    }

    fn with_mcp(mut self, args: &[&str]) -> Self {
        let config = json!({"mcpServers": {"symphony": {
            "command": probe(), "args": args, "env": {"PROBE_NAME": "told"}, "alwaysLoad": true,
        }}});
        let path = self.dir.path().join("mcp.json");
        fs::write(&path, config.to_string()).unwrap();
        self.options.mcp_config = Some(path);
        self
    }

    fn work(&self) -> PathBuf {
        self.surroundings.cwd.clone()
    }

    fn play(&self) -> Played {
        let mut output = Vec::new();
        let code = run(&self.options, &self.surroundings, &mut output);
        let mut state = StreamState::new(StreamFormat::Claude);
        let mut log = Vec::new();
        for line in output.split(|byte| *byte == b'\n') {
            for event in state.take_line(line).1 {
                let mut text = String::new();
                if write_log_line(&mut text, event) {
                    log.push(text);
                }
            }
        }
        Played {
            code,
            output: String::from_utf8(output).unwrap(),
            state,
            log,
        }
    }
}

impl Played {
    fn conclusion(&self) -> Conclusion {
        self.state.conclude(&RunEnd {
            exit: ExitFact::Code(self.code.into()),
            stopped: None,
            stderr_tail: "",
        })
    }

    /// The log behind the start-up line, without the folders that change.
    fn told(&self, stage: &Stage) -> String {
        let lines: Vec<String> = self.log.iter().skip(1).cloned().collect();
        lines
            .join("\n")
            .replace(stage.dir.path().to_str().unwrap(), "DIR")
    }
}

/// The MCP server for tests; cargo builds it with the tests.
fn probe() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let probe = test
        .parent()
        .and_then(Path::parent)
        .unwrap()
        .join("examples/mcp_probe");
    assert!(
        probe.exists(),
        "{} is missing: run the whole `cargo test -p symphony-runner`",
        probe.display()
    );
    probe
}

fn text_turn(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

fn tool_turn(name: &str, input: &Value) -> Value {
    json!({"content": [{"type": "tool_use", "name": name, "input": input}]})
}

fn scenario(turns: &[Value]) -> Value {
    json!({"scenarios": [{"turns": turns}]})
}

#[test]
fn the_shipped_scenario_runs_as_with_the_real_cli() {
    let scenario: Value = serde_json::from_str(
        r#"{"scenarios": [
 {"name": "success", "match": "ISSUE-42", "vars": {"issue_id": "Issue id: (\\S+)"},
  "usage": {"input_tokens": 111, "output_tokens": 22, "cache_read_input_tokens": 3333, "cache_creation_input_tokens": 444},
  "final_text": "All done for the issue.",
  "turns": [
   {"content": [{"type": "thinking", "thinking": "Let me look around."}, {"type": "text", "text": "I start with the cwd."}, {"type": "tool_use", "name": "Bash", "input": {"command": "pwd", "description": "Print cwd"}}]},
   {"content": [{"type": "tool_use", "name": "Write", "input": {"file_path": "${last_tool_result~^(/.+)}/hello.txt", "content": "hello from ${issue_id}\n"}}]},
   {"content": [{"type": "tool_use", "label": "commit", "name": "Bash", "input": {"command": "git init -q . && git add hello.txt && git -c user.name=t -c user.email=t@e -c commit.gpgsign=false commit -qm 'add hello' && git rev-parse HEAD", "description": "Commit"}}]},
   {"content": [{"type": "tool_use", "label": "issue", "name": "mcp__symphony__get_issue", "input": {"issue_id": "${issue_id}"}}, {"type": "tool_use", "name": "Read", "input": {"file_path": "/nonexistent/x"}}]},
   {"content": [{"type": "tool_use", "name": "mcp__symphony__add_comment", "input": {"issue_id": "${results.issue.issue.id}", "body": "title=${results.issue.issue.title} label0=${results.issue.issue.labels.0} sha=${results.commit~[0-9a-f]+}"}}]}
  ]}
]}"#,
    )
    .unwrap();
    let stage = Stage::new(&scenario);
    let played = stage.play();
    let sha =
        String::from_utf8(command("git", &["rev-parse", "HEAD"], &stage.work()).stdout).unwrap();
    insta::assert_snapshot!(played.told(&stage).replace(sha.trim(), "SHA"));
    assert_eq!(
        fs::read_to_string(stage.work().join("hello.txt")).unwrap(),
        "hello from SYM-42\n"
    );
    assert!(played.conclusion().succeeded);
    // The same numbers as in the recording of the real CLI.
    assert_eq!(
        serde_json::to_value(played.state.usage()).unwrap(),
        json!({"input_tokens": 666, "output_tokens": 132, "cache_read_tokens": 19998,
               "cache_creation_tokens": 2664, "cost": 22_624, "turns": 7})
    );
    assert_eq!(played.state.must_end(), None);
    let init: Value = serde_json::from_str(played.output.lines().next().unwrap()).unwrap();
    assert_eq!(
        init["tools"],
        json!([
            "Bash",
            "Read",
            "Write",
            "Edit",
            "mcp__symphony__add_comment",
            "mcp__symphony__fail",
            "mcp__symphony__get_issue",
            "mcp__symphony__variable"
        ])
    );
    assert_eq!(
        init["mcp_servers"],
        json!([{"name": "symphony", "status": "connected", "source": "dynamic"}])
    );
}

#[expect(
    clippy::disallowed_methods,
    reason = "the test looks at what the agent did with git"
)]
fn command(program: &str, args: &[&str], cwd: &Path) -> std::process::Output {
    std::process::Command::new(program)
        .args(args)
        .current_dir(cwd)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[test]
fn tools_run_for_real_and_answer_as_the_real_ones() {
    let stage = Stage::new(&scenario(&[
        tool_turn(
            "Bash",
            &json!({"command": "echo out; echo err >&2; exit 3"}),
        ),
        tool_turn("Bash", &json!({"command": "true"})),
        tool_turn("Bash", &json!({"command": "kill -9 $$"})),
        tool_turn("Bash", &json!({})),
        tool_turn(
            "Write",
            &json!({"file_path": "d/e/f.txt", "content": "one two\none\n"}),
        ),
        tool_turn(
            "Edit",
            &json!({"file_path": "d/e/f.txt", "old_string": "one", "new_string": "1"}),
        ),
        tool_turn(
            "Edit",
            &json!({"file_path": "d/e/f.txt", "old_string": "one", "new_string": "1", "replace_all": true}),
        ),
        tool_turn(
            "Edit",
            &json!({"file_path": "d/e/f.txt", "old_string": "three", "new_string": "3"}),
        ),
        tool_turn(
            "Edit",
            &json!({"file_path": "d/e/f.txt", "old_string": "two", "new_string": "$& 2"}),
        ),
        tool_turn("Read", &json!({"file_path": "d/e/f.txt"})),
        tool_turn(
            "Read",
            &json!({"file_path": "d/e/f.txt", "offset": 2, "limit": 1}),
        ),
        tool_turn("Read", &json!({"file_path": "none"})),
        tool_turn("Grep", &json!({"pattern": "x"})),
        tool_turn("mcp__symphony__get_issue", &json!({})),
    ]));
    let played = stage.play();
    assert!(played.conclusion().succeeded);
    let answers: Vec<&str> = played
        .log
        .iter()
        .filter_map(|line| line.strip_prefix("[tool_result] "))
        .collect();
    insta::assert_snapshot!(
        answers
            .join("\n")
            .replace(stage.dir.path().to_str().unwrap(), "DIR")
    );
}

#[test]
fn a_command_that_takes_too_long_is_ended_and_what_it_said_is_kept() {
    // a machine may be too slow to say anything within the first limits
    let found = [300, 3_000, 30_000].into_iter().find_map(|limit: u32| {
        let command = "echo a; read -t 60 < <(tail -f /dev/null)";
        let call = tool_turn("Bash", &json!({"command": command, "timeout": limit}));
        let played = Stage::new(&scenario(&[call])).play();
        let seconds = f64::from(limit) / 1000.0;
        let line = played
            .log
            .iter()
            .find(|line| line.starts_with("[tool_result] "));
        let line = line.unwrap().clone();
        assert!(
            line.ends_with(&format!("\\nCommand timed out after {seconds}s")),
            "{line}"
        );
        line.starts_with("[tool_result] error: Exit code 143\\na\\n")
            .then_some(line)
    });
    assert!(found.is_some());
}

#[test]
fn a_child_left_behind_keeps_no_call_waiting() {
    let stage = Stage::new(&scenario(&[
        tool_turn(
            "Bash",
            &json!({"command": "sleep 30 & echo $!", "timeout": 20_000}),
        ),
        tool_turn("Bash", &json!({"command": "kill ${last_tool_result}"})),
    ]));
    let played = stage.play();
    assert_eq!(played.code, 0, "{:?}", played.log);
}

#[test]
fn a_judge_has_no_tool_that_runs_or_writes() {
    let mut stage = Stage::new(&scenario(&[
        tool_turn("Bash", &json!({"command": "touch planted"})),
        tool_turn("Write", &json!({"file_path": "planted", "content": ""})),
        tool_turn("Read", &json!({"file_path": "../user.md"})),
    ]));
    stage.options.tools = Some(vec!["Read".to_owned()]);
    let played = stage.play();
    insta::assert_snapshot!(played.told(&stage));
    assert!(!stage.work().join("planted").exists());
}

#[test]
fn mcp_tools_answer_and_the_server_gets_the_environment() {
    let stage = Stage::new(&scenario(&[
        tool_turn("mcp__symphony__fail", &json!({})),
        tool_turn("mcp__symphony__get_issue", &json!({"wrong": 1})),
        tool_turn("mcp__symphony__none", &json!({})),
        json!({"content": [{"type": "tool_use", "namespace": "mcp__symphony", "name": "variable", "input": {"name": "PROBE_NAME"}}]}),
        tool_turn(
            "mcp__symphony__variable",
            &json!({"name": "CARGO_MANIFEST_DIR"}),
        ),
    ]));
    let played = stage.play();
    let told = played
        .told(&stage)
        .replace(env!("CARGO_MANIFEST_DIR"), "MANIFEST");
    insta::assert_snapshot!(told);
}

#[test]
fn a_server_that_does_not_come_up_is_shown_as_failed() {
    for args in [["hang"], ["--no-such"]] {
        let mut stage =
            Stage::new(&scenario(&[tool_turn("mcp__symphony__fail", &json!({}))])).with_mcp(&args);
        stage.surroundings.mcp_timeout = Duration::from_millis(200);
        if args == ["--no-such"] {
            let config = stage.options.mcp_config.clone().unwrap();
            let text = fs::read_to_string(&config)
                .unwrap()
                .replace("mcp_probe", "no_such_program");
            fs::write(&config, text).unwrap();
        }
        let played = stage.play();
        assert_eq!(played.code, 0);
        assert_eq!(played.conclusion().class, Some(ErrorClass::McpUnavailable));
        assert!(
            played
                .output
                .contains("No such tool available: mcp__symphony__fail")
        );
    }
}

#[test]
fn faults_are_told_as_the_real_cli_tells_them() {
    let cases = [
        (
            json!([{"type": "http", "status": 529, "times": 2}]),
            Ok("[api_retry] 1/3 overloaded status 529|[api_retry] 2/3 overloaded status 529"),
        ),
        (
            json!([{"type": "http", "status": 529, "times": -1}]),
            Err(ErrorClass::Overloaded),
        ),
        (
            json!([{"type": "http", "status": 500, "times": -1}]),
            Err(ErrorClass::ProviderError),
        ),
        (
            json!([{"type": "http", "status": 429, "retry_after": 0, "times": -1}]),
            Err(ErrorClass::RateLimited),
        ),
        (
            json!([{"type": "http", "status": 401, "times": -1}]),
            Err(ErrorClass::AuthFailed),
        ),
        (
            json!([{"type": "http", "status": 400}]),
            Err(ErrorClass::InvalidRequest),
        ),
        (json!([{"type": "cut"}]), Ok("[api_retry] 1/3 unknown")),
        (
            json!([{"type": "reset", "times": -1}]),
            Err(ErrorClass::Network),
        ),
        (
            json!([{"type": "malformed"}, {"type": "error_event"}, {"type": "slow", "chunk_delay": 0.01}]),
            Ok(""),
        ),
        (json!([{"type": "delay", "seconds": 0.01}]), Ok("")),
        (
            json!([{"type": "hang_stream", "seconds": 0.01}, {"type": "hang", "seconds": 0.01}]),
            Ok(""),
        ),
        (
            json!([{"type": "exit", "code": 7}]),
            Err(ErrorClass::AgentFailed),
        ),
    ];
    for (faults, expected) in cases {
        let stage = Stage::new(&scenario(&[json!({
            "content": [{"type": "text", "text": "served"}], "faults": faults,
        })]));
        let played = stage.play();
        let conclusion = played.conclusion();
        match expected {
            Ok(retries) => {
                assert!(conclusion.succeeded, "{faults}: {conclusion:?}");
                assert_eq!(played.state.last_text(), "served");
                let told: Vec<&str> = played
                    .log
                    .iter()
                    .filter(|line| line.starts_with("[api_retry]"))
                    .map(String::as_str)
                    .collect();
                assert_eq!(told.join("|"), retries, "{faults}");
            }
            Err(class) => {
                assert_eq!(conclusion.class, Some(class), "{faults}: {conclusion:?}");
                assert_ne!(played.code, 0);
            }
        }
    }
}

#[test]
fn an_exit_may_cut_a_line() {
    let stage = Stage::new(&scenario(&[json!({
        "content": [], "faults": [{"type": "exit", "code": 9, "partial_line": true}],
    })]));
    let played = stage.play();
    assert_eq!(played.code, 9);
    assert_eq!(
        (played.state.broken_lines(), played.state.results()),
        (1, 0)
    );
}

#[test]
fn a_flood_has_the_size_it_says() {
    let flood = |bytes: u64, line_bytes: u64| {
        let stage = Stage::new(&scenario(&[json!({
            "content": [{"type": "text", "text": "after"}],
            "faults": [{"type": "flood", "bytes": bytes, "line_bytes": line_bytes}],
        })]));
        let played = stage.play();
        assert_eq!(played.state.broken_lines(), 0);
        assert_eq!(played.state.last_text(), "after");
        let lines: Vec<usize> = played
            .output
            .lines()
            .filter(|line| line.contains("\"flood\""))
            .map(|line| line.len() + 1)
            .collect();
        lines
    };
    assert_eq!(flood(3000, 1000), [1000, 1000, 1000]);
    assert_eq!(flood(200_000, 200_000), [200_000]);
}

#[test]
fn limits_of_turns_end_an_endless_scenario() {
    let mut stage = Stage::new(&scenario(&[json!({
        "content": [{"type": "tool_use", "name": "Bash", "input": {"command": "echo ${turn}"}}], "repeat": -1,
    })]));
    stage.options.turns_max = Some(2);
    let played = stage.play();
    assert_eq!(played.conclusion().class, Some(ErrorClass::MaxTurns));
    assert_eq!(
        played.conclusion().message,
        "Reached maximum number of turns (2)"
    );
    assert_eq!(played.state.usage().turns, 3);
    assert!(played.log.contains(&"[tool_result] 1".to_owned()));
}

#[test]
fn scenarios_are_used_up_across_runs() {
    let scenario = json!({"scenarios": [
        {"name": "first", "match": "ISSUE-42\\b", "uses": 2, "turns": [text_turn("first")]},
        {"match_system": "nobody", "turns": [text_turn("never")]},
        {"match_prompt": "^Issue id: SYM-42$", "match_model": "opus", "uses": 1, "turns": [text_turn("retry")]},
    ]});
    let stage = Stage::new(&scenario);
    let told: Vec<String> = (0..4)
        .map(|_| stage.play().state.last_text().to_owned())
        .collect();
    assert_eq!(told, ["first", "first", "retry", ""]);
    assert!(
        stage
            .play()
            .output
            .contains("played as often as `uses` allows")
    );
    // Without a state directory each run begins anew.
    let mut alone = Stage::new(&scenario);
    alone.options.state_dir = None;
    for _ in 0..3 {
        assert_eq!(alone.play().state.last_text(), "first");
    }
}

#[test]
fn uses_are_shared_by_agents_that_run_at_once() {
    let stage = Stage::new(&json!({"scenarios": [
        {"uses": 5, "turns": [text_turn("counted")]}, {"turns": [text_turn("rest")]},
    ]}));
    let told: Vec<String> = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| stage.play().state.last_text().to_owned()))
            .collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    assert_eq!(told.iter().filter(|text| *text == "counted").count(), 5);
}

#[test]
fn what_is_wrong_with_a_script_is_its_result() {
    let cases = [
        (
            scenario(&[
                tool_turn("Bash", &json!({"command": "echo closed"})),
                json!({"expect": "open", "content": [{"type": "text", "text": "x"}]}),
            ]),
            "SCRIPT ERROR: expected \"open\", last tool result: \"closed\"",
        ),
        (
            scenario(&[text_turn("${nothing}")]),
            "SCRIPT ERROR: unknown placeholder ${nothing}",
        ),
        (
            scenario(&[json!({"content": [], "faults": [{"type": "earthquake"}]})]),
            "SCRIPT ERROR: unknown fault \"earthquake\"",
        ),
        (
            scenario(&[json!({"content": [{"text": "x"}]})]),
            "SCRIPT ERROR: content block: missing field `type`",
        ),
        (
            json!({"scenarios": [{"match": "ISSUE-7"}]}),
            "SCRIPT ERROR: no scenario in DIR/scenario.json matches this run (system prompt: `You are a worker.`; prompt: `ISSUE-42 to do.`). The file has scenario 1 (match `ISSUE-7`)",
        ),
        (
            json!({"scenarios": [{"turns": [{"repeat": "x"}]}]}),
            "SCRIPT ERROR: scenario DIR/scenario.json: scenarios[0].turns[0].repeat: invalid type: string \"x\", expected i64 at line 1 column 37",
        ),
    ];
    for (scenario, expected) in cases {
        let stage = Stage::new(&scenario);
        let played = stage.play();
        assert_eq!(played.code, 1);
        let conclusion = played.conclusion();
        assert_eq!(conclusion.class, Some(ErrorClass::AgentFailed));
        assert_eq!(
            conclusion
                .message
                .replace(stage.dir.path().to_str().unwrap(), "DIR"),
            expected
        );
    }
    let mut stage = Stage::new(&scenario(&[]));
    stage.options.scenario = "/nonexistent/s.json".into();
    assert!(
        stage
            .play()
            .output
            .contains("SCRIPT ERROR: cannot use /nonexistent/s.json")
    );
}

#[test]
fn arguments_are_read_back() {
    let all = ScriptedOptions {
        scenario: "/s.json".into(),
        system_prompt: Some("/sys".into()),
        user_prompt: Some("/user".into()),
        mcp_config: Some("/mcp".into()),
        state_dir: Some("/state".into()),
        model: Some("m".to_owned()),
        turns_max: Some(7),
        tools: Some(vec!["Read".to_owned(), "Edit".to_owned()]),
    };
    assert_eq!(ScriptedOptions::parse_args(all.to_args()), Ok(all));
    let cases = [
        (
            vec!["--model", "m"],
            "the scripted agent's argument `--scenario` is missing",
        ),
        (
            vec!["--scenario"],
            "the scripted agent's argument `--scenario` has no value",
        ),
        (
            vec!["--max-turns", "x"],
            "the scripted agent's argument `--max-turns` is `x`; expected a number of turns",
        ),
        (
            vec!["--what"],
            "the scripted agent has no argument `--what`; expected one of --scenario, --system-prompt-file, --user-prompt-file, --mcp-config, --state-dir, --model, --max-turns, --tools",
        ),
    ];
    for (args, expected) in cases {
        let error: OptionsError =
            ScriptedOptions::parse_args(args.iter().map(Into::into)).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn surroundings_come_from_the_environment() {
    let variables = BTreeMap::from([("CLAUDE_CODE_MAX_RETRIES", "2"), ("MCP_TIMEOUT", "1500")]);
    let told = Surroundings::new("/w".into(), |name| {
        variables.get(name.to_str()?).map(Into::into)
    });
    assert_eq!(
        (told.api_retries_max, told.mcp_timeout),
        (2, Duration::from_millis(1500))
    );
    let untold = Surroundings::new("/w".into(), |_| None);
    assert_eq!(
        (untold.api_retries_max, untold.mcp_timeout),
        (10, Duration::from_secs(30))
    );
}

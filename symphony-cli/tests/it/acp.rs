//! Programs that speak the Agent Client Protocol, honest and hostile ones.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Project, agents_of, text};

/// An agent that answers, and says what a test gives it at its prompt.
const AGENT: &str = r#"
update() { printf '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":%s}}\n' "$1"; }
say() { update '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"'"$1"'"}}'; }
ends() { printf '{"jsonrpc":"2.0","id":"session/prompt 1","result":{"stopReason":"%s"}}\n' "$1"; }
while read -r line; do
  case "$line" in
    *'"method":"initialize"'*) echo '{"jsonrpc":"2.0","id":"initialize","result":{"protocolVersion":1}}' ;;
    *'"method":"session/new"'*) echo '{"jsonrpc":"2.0","id":"session/new","result":{"sessionId":"s"}}' ;;
    *'"method":"session/prompt"'*) PROMPTED ;;
  esac
done
"#;

/// Writes a program that does this at its prompt.
fn program(project: &Project, name: &str, prompted: &str) -> PathBuf {
    let agent = project.beside.join(name);
    std::fs::write(&agent, AGENT.replace("PROMPTED", prompted)).unwrap();
    agent
}

/// Makes a project whose agent does this at its prompt.
fn project(prompted: &str, config: &Value) -> Project {
    let project = Project::new("my project", &json!({ "scenarios": [] }), &json!({}));
    let agent = program(&project, "agent.sh", prompted);
    let mut whole = json!({
        "provider": "acp",
        "providers": { "acp": { "command": ["sh", agent] } },
        "try_changed_gates": false,
        "keep_run_files": true,
    });
    for (key, value) in config.as_object().unwrap() {
        whole[key] = value.clone();
    }
    project.configure(&whole);
    project
}

/// Runs an agent on an issue; returns its run.
fn run(prompted: &str, config: &Value) -> Value {
    let project = project(prompted, config);
    project.add_issue("Say hello");
    let run = project.tick_start();
    project.until_ended(&run);
    assert_eq!(agents_of(&run), [""; 0]);
    project.run(&run)
}

fn error(run: &Value) -> Value {
    json!([run["status"], run["error"]["class"]])
}

#[test]
fn an_agent_that_never_asks_for_its_tools_has_not_worked() {
    let run = run("say 'All '; say done.; ends end_turn", &json!({}));
    assert_eq!(error(&run), json!(["failed", "mcp_unavailable"]), "{run:#}");
}

#[test]
fn an_agent_that_ends_too_early_has_failed() {
    for (prompted, expected) in [
        ("say half; exit 0", json!(["failed", "agent_failed"])),
        ("exit 3", json!(["failed", "agent_failed"])),
        ("kill -9 $$", json!(["failed", "agent_failed"])),
        ("ends end_turn", json!(["failed", "agent_failed"])),
        ("say no; ends refusal", json!(["failed", "model_error"])),
        (
            "say more; ends max_turn_requests",
            json!(["failed", "max_turns"]),
        ),
    ] {
        let run = run(prompted, &json!({}));
        assert_eq!(error(&run), expected, "{prompted}: {run:#}");
    }
}

#[test]
fn an_agent_that_asks_and_does_not_read_the_answers_is_ended() {
    let asks = r#"i=0; while :; do i=$((i+1)); printf '{"id":%s,"method":"METHOD"}\n' $i; done"#;
    let asks = asks.replace("METHOD", &"m".repeat(60_000));
    let run = run(&asks, &json!({}));
    assert_eq!(error(&run), json!(["failed", "agent_failed"]), "{run:#}");
    let message = text(&run["error"]["message"]);
    assert!(
        message.contains("does not read its standard input"),
        "{message}"
    );
}

#[test]
fn an_agent_that_goes_on_after_its_end_is_ended() {
    // it ignores that its input is closed, and that it is asked to end
    let lingers = "say done; ends end_turn; trap '' TERM; exec sleep 600 0<&-";
    let run = run(lingers, &json!({}));
    assert_eq!(error(&run), json!(["failed", "mcp_unavailable"]), "{run:#}");
}

#[test]
fn no_report_of_usage_harms_the_records() {
    let most = u64::MAX;
    let usage = format!(
        r#"{{"inputTokens":{most},"outputTokens":{most},"cachedReadTokens":{most},"cachedWriteTokens":{most}}}"#
    );
    let ends = format!(
        r#"say done; printf '{{"id":"session/prompt 1","result":{{"stopReason":"end_turn","usage":{usage}}}}}\n'"#
    );
    let project = project(&ends, &json!({}));
    for title in ["one", "two", "three"] {
        project.add_issue(title);
    }
    for _ in 0..2 {
        let runs = project.tick_wait();
        assert!(!runs.is_empty());
    }
    project.json(&["spending"]);
    project.assert_sound();
}

#[test]
fn answers_to_nothing_that_is_open_do_not_count() {
    let answers = r#"say done; echo '{"id":"whatever","error":{"code":1,"message":"no"}}'; \
      echo '{"id":"initialize","error":{"code":1,"message":"no"}}'; \
      echo '{"id":"session/prompt 2","error":{"code":1,"message":"no"}}'; \
      ends end_turn; echo '{"id":"session/prompt 1","error":{"code":1,"message":"no"}}'"#;
    let run = run(answers, &json!({}));
    assert_eq!(error(&run), json!(["failed", "mcp_unavailable"]), "{run:#}");
}

#[test]
fn an_agent_that_is_silent_is_asked_to_stop_and_ended() {
    let run = run("sleep 600 & wait", &json!({ "stall_timeout_ms": 3000 }));
    assert_eq!(error(&run), json!(["stalled", "stalled"]), "{run:#}");
}

/// Makes a project with two programs: one whose login has expired, and one that works.
fn two_programs() -> Project {
    let project = Project::new("two programs", &json!({ "scenarios": [] }), &json!({}));
    let expired = r#"echo '{"id":"session/prompt 1","error":{"code":-32000,"message":"Authentication required"}}'"#;
    let expired = program(&project, "expired.sh", expired);
    let works = r#"say "I am $1 with $SYMPHONY_MODEL"; ends end_turn"#;
    let works = program(&project, "works.sh", works);
    project.configure(&json!({
        "provider": "acp.expired",
        "providers": { "acp": {
            "expired": { "command": ["sh", expired], "hold_ms": 3_600_000 },
            "works": { "command": ["sh", works], "args": ["works"], "model": "works-large" },
        } },
        "try_changed_gates": false,
        "max_retries": 9,
    }));
    project
}

#[test]
fn programs_of_one_project_neither_share_their_settings_nor_their_holds() {
    let project = two_programs();
    project.add_issue("for the project's program");
    let run = project.tick_start();
    project.until_ended(&run);
    let run = project.run(&run);
    let ended = json!([run["provider"], run["error"]["class"]]);
    assert_eq!(ended, json!(["acp.expired", "auth_failed"]), "{run:#}");
    let hold = &project.json(&["status"])["holds"][0];
    assert_eq!(hold["name"], "acp.expired", "{hold:#}");

    // the hold of one program holds nothing of the other
    project.ok(&["issue", "add", "for the other one", "--agent", "acp.works"]);
    project.add_issue("waits");
    let run = project.tick_start();
    project.until_ended(&run);
    let run = project.run(&run);
    let ended = json!([
        run["issue"],
        run["provider"],
        run["model"],
        run["error"]["class"]
    ]);
    let expected = json!(["SYM-2", "acp.works", "works-large", "mcp_unavailable"]);
    assert_eq!(ended, expected, "{run:#}");
    let log = project.log(&run);
    assert!(log.contains("I am works with works-large"), "{log}");
    assert_eq!(project.tick_wait(), [] as [Value; 0]);
    project.assert_sound();
}

#[test]
fn a_program_is_chosen_where_providers_are_and_an_unknown_one_is_named() {
    let project = two_programs();
    let answer = project.symphony(&["issue", "add", "a typo", "--agent", "acp.work"]);
    assert!(
        answer
            .stderr
            .contains("`providers.acp.work` is not set; did you mean `acp.works`?"),
        "{}",
        answer.stderr
    );
    let profile = std::fs::read_to_string("../prompts/profiles/worker.md").unwrap();
    let profile = profile.replacen("type: worker", "type: worker\nagent: acp.works", 1);
    std::fs::create_dir_all(project.root.join(".symphony/prompts/profiles")).unwrap();
    std::fs::write(
        project.root.join(".symphony/prompts/profiles/worker.md"),
        profile,
    )
    .unwrap();
    let issue = project.add_issue("for the profile's program");
    let explained = project.ok(&["explain", &issue]);
    assert!(explained.contains("acp.works"), "{explained}");
    let checked = project.symphony(&["doctor"]).stdout;
    for expected in ["acp.expired runs `sh ", "acp.works runs `sh "] {
        assert!(checked.contains(expected), "{checked}");
    }

    // two programs, none of which is `default`
    let answer = project.symphony(&["config", "set", "provider", "acp"]);
    assert!(
        answer.stderr.contains("`acp.expired` or `acp.works`"),
        "{}",
        answer.stderr
    );
    let answer = project.symphony(&["config", "set", "provider", "acp.wroks"]);
    assert!(answer.stderr.contains("`acp.works`"), "{}", answer.stderr);
    project.ok(&[
        "config",
        "set",
        "providers.acp.command",
        "[\"no-such-agent\"]",
    ]);
    let answer = project.symphony(&["init"]);
    for expected in [
        "Configured acp.works: sh ",
        "acp.default cannot start: `no-such-agent`, which providers.acp.default.command starts, is not in the PATH",
    ] {
        assert!(answer.stdout.contains(expected), "{}", answer.stdout);
    }
}

//! The real CLIs in a sandbox: they reach their model through an endpoint that has the key, and nothing else.

use serde_json::{Value, json};

use crate::support::{Model, Project, RealCli, WORKER, call, scenario, scenarios, turn};

/// The value that the tests set as the key of the provider.
const KEY: &str = "no-key-of-anybody";

/// A turn that runs a command with the CLI's own tool.
fn shell(cli: RealCli, command: &str) -> Value {
    turn(cli.shaped(call("Bash", json!({ "command": command }))))
}

/// A turn that calls a tool of Symphony's.
fn create_pr(cli: RealCli) -> Value {
    let input = json!({ "title": "Say hello", "body": "As asked." });
    turn(cli.shaped(call("mcp__symphony__create_pr", input)))
}

/// Gives a turn what it uses: input, output, read from the cache.
fn with_usage(mut turn: Value, usage: [u64; 3]) -> Value {
    let [input, output, cached] = usage;
    turn["usage"] = json!({
        "input_tokens": input, "output_tokens": output, "cache_read_input_tokens": cached,
    });
    turn
}

/// Asserts that the run's usage is what the model dealt out, to the token, and that it was counted at the endpoint.
fn assert_metered(project: &Project, run: &Value, model: &Model) {
    let usage = &run["usage"];
    let found = [
        "input_tokens",
        "output_tokens",
        "cache_read_tokens",
        "cache_creation_tokens",
    ]
    .map(|name| usage[name].as_u64().unwrap());
    let metering = &run["metadata"]["metering"];
    assert_eq!(found, model.dealt_out(), "{metering:#}");
    assert_eq!(metering["counted_by"], "metered", "{metering:#}");
    let shown = project.ok(&["runs", "show", run["id"].as_str().unwrap()]);
    assert!(shown.contains("(metered)"), "{shown}");
}

fn works_in_a_sandbox(cli: RealCli) {
    // the shell of the CLI may be another one, and bash can connect itself
    let look = r#"env | sort > env.txt; bash -c 'exec 3<>/dev/tcp/127.0.0.1/3128; printf "CONNECT unlisted.example:443 HTTP/1.1\r\nHost: x\r\n\r\n" >&3; cat <&3' >> env.txt 2>&1; git add -A; git -c user.name=w -c user.email=w@example.invalid commit -qm look; true"#;
    let plays = scenarios([scenario(
        "worker",
        &json!({ "match_system": WORKER }),
        [
            with_usage(shell(cli, look), [100, 20, 1000]),
            with_usage(create_pr(cli), [50, 7, 3000]),
        ],
    )]);
    let config = json!({ "sandbox": "namespace", "judge_enabled": false });
    let (project, model) = cli.project(&plays.to_string(), &config);
    project.add_issue("Say hello");
    let run = project.tick_one("worker", "succeeded");
    assert_eq!(run["sandbox"]["level"], "namespace", "{run:#}");
    assert!(!model.requests().is_empty());
    assert_metered(&project, &run, &model);
    let network = &run["metadata"]["network"];
    assert!(network["connections"].as_u64().unwrap() > 1, "{network:#}");
    let refused = network["refused"].as_array().unwrap();
    let entries: Vec<_> = refused.iter().map(|host| &host["entry"]).collect();
    assert!(entries.contains(&&json!("unlisted.example")), "{network:#}");
    // what Claude and Qwen Code want for themselves is switched off; Codex and opencode work without what they want
    let wants_more = matches!(
        cli,
        RealCli::Codex | RealCli::CodexAppServer | RealCli::Opencode
    );
    assert!(wants_more || entries.len() == 1, "{network:#}");
    let seen = project.git(&["show", "symphony/SYM-1:env.txt"]);
    assert!(!seen.contains(KEY), "{seen}");
    assert!(seen.contains("403 Forbidden"), "{seen}");
    assert!(seen.contains("HTTPS_PROXY=http://127.0.0.1:3128"), "{seen}");
    project.assert_sound();
}

#[test]
fn the_real_claude_cli_works_in_a_sandbox_without_its_key() {
    works_in_a_sandbox(RealCli::Claude);
}

#[test]
fn the_real_codex_cli_works_in_a_sandbox_without_its_key() {
    works_in_a_sandbox(RealCli::Codex);
}

#[test]
fn the_real_codex_app_server_works_in_a_sandbox_without_its_key() {
    works_in_a_sandbox(RealCli::CodexAppServer);
}

#[test]
fn the_real_qwen_code_works_in_a_sandbox_without_its_key() {
    works_in_a_sandbox(RealCli::Qwen);
}

/// It takes its models and their keys from its own settings.
#[test]
fn the_real_opencode_works_in_a_sandbox_without_its_key() {
    works_in_a_sandbox(RealCli::Opencode);
}

//! The main job with agents that take part in a conversation, in front of a scripted model: Codex's app-server, and
//! opencode and Qwen Code by the Agent Client Protocol.

use serde_json::{Value, json};
use symphony_core::Timestamp;

use crate::review_points::{review_plays, review_to_the_end};
use crate::support::{JUDGE_TOOLS, RealCli, WORKER_TOOLS, agents_of, row, text};

/// Returns which of Symphony's tools a request offers.
fn own_tools(cli: RealCli, request: &Value) -> Vec<String> {
    let start = match cli {
        RealCli::CodexAppServer => "mcp__symphony.",
        RealCli::Opencode => "symphony_",
        _ => "mcp__symphony__",
    };
    let tools = request["tools"].as_array().unwrap().iter();
    let mut own: Vec<String> = tools
        .filter_map(|tool| Some(text(tool).strip_prefix(start)?.to_owned()))
        .collect();
    own.sort();
    own
}

/// Tokens of a request.
const USAGE: [u64; 3] = [100, 1000, 20];

/// Drives an issue through a rejection to its merge.
fn main_job(cli: RealCli) {
    let mut plays = cli.shaped_plays(review_plays());
    for scenario in plays["scenarios"].as_array_mut().unwrap() {
        scenario["usage"] = json!({
            "input_tokens": USAGE[0], "cache_read_input_tokens": USAGE[1], "output_tokens": USAGE[2],
        });
    }
    let (project, model) = cli.project(&plays.to_string(), &json!({}));
    review_to_the_end(&project);
    let requests = model.requests();
    let runs = project.json(&["runs", "list"]);
    let runs = runs["items"].as_array().unwrap().iter();
    let runs: Vec<&Value> = runs
        .filter(|run| run["provider"] == cli.provider())
        .collect();
    assert_eq!(runs.len(), 4, "{runs:#?}");
    // the newest comes first
    for (run, scenario) in runs.iter().zip(["closes", "answers", "rejects", "worker"]) {
        let id = text(&run["id"]);
        let own = || {
            requests
                .iter()
                .filter(|request| request["scenario"] == scenario)
        };
        assert_eq!(agents_of(&id), [""; 0]);
        assert_usage(cli, run, own().count() as u64);
        let first = own().next().unwrap();
        let given = |name: &str| project.run_file(&id, name).trim().to_owned();
        assert!(
            text(&first["system"]).contains(&given("system-prompt.md")),
            "{first:#}"
        );
        assert!(
            text(&first["prompt"]).contains(&given("user-prompt.md")),
            "{first:#}"
        );
        let is_judge = run["profile"] == "judge";
        assert_eq!(
            own_tools(cli, first),
            row(if is_judge { JUDGE_TOOLS } else { WORKER_TOOLS })
        );
    }
    let log = project.ok(&["runs", "logs", &text(&runs[1]["id"])]);
    for tool in [
        "mcp__symphony__answer_review_point",
        "mcp__symphony__create_pr",
    ] {
        assert!(log.contains(tool), "{log}");
    }
    assert_eq!(project.git(&["show", "main:hello.txt"]), "hello world");
}

/// Asserts that a run used what the model dealt out.
fn assert_usage(cli: RealCli, run: &Value, requests: u64) {
    let usage = &run["usage"];
    // opencode reports its last request alone
    let counted = if cli == RealCli::Opencode {
        1
    } else {
        requests
    };
    let found = ["input_tokens", "cache_read_tokens", "output_tokens"]
        .map(|name| usage[name].as_u64().unwrap());
    assert_eq!(found, USAGE.map(|count| count * counted), "{run:#}");
}

#[test]
fn the_real_codex_app_server_answers_a_rejection_and_is_merged() {
    main_job(RealCli::CodexAppServer);
}

#[test]
fn the_real_opencode_answers_a_rejection_and_is_merged() {
    main_job(RealCli::Opencode);
}

#[test]
fn the_real_qwen_code_answers_a_rejection_and_is_merged() {
    main_job(RealCli::Qwen);
}

#[test]
fn a_limit_that_a_run_of_the_real_codex_has_used_up_holds_the_provider_before_it_is_met() {
    let cli = RealCli::CodexAppServer;
    let resets_at = Timestamp::now().as_second() + 3600;
    let mut plays = cli.shaped_plays(review_plays());
    for scenario in plays["scenarios"].as_array_mut().unwrap() {
        scenario["headers"] = json!({
            "x-codex-primary-used-percent": "100",
            "x-codex-primary-window-minutes": "300",
            "x-codex-primary-reset-at": resets_at.to_string(),
        });
    }
    let (project, _model) = cli.project(&plays.to_string(), &json!({}));
    project.add_issue("Say hello");
    let run = project.tick_one("worker", "succeeded");
    assert_eq!(run["error"], Value::Null);
    let hold = &project.json(&["status"])["holds"][0];
    assert_eq!(
        json!([hold["class"], hold["scope"], hold["name"]]),
        json!(["usage_limit", "provider", "codex-app-server"])
    );
    let until: Timestamp = text(&hold["until"]).parse().unwrap();
    assert_eq!(until.as_second(), resets_at);
    assert!(project.tick_wait().is_empty(), "no judge starts");
}

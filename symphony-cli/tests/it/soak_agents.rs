//! What takes too long for CI with agents in front of the scripted model: the main job with more of them, and a fault that is given up
//! after a minute (`just soak`).

use serde_json::{Value, json};

use crate::real_resume::resumes;
use crate::review_points::{review_plays, review_to_the_end};
use crate::support::{RealCli, WORKER, agents_of, scenario, scenarios, text};

#[test]
fn the_copilot_cli_answers_a_rejection_and_is_merged() {
    the_main_job(RealCli::Copilot);
}

#[test]
fn the_gemini_cli_answers_a_rejection_and_is_merged() {
    for request in the_main_job(RealCli::Gemini) {
        let is_offered = |tool: &str| request["tools"].as_array().unwrap().contains(&json!(tool));
        let is_judge = request["scenario"] == "rejects" || request["scenario"] == "closes";
        for tool in ["run_shell_command", "replace", "write_file"] {
            assert_eq!(is_offered(tool), !is_judge, "{tool}: {}", request["tools"]);
        }
        assert!(!is_offered("web_fetch") && !is_offered("google_web_search"));
        assert!(is_offered("read_file"));
    }
}

/// In a sandbox it does so for each change.
#[test]
fn qwen_code_resumes_its_session() {
    resumes(RealCli::Qwen, &json!({}));
}

/// Outside of a sandbox it does so for each change, and the other agents do inside.
#[test]
fn codex_resumes_its_session_in_a_sandbox() {
    resumes(RealCli::Codex, &json!({ "sandbox": "namespace" }));
}

/// It asks again and again, in some versions for ever.
#[test]
fn opencode_is_ended_where_every_answer_is_cut() {
    let cli = RealCli::Opencode;
    let cut = json!({
        "content": [{ "type": "text", "text": "I begin." }], "faults": [{ "type": "cut", "times": -1 }],
    });
    let plays = scenarios([scenario(
        "worker",
        &json!({ "match_system": WORKER }),
        [cut],
    )]);
    let config = json!({
        "sandbox": "namespace",
        "judge_enabled": false,
        "model_requests_per_minute": 60,
    });
    let (project, _model) = cli.project(&plays.to_string(), &config);
    project.add_issue("Say hello");
    let run = project.tick_one("worker", "failed");
    let error = &run["error"];
    assert_eq!(error["class"], "network", "{run:#}");
    // On a slow machine it gives up itself before its requests have failed for a minute, each time in other words.
    let message = error["message"].as_str().unwrap();
    let is_ended = message.ends_with("the last answer ended before its end");
    assert!(
        is_ended || message.to_lowercase().contains("connection"),
        "{message}"
    );
    project.assert_sound();
}

/// Drives an issue through a rejection, its answer, an approval and a merge; returns what the model was asked.
fn the_main_job(cli: RealCli) -> Vec<Value> {
    let plays = cli.shaped_plays(review_plays());
    let (project, model) = cli.project(&plays.to_string(), &json!({}));
    review_to_the_end(&project);
    let runs = project.json(&["runs", "list"]);
    let runs = runs["items"].as_array().unwrap().iter();
    let runs: Vec<&Value> = runs
        .filter(|run| run["provider"] == cli.provider())
        .collect();
    assert_eq!(runs.len(), 4, "{runs:#?}");
    for run in &runs {
        assert_eq!(agents_of(&text(&run["id"])), [""; 0]);
        assert_ne!(run["usage"]["output_tokens"], 0, "{run:#}");
    }
    assert_eq!(project.git(&["show", "main:hello.txt"]), "hello world");
    // a request that no play fits fails here
    model.requests()
}

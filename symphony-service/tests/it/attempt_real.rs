//! The real Codex CLI, in front of a scripted model and a Linear on loopback.

#![expect(clippy::disallowed_methods, reason = "this test starts a process")]

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::worker::Worker;

/// The scripted model, which ends with the test.
struct Model(Child);

impl Drop for Model {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn model(folder: &Path, scenarios: &Value) -> (Model, String) {
    std::fs::write(folder.join("model.json"), scenarios.to_string()).unwrap();
    let port = folder.join("model.port");
    let child = Command::new("python3")
        .arg(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../symphony-cli/tests/tools/scripted_model.py"
        ))
        .arg("--scenario")
        .arg(folder.join("model.json"))
        .arg("--log")
        .arg(folder.join("model.log"))
        .args(["--port", "0", "--port-file"])
        .arg(&port)
        .stdout(Stdio::null())
        .spawn();
    let model = Model(child.expect("python3 is installed"));
    let started = Instant::now();
    loop {
        let text = std::fs::read_to_string(&port).unwrap_or_default();
        if let Ok(port) = text.trim().parse::<u16>() {
            return (model, format!("http://127.0.0.1:{port}/v1"));
        }
        assert!(
            started.elapsed() < Duration::from_mins(1),
            "the model does not start"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn command(url: &str) -> String {
    let program = std::env::var("SYMPHONY_TEST_CODEX")
        .expect("the feature real-cli needs SYMPHONY_TEST_CODEX: the path of the CLI's program");
    let settings = [
        "model=\"gpt-5-codex\"".to_owned(),
        "model_provider=\"scripted\"".to_owned(),
        "model_providers.scripted.name=\"scripted\"".to_owned(),
        format!("model_providers.scripted.base_url=\"{url}\""),
        "model_providers.scripted.wire_api=\"responses\"".to_owned(),
        "model_providers.scripted.env_key=\"SCRIPTED_KEY\"".to_owned(),
        "model_providers.scripted.supports_websockets=false".to_owned(),
    ];
    let settings = settings.map(|setting| format!("-c '{setting}'"));
    format!(
        "SCRIPTED_KEY=none exec '{program}' {} app-server",
        settings.join(" ")
    )
}

#[test]
fn the_real_codex_moves_its_ticket_by_its_own_tool() {
    let mut worker = Worker::new()
        .with("model: gpt-5.5")
        .with("reasoning_effort: xhigh")
        .with("service_tier: fast");
    worker.sections = "agent:\n  max_turns: 3\n".to_owned();
    let state = worker.linear.with(|world| world.state("ENG", "Done"));
    let query = "mutation Move($id: String!, $input: IssueUpdateInput!) { issueUpdate(id: $id, input: $input) { success } }";
    let input = json!({ "query": query, "variables": { "id": worker.ticket, "input": { "stateId": state } } });
    let call = json!({ "type": "tool_use", "name": "linear_graphql", "input": input });
    let scenarios = json!({ "scenarios": [{
        "name": "moves", "match": "Do ENG-1", "final_text": "Done.", "turns": [{ "content": [call] }],
    }] });
    let (_model, url) = model(worker.folder.path(), &scenarios);
    worker.command = Some(command(&url));
    let done = worker.run("");
    assert_eq!(
        (done.end.as_str(), done.error.as_str()),
        ("completed", "Done"),
        "{done:#?}"
    );
    assert_eq!(
        worker.linear.with(|world| world.state_name(&worker.ticket)),
        "Done"
    );
    assert!(done.kinds().contains(&"tool_call_completed"));
    let log = std::fs::read_to_string(worker.folder.path().join("model.log")).unwrap();
    let lines = log.lines().map(|line| serde_json::from_str(line).unwrap());
    let asked: Vec<Value> = lines
        .filter(|line: &Value| line["scenario"] == "moves")
        .collect();
    assert!(!asked.is_empty());
    for request in asked.iter().filter(|line| line["event"] == "request") {
        let body = &request["body"];
        assert_eq!(
            (&body["model"], &body["reasoning"]["effort"]),
            (&json!("gpt-5.5"), &json!("xhigh"))
        );
    }
    let last = done.events.last().unwrap();
    assert_eq!(last["turn_count"], 1);
    assert!(last["usage"]["total_tokens"].as_u64() > Some(0), "{last:#}");
}

//! The real Codex CLI, in front of a scripted model and a Linear on loopback.

#![expect(clippy::disallowed_methods, reason = "this test starts a process")]

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::worker::Worker;

/// A process that ends with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn model(folder: &Path, scenarios: &Value) -> (Server, String) {
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
    let model = Server(child.expect("python3 is installed"));
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

fn program() -> String {
    std::env::var("SYMPHONY_TEST_CODEX")
        .expect("the feature real-cli needs SYMPHONY_TEST_CODEX: the path of the CLI's program")
}

fn command(url: &str) -> String {
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
        "SCRIPTED_KEY=none exec '{}' {} app-server",
        program(),
        settings.join(" ")
    )
}

/// Starts an app-server for all, which listens at a socket.
fn shared(folder: &Path, url: &str) -> (Server, String) {
    let socket = folder.join("app-server.sock").display().to_string();
    std::fs::create_dir(folder.join(".codex")).unwrap();
    let child = Command::new("bash")
        .arg("-c")
        .arg(format!("{} --listen 'unix://{socket}'", command(url)))
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", folder)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn();
    let server = Server(child.unwrap());
    let started = Instant::now();
    while !Path::new(&socket).exists() {
        let waited = started.elapsed();
        assert!(
            waited < Duration::from_mins(1),
            "the app-server does not listen"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    (server, socket)
}

/// Lets the real Codex move its ticket, reached by the command that is given for the model's address.
fn moves_its_ticket(reach: impl FnOnce(&Path, &str) -> (Option<Server>, String)) {
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
    let (_server, command) = reach(worker.folder.path(), &url);
    worker.command = Some(command);
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

#[test]
fn the_real_codex_moves_its_ticket_by_its_own_tool() {
    moves_its_ticket(|_folder, url| (None, command(url)));
}

/// As the published file has it: one app-server for all tickets, which a person may watch.
#[test]
fn the_real_codex_behind_its_proxy_moves_its_ticket() {
    moves_its_ticket(|folder, url| {
        let (server, socket) = shared(folder, url);
        let command = format!("'{}' app-server proxy --sock \"{socket}\"", program());
        (Some(server), command)
    });
}

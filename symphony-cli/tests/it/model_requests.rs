//! What an agent asks its model, as the endpoint of its sandbox counts it: it ends agents that retry for ever, and those
//! that reach a cap without reporting anything.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use serde_json::{Value, json};

use crate::support::Project;

/// What each answer uses.
const USED: &str =
    r#"{"message":{"usage":{"input_tokens":100,"cache_read_input_tokens":30,"output_tokens":1}}}"#;

/// Serves events to every request, whole or cut in the middle; returns the port.
fn model(is_whole: bool) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for peer in listener.incoming() {
            // a peer that is gone needs no answer
            drop(answer(peer.unwrap(), is_whole));
        }
    });
    port
}

fn answer(mut peer: TcpStream, is_whole: bool) -> std::io::Result<()> {
    let mut request = Vec::new();
    while !request.ends_with(b"{}") {
        let mut byte = [0];
        peer.read_exact(&mut byte)?;
        request.extend(byte);
    }
    let end = r#"{"usage":{"output_tokens":20}}"#;
    let events = if is_whole {
        format!("data: {USED}\n\ndata: {end}\n\n")
    } else {
        format!("data: {USED}\n\ndata: {{\"us")
    };
    let last = if is_whole { "0\r\n\r\n" } else { "" };
    write!(
        peer,
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n\
         {:x}\r\n{events}\r\n{last}",
        events.len()
    )
}

/// Runs an agent that asks the model again and again until it is ended.
fn run_of(port: u16, status: &str, config: &Value) -> (Project, Value) {
    let ask = format!(
        "while :; do exec 3<>/dev/tcp/127.0.0.1/{port}; printf 'POST /v1/messages HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 2\\r\\n\\r\\n{{}}' >&3; \
         cat <&3 >/dev/null; exec 3>&-; sleep 0.02; done"
    );
    let mut whole = json!({
        "provider": "command",
        "providers": { "command": { "command": ["bash", "-c", ask], "output": "text" } },
        "sandbox": "namespace",
        "judge_enabled": false,
    });
    for (key, value) in config.as_object().unwrap() {
        whole[key] = value.clone();
    }
    let mut project = Project::new("project", &json!({ "scenarios": [] }), &json!({}));
    project.set_variable("ANTHROPIC_BASE_URL", &format!("http://127.0.0.1:{port}"));
    project.set_variable("ANTHROPIC_API_KEY", "no-key-of-anybody");
    project.configure(&whole);
    project.add_issue("Say hello");
    let run = project.tick_one("worker", status);
    (project, run)
}

#[test]
fn an_agent_that_retries_for_ever_is_ended_and_its_run_says_why() {
    let config = json!({ "model_requests_per_minute": 40 });
    let (project, run) = run_of(model(false), "failed", &config);
    let error = &run["error"];
    // the server is at fault, so the provider is on hold and no attempt is used
    assert_eq!(error["class"], "network", "{run:#}");
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("to its model within a minute (model_requests_per_minute: 40)"),
        "{message}"
    );
    assert!(
        message.ends_with("the last answer ended before its end"),
        "{message}"
    );
    let metered = &run["metadata"]["metering"]["metered"];
    let failed = metered["failed"].as_u64().unwrap();
    assert!(failed > 40, "{metered:#}");
    // each answer had said what it read before it was cut; the last request may have got none
    let read = run["usage"]["input_tokens"].as_u64().unwrap();
    assert!(read >= 100 * (failed - 1), "{run:#}");
    let shown = project.ok(&["runs", "show", run["id"].as_str().unwrap()]);
    assert!(
        shown.contains(&format!("{failed} of them failed")),
        "{shown}"
    );
    project.assert_sound();
}

#[test]
fn an_agent_that_asks_without_end_is_looping() {
    let config = json!({ "model_requests_per_minute": 40 });
    let (_, run) = run_of(model(true), "looping", &config);
    assert_eq!(run["error"]["class"], "looping", "{run:#}");
}

#[test]
fn a_cap_on_tokens_ends_a_run_whose_agent_reports_nothing() {
    let config = json!({
        "model_requests_per_minute": 10_000,
        "spending": { "issue": { "tokens": 1500 } },
    });
    let (project, run) = run_of(model(true), "failed", &config);
    assert_eq!(run["error"]["class"], "budget_exhausted", "{run:#}");
    let usage = &run["usage"];
    let count = |name: &str| usage[name].as_u64().unwrap();
    let answers = count("input_tokens") / 100;
    assert!(answers >= 10, "{usage:#}");
    assert_eq!(
        (count("output_tokens"), count("cache_read_tokens")),
        (20 * answers, 30 * answers)
    );
    let shown = project.ok(&["runs", "show", run["id"].as_str().unwrap()]);
    assert!(shown.contains("(metered)"), "{shown}");
    project.assert_sound();
}

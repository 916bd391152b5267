//! `symphony mcp` directly on the database, as a person's MCP client starts it.

use serde_json::{Value, json};

use crate::support::Project;

/// Sends requests and returns the answers by their ids.
fn talk(project: &Project, arguments: &[&str], requests: &[Value]) -> Vec<Value> {
    let mut input = String::new();
    let initialize = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } });
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    for message in [&initialize, &initialized].into_iter().chain(requests) {
        input.push_str(&message.to_string());
        input.push('\n');
    }
    let output = assert_cmd::Command::from_std(project.command(arguments))
        .write_stdin(input)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let lines = String::from_utf8(output.stdout).unwrap();
    lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("stdout carries the protocol only"))
        .collect()
}

fn names(answers: &[Value]) -> Vec<String> {
    let list = answers.iter().find(|answer| answer["id"] == 1).unwrap();
    list["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_tools_are_those_of_the_role() {
    let project = Project::repository("tool");
    project.ok(&["init", "--prefix", "SYM"]);
    let issue = project.add_issue("One");
    let list = [json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" })];
    let of = |agent: &[&str]| {
        names(&talk(
            &project,
            &[&["mcp", "--issue-id", &issue][..], agent].concat(),
            &list,
        ))
    };
    let worker = of(&["--agent-type", "worker"]);
    assert!(
        worker.contains(&"create_pr".to_owned()) && !worker.contains(&"approve_pr".to_owned()),
        "{worker:?}"
    );
    let judge = of(&["--agent-type", "judge"]);
    assert!(
        judge.contains(&"approve_pr".to_owned()) && !judge.contains(&"create_pr".to_owned()),
        "{judge:?}"
    );
    let person = of(&[]);
    assert!(person.len() > worker.len(), "{person:?}");
}

#[test]
fn a_call_is_recorded_as_a_persons() {
    let project = Project::repository("tool");
    project.ok(&["init", "--prefix", "SYM"]);
    let issue = project.add_issue("One");
    let database = project.root.join(".symphony/symphony.db");
    let call = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "add_comment", "arguments": { "content": "from a client" } } }),
    ];
    let arguments = [
        "mcp",
        "--db",
        database.to_str().unwrap(),
        "--issue-id",
        &issue,
    ];
    let answers = talk(&project, &arguments, &call);
    let answer = answers.iter().find(|answer| answer["id"] == 1).unwrap();
    assert_ne!(answer["result"]["isError"], true, "{answer:#}");
    let comments = &project.issue(&issue)["comments"];
    assert_eq!(
        (&comments[0]["author"], &comments[0]["content"]),
        (&json!("human"), &json!("from a client"))
    );
}

#[test]
fn what_is_not_there_is_said_before_the_protocol_begins() {
    let project = Project::repository("tool");
    let answer = project.symphony(&["mcp"]);
    assert_eq!((answer.code, answer.stdout.as_str()), (3, ""), "{answer:?}");
    project.ok(&["init", "--prefix", "SYM"]);
    for arguments in [
        &["mcp", "--issue-id", "SYM-9"][..],
        &["mcp", "--project-id", "none"],
        &["mcp", "--db", "none.db"],
    ] {
        let answer = project.symphony(arguments);
        assert_eq!((answer.code, answer.stdout.as_str()), (3, ""), "{answer:?}");
    }
    let answer = project.symphony(&["mcp", "--socket", "no.sock"]);
    assert_eq!((answer.code, answer.stdout.as_str()), (1, ""), "{answer:?}");
}

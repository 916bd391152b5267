//! What the specification's section 17.5 wants of a client of Codex's app-server.

use serde_json::{Value, json};
use symphony_fakes::FakeLinear;

use crate::worker::Worker;

#[test]
fn the_handshake_and_a_turn_are_as_the_specification_has_them() {
    let worker = Worker::new()
        .with("approval_policy: on-request")
        .with("thread_sandbox: read-only")
        .with("turn_sandbox_policy: { type: readOnly }")
        .with("model: m-1")
        .with("reasoning_effort: xhigh")
        .with("service_tier: fast");
    let done = worker.run("begin; completed u1; hear");
    assert_eq!(done.end, "completed", "{done:#?}");
    let methods: Vec<&str> = done
        .heard
        .iter()
        .filter_map(|line| line["method"].as_str())
        .collect();
    assert_eq!(
        methods,
        ["initialize", "initialized", "thread/start", "turn/start"]
    );
    let initialize = done.asked("initialize")[0];
    assert_eq!(initialize["clientInfo"]["name"], "symphony");
    assert!(initialize["clientInfo"]["version"].is_string());
    assert_eq!(initialize["capabilities"], json!({"experimentalApi": true}));
    let thread = done.asked("thread/start")[0];
    let cwd = worker.workspace.to_str().unwrap();
    assert_eq!(
        (
            &thread["cwd"],
            &thread["approvalPolicy"],
            &thread["sandbox"]
        ),
        (&json!(cwd), &json!("on-request"), &json!("read-only"))
    );
    assert_eq!(
        (&thread["model"], &thread["serviceTier"]),
        (&json!("m-1"), &json!("fast"))
    );
    assert_eq!(thread["dynamicTools"][0]["name"], "linear_graphql");
    let turn = done.asked("turn/start")[0];
    assert_eq!(
        turn,
        &json!({
            "threadId": "t", "cwd": cwd, "title": "ENG-1: Say hello", "approvalPolicy": "on-request",
            "sandboxPolicy": {"type": "readOnly"}, "model": "m-1", "effort": "xhigh", "serviceTier": "fast",
            "input": [{"type": "text", "text": "Do ENG-1."}],
        })
    );
    assert_eq!(done.kinds(), ["session_started", "turn_completed"]);
    assert_eq!(
        (&done.events[0]["thread_id"], &done.events[0]["turn_id"]),
        (&json!("t"), &json!("u1"))
    );
    assert!(done.events[0]["pid"].is_number());
}

#[test]
fn the_command_is_run_by_a_login_shell_in_the_workspace() {
    let mut worker = Worker::new();
    worker.command = Some("shopt -q login_shell && pwd >where; exit 7".to_owned());
    let done = worker.run("");
    assert_eq!(
        (done.end.as_str(), done.error.as_str()),
        ("port_exit", "the app-server exited with code 7")
    );
    let found = std::fs::read_to_string(worker.workspace.join("where")).unwrap();
    assert_eq!(found.trim(), worker.workspace.to_str().unwrap());
    worker.command = Some("no-such-command-anywhere app-server".to_owned());
    let done = worker.run("");
    assert_eq!(done.end, "codex_not_found", "{done:#?}");
    assert!(
        done.error.contains("no-such-command-anywhere"),
        "{}",
        done.error
    );
    assert_eq!(done.kinds(), ["startup_failed"]);
}

#[test]
fn a_workspace_that_leads_elsewhere_starts_nothing() {
    let mut worker = Worker::new();
    let link = worker.workspace.with_file_name("ENG-2");
    std::os::unix::fs::symlink("/usr", &link).unwrap();
    worker.workspace = link;
    let done = worker.run("begin");
    assert_eq!(
        (done.end.as_str(), done.kinds()),
        ("invalid_workspace_cwd", vec!["startup_failed"])
    );
}

#[test]
fn turns_go_on_in_one_thread_until_the_ticket_leaves_its_state_or_turns_run_out() {
    let mut worker = Worker::new();
    worker.sections = "agent:\n  max_turns: 3\n".to_owned();
    let script = r#"begin; completed u1; completed u1
        hear; say '{"id":4,"result":{"turn":{"id":"u2"}}}'; completed u1; completed u2
        hear; say '{"id":5,"result":{"turn":{"id":"u3"}}}'; completed u3; hear"#;
    let done = worker.run(script);
    assert_eq!(done.end, "completed", "{done:#?}");
    let turns = done.asked("turn/start");
    let texts: Vec<&str> = turns
        .iter()
        .map(|turn| turn["input"][0]["text"].as_str().unwrap())
        .collect();
    assert_eq!((texts.len(), texts[0]), (3, "Do ENG-1."));
    assert!(
        texts[1].contains("turn 2 of 3") && !texts[1].contains("Do ENG-1."),
        "{}",
        texts[1]
    );
    assert!(turns.iter().all(|turn| turn["threadId"] == "t"));
    assert_eq!(
        done.kinds()
            .iter()
            .filter(|kind| **kind == "session_started")
            .count(),
        3
    );
    assert_eq!(done.events.last().unwrap()["turn_count"], 3);

    worker
        .linear
        .with(|world| world.move_issue(&worker.ticket, "Done"));
    std::fs::remove_file(worker.workspace.join("heard")).unwrap();
    let done = worker.run("begin; completed u1; hear; hear");
    assert_eq!(
        (done.end.as_str(), done.error.as_str()),
        ("completed", "Done")
    );
    assert_eq!(done.asked("turn/start").len(), 1);
}

#[test]
fn a_ticket_that_cannot_be_refreshed_fails_the_attempt() {
    let worker = Worker::new();
    worker.linear.with(|world| world.revoke(FakeLinear::TOKEN));
    let done = worker.run("begin; completed u1; hear");
    assert_eq!(done.end, "issue_state_refresh_error", "{done:#?}");
    assert!(done.error.starts_with("linear_"), "{}", done.error);
}

#[test]
fn turns_that_fail_or_are_cancelled_fail_the_attempt() {
    for (message, end, text) in [
        (
            r#"{"method":"turn/failed","params":{"error":{"message":"no credit"}}}"#,
            "turn_failed",
            "the turn failed: no credit",
        ),
        (
            r#"{"method":"turn/cancelled","params":{}}"#,
            "turn_cancelled",
            "the turn was cancelled",
        ),
        (
            r#"{"method":"turn/completed","params":{"turn":{"id":"u1","status":"failed","error":{"message":"401"}}}}"#,
            "turn_failed",
            "the turn failed: 401",
        ),
        (
            r#"{"method":"turn/completed","params":{"turn":{"id":"u1","status":"interrupted"}}}"#,
            "turn_cancelled",
            "the turn was cancelled",
        ),
    ] {
        let done = Worker::new().run(&format!("begin; say '{message}'; hear"));
        assert_eq!(
            (done.end.as_str(), done.error.as_str()),
            (end, text),
            "{message}"
        );
        assert!(done.kinds().contains(&end), "{done:#?}");
    }
}

#[test]
fn approvals_are_granted_and_what_is_unknown_is_refused() {
    let script = r#"begin
        say '{"id":10,"method":"item/commandExecution/requestApproval","params":{"command":"ls"}}'; hear
        say '{"id":11,"method":"execCommandApproval","params":{}}'; hear
        say '{"id":12,"method":"item/permissions/requestApproval","params":{}}'; hear
        say '{"id":13,"method":"secrets/read","params":{}}'; hear
        say '{"id":"x","method":"item/tool/call","params":{"tool":"rm","arguments":{}}}'; hear
        completed u1; hear"#;
    let done = Worker::new().run(script);
    assert_eq!(done.end, "completed", "{done:#?}");
    assert_eq!(done.answer(10)["result"]["decision"], "acceptForSession");
    assert_eq!(
        done.answer(11)["result"]["decision"],
        "approved_for_session"
    );
    assert_eq!(done.answer(12)["result"]["permissions"], json!({}));
    assert_eq!(done.answer(13)["error"]["code"], -32601);
    let refused = done.heard.iter().find(|line| line["id"] == "x").unwrap();
    assert_eq!(
        (&refused["result"]["success"], &refused["result"]["error"]),
        (&json!(false), &json!("unsupported_tool_call"))
    );
    assert!(done.kinds().contains(&"unsupported_tool_call"));
    assert!(done.kinds().contains(&"approval_auto_approved"));
}

#[test]
fn a_question_to_a_person_fails_the_attempt_at_once() {
    for message in [
        r#"{"id":10,"method":"item/tool/requestUserInput","params":{"questions":[]}}"#,
        r#"{"method":"turn/input_required","params":{}}"#,
        r#"{"method":"turn/updated","params":{"turn":{"inputRequired":true}}}"#,
    ] {
        let done = Worker::new().run(&format!("begin; say '{message}'; sleep 600"));
        assert_eq!(done.end, "turn_input_required", "{done:#?}");
        assert!(done.kinds().contains(&"turn_input_required"));
    }
}

fn call(id: u32, arguments: &Value) -> String {
    let call = json!({"id": id, "method": "item/tool/call", "params": {
        "threadId": "t", "turnId": "u1", "callId": "c", "tool": "linear_graphql", "arguments": arguments}});
    format!("say '{call}'; hear\n")
}

#[test]
fn linear_graphql_asks_linear_with_the_token_of_the_settings() {
    let worker = Worker::new();
    let state = worker.linear.with(|world| world.state("ENG", "Done"));
    let mutation = "mutation Move($id: String!, $input: IssueUpdateInput!) { issueUpdate(id: $id, input: $input) { success } }";
    let variables = json!({"id": worker.ticket, "input": {"stateId": state}});
    let script = [
        "begin\n".to_owned(),
        call(10, &json!({"query": mutation, "variables": variables})),
        call(11, &json!({"query": "{ nothing_like_it }"})),
        call(12, &json!({"query": "{ a } { b }"})),
        call(13, &json!({"query": "{ a }", "variables": []})),
        "completed u1; hear".to_owned(),
    ];
    let done = worker.run(&script.concat());
    assert_eq!(
        (done.end.as_str(), done.error.as_str()),
        ("completed", "Done"),
        "{done:#?}"
    );
    assert_eq!(
        worker.linear.with(|world| world.state_name(&worker.ticket)),
        "Done"
    );
    let result = |id| &done.answer(id)["result"];
    assert_eq!(result(10)["success"], true, "{:#}", result(10));
    assert_eq!(result(11)["success"], false);
    let body: Value =
        serde_json::from_str(result(11)["contentItems"][0]["text"].as_str().unwrap()).unwrap();
    assert!(
        body["errors"].is_array() || body["error"].is_object(),
        "{body:#}"
    );
    for id in [12, 13] {
        assert_eq!(
            (&result(id)["success"], &result(id)["error"]),
            (&json!(false), &json!("invalid_arguments"))
        );
    }
    let kinds = done.kinds();
    let count = |name| kinds.iter().filter(|kind| **kind == name).count();
    assert_eq!(
        (count("tool_call_completed"), count("tool_call_failed")),
        (1, 3)
    );
}

#[test]
fn a_linear_that_refuses_the_token_is_a_failure_that_the_agent_sees() {
    let worker = Worker::new();
    worker.linear.with(|world| world.revoke(FakeLinear::TOKEN));
    let script = format!(
        "begin\n{}say '{{\"method\":\"turn/failed\",\"params\":{{}}}}'; hear",
        call(10, &json!("{ viewer { id } }"))
    );
    let done = worker.run(&script);
    let result = &done.answer(10)["result"];
    assert_eq!(result["success"], false, "{result:#}");
    assert!(
        result["error"]
            .as_str()
            .is_some_and(|code| code.starts_with("linear_")),
        "{result:#}"
    );
    assert!(!result.to_string().contains(FakeLinear::TOKEN));
}

#[test]
fn usage_and_limits_are_absolute_in_every_event() {
    let script = r#"begin
        say '{"method":"thread/tokenUsage/updated","params":{"threadId":"t","tokenUsage":{"total":{"inputTokens":5,"outputTokens":2,"totalTokens":7},"last":{"totalTokens":7}}}}'
        say '{"method":"thread/tokenUsage/updated","params":{"threadId":"t","tokenUsage":{"total":{"inputTokens":9,"outputTokens":3,"totalTokens":12},"last":{"totalTokens":5}}}}'
        say '{"method":"account/rateLimits/updated","params":{"rateLimits":{"primary":{"usedPercent":42}}}}'
        completed u1; hear"#;
    let done = Worker::new().run(script);
    let last = done.events.last().unwrap();
    assert_eq!(
        last["usage"],
        json!({"input_tokens": 9, "output_tokens": 3, "total_tokens": 12})
    );
    assert_eq!(last["rate_limits"]["primary"]["usedPercent"], 42);
}

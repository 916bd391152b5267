//! Streams recorded from the real CLIs: what is made of each, as a snapshot.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use symphony_core::failure::ErrorClass;
use symphony_core::run::Usage;
use symphony_core::session::{SessionForm, SessionId};
use symphony_runner::stream::{
    AcpUsage, AgentEvent, Conclusion, ExitFact, LineKind, LoopDetector, LoopFound, RunEnd,
    StreamFormat, StreamState, write_log_line,
};

/// How each recorded process ended (from the record of the measurements).
const SAMPLES: &[(&str, ExitFact)] = &[
    ("acp-copilot-tools.jsonl", ExitFact::EndedAfterResult),
    ("acp-gemini-tools.jsonl", ExitFact::EndedAfterResult),
    ("acp-opencode-tools.jsonl", ExitFact::EndedAfterResult),
    ("acp-qwen-tools.jsonl", ExitFact::EndedAfterResult),
    ("app-server-api-401.jsonl", ExitFact::EndedAfterResult),
    ("app-server-api-429.jsonl", ExitFact::EndedAfterResult),
    ("app-server-api-500.jsonl", ExitFact::EndedAfterResult),
    ("app-server-tools.jsonl", ExitFact::EndedAfterResult),
    ("claude-api-400.ndjson", ExitFact::Code(1)),
    ("claude-api-401.ndjson", ExitFact::Code(143)),
    ("claude-api-429-retry-after.ndjson", ExitFact::Code(0)),
    ("claude-api-500-gives-up.ndjson", ExitFact::Code(1)),
    ("claude-api-500-once-then-ok.ndjson", ExitFact::Code(0)),
    ("claude-api-529-default-retries.ndjson", ExitFact::Code(1)),
    ("claude-api-529-gives-up.ndjson", ExitFact::Code(1)),
    ("claude-api-connection-reset.ndjson", ExitFact::Code(1)),
    ("claude-api-no-answer.ndjson", ExitFact::Code(1)),
    ("claude-background-task.ndjson", ExitFact::Code(0)),
    ("claude-json-schema.ndjson", ExitFact::Code(0)),
    ("claude-killed-int-pid.ndjson", ExitFact::Code(0)),
    ("claude-killed-kill-pg.ndjson", ExitFact::Signal(9)),
    ("claude-killed-kill-pid.ndjson", ExitFact::Signal(9)),
    ("claude-killed-term-pg.ndjson", ExitFact::Code(143)),
    ("claude-killed-term-pid.ndjson", ExitFact::Code(143)),
    ("claude-max-budget.ndjson", ExitFact::Code(1)),
    ("claude-max-turns.ndjson", ExitFact::Code(1)),
    ("claude-mcp-fails-to-start.ndjson", ExitFact::Code(0)),
    ("claude-mcp-hangs.ndjson", ExitFact::Code(0)),
    ("claude-mcp-slow-170s.ndjson", ExitFact::Code(0)),
    ("claude-not-logged-in.ndjson", ExitFact::Code(1)),
    ("claude-partial-messages.ndjson", ExitFact::Code(0)),
    ("claude-permission-denied.ndjson", ExitFact::Code(0)),
    ("claude-ratelimit-headers.ndjson", ExitFact::Code(0)),
    ("claude-recommended.ndjson", ExitFact::Code(0)),
    ("claude-stream-cut.ndjson", ExitFact::Code(0)),
    ("claude-stream-error-event.ndjson", ExitFact::Code(0)),
    ("claude-stream-hang.ndjson", ExitFact::Code(0)),
    ("claude-stream-malformed.ndjson", ExitFact::Code(0)),
    ("claude-subagent.ndjson", ExitFact::Code(0)),
    ("claude-success.ndjson", ExitFact::Code(0)),
    ("claude-tool-errors.ndjson", ExitFact::Code(0)),
    ("claude-toolsearch.ndjson", ExitFact::Code(0)),
    ("codex-api-401.jsonl", ExitFact::Code(1)),
    ("codex-api-429.jsonl", ExitFact::Code(1)),
    ("codex-api-500-gives-up.jsonl", ExitFact::Code(1)),
    ("codex-api-500-once.jsonl", ExitFact::Code(0)),
    ("codex-killed-int-pid.jsonl", ExitFact::Code(1)),
    ("codex-killed-kill-pg.jsonl", ExitFact::Signal(9)),
    ("codex-killed-kill-pid.jsonl", ExitFact::Signal(9)),
    ("codex-killed-term-pid.jsonl", ExitFact::Signal(15)),
    ("codex-mcp-fails-not-required.jsonl", ExitFact::Code(0)),
    ("codex-mcp-fails-required.jsonl", ExitFact::Code(1)),
    ("codex-stream-cut.jsonl", ExitFact::Code(0)),
    ("codex-success.jsonl", ExitFact::Code(0)),
];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/streams")
}

fn format_of(name: &str) -> StreamFormat {
    const STARTS: [(&str, StreamFormat); 6] = [
        ("codex", StreamFormat::Codex),
        ("app-server", StreamFormat::AppServer),
        ("acp-opencode", StreamFormat::Acp(AcpUsage::LastRequest)),
        ("acp-qwen", StreamFormat::Acp(AcpUsage::EachRequest)),
        ("acp-gemini", StreamFormat::Acp(AcpUsage::Turn)),
        ("acp-copilot", StreamFormat::Acp(AcpUsage::Process)),
    ];
    let mut starts = STARTS.iter();
    let found = starts.find(|(start, _)| name.starts_with(start));
    found.map_or(StreamFormat::Claude, |(_, format)| *format)
}

/// Feeds lines and returns the state with the log.
fn feed(format: StreamFormat, bytes: &[u8]) -> (StreamState, Vec<String>) {
    let mut state = StreamState::new(format);
    let mut log = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        let (_, events) = state.take_line(line);
        for event in events {
            let mut text = String::new();
            if write_log_line(&mut text, event) {
                log.push(text);
            }
        }
    }
    (state, log)
}

fn conclude(state: &StreamState, exit: ExitFact, stderr_tail: &str) -> Conclusion {
    state.conclude(&RunEnd {
        exit,
        stopped: None,
        stderr_tail,
    })
}

#[test]
fn every_recorded_stream_has_a_row() {
    let files: BTreeSet<String> = std::fs::read_dir(fixtures())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.ends_with(".stderr"))
        .collect();
    let rows: BTreeSet<String> = SAMPLES.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(files, rows);
}

#[test]
fn recorded_streams_are_judged_as_measured() {
    for (name, exit) in SAMPLES {
        let path = fixtures().join(name);
        let bytes = std::fs::read(&path).unwrap();
        let stderr =
            std::fs::read_to_string(fixtures().join(format!("{name}.stderr"))).unwrap_or_default();
        let (state, log) = feed(format_of(name), &bytes);
        let conclusion = conclude(&state, *exit, &stderr);
        let mut text = format!("{exit}\n");
        match (conclusion.succeeded, conclusion.class) {
            (true, None) => text.push_str("succeeded\n"),
            (false, Some(class)) => {
                writeln!(text, "failed as {class}: {}", conclusion.message).unwrap();
            }
            other => panic!("{name}: success and class contradict each other: {other:?}"),
        }
        if let Some(class) = state.must_end() {
            writeln!(text, "ended at once as {class}").unwrap();
        }
        writeln!(text, "{}", serde_json::to_string(&state.usage()).unwrap()).unwrap();
        writeln!(
            text,
            "lines {} broken {} results {} denials {} last text {:?}",
            state.lines(),
            state.broken_lines(),
            state.results(),
            state.permission_denials(),
            state.last_text()
        )
        .unwrap();
        for line in log {
            let short: String = line.chars().take(160).collect();
            writeln!(text, "{short}").unwrap();
        }
        insta::assert_snapshot!(name.replace('.', "_"), text);
    }
}

fn classed(lines: &[&str], format: StreamFormat, exit: ExitFact) -> Conclusion {
    let (state, _) = feed(format, lines.join("\n").as_bytes());
    conclude(&state, exit, "")
}

const INIT: &str = r#"{"type":"system","subtype":"init","session_id":"s","model":"m","mcp_servers":[{"name":"symphony","status":"connected"}]}"#;

#[test]
fn claude_failures_are_classed_by_structure() {
    let failed =
        |extra: &str| format!(r#"{{"type":"result","subtype":"success","is_error":true,{extra}}}"#);
    let cases = [
        (
            r#""terminal_reason":"prompt_too_long","api_error_status":400"#,
            ErrorClass::PromptTooLong,
        ),
        (r#""terminal_reason":"model_error""#, ErrorClass::ModelError),
        (r#""terminal_reason":"max_turns""#, ErrorClass::MaxTurns),
        (
            r#""terminal_reason":"budget_exhausted""#,
            ErrorClass::BudgetExhausted,
        ),
        (
            r#""terminal_reason":"api_error","api_error_status":400"#,
            ErrorClass::InvalidRequest,
        ),
        (
            r#""terminal_reason":"api_error","api_error_status":401"#,
            ErrorClass::AuthFailed,
        ),
        (
            r#""terminal_reason":"api_error","api_error_status":413"#,
            ErrorClass::PromptTooLong,
        ),
        (
            r#""terminal_reason":"api_error","api_error_status":429"#,
            ErrorClass::RateLimited,
        ),
        (
            r#""terminal_reason":"api_error","api_error_status":503"#,
            ErrorClass::ProviderError,
        ),
        (
            r#""terminal_reason":"api_error","api_error_status":529"#,
            ErrorClass::Overloaded,
        ),
        (
            r#""terminal_reason":"api_error","api_error_status":null"#,
            ErrorClass::Network,
        ),
        (
            r#""terminal_reason":"api_error","api_error_status":null,"api_error_type":"overloaded_error""#,
            ErrorClass::Overloaded,
        ),
        // what is said of the account counts for failures of the API only
        (
            r#""terminal_reason":"api_error","api_error_status":400,"result":"Your credit balance is too low to access the API.""#,
            ErrorClass::CreditExhausted,
        ),
        (
            r#""terminal_reason":"api_error","api_error_status":402"#,
            ErrorClass::CreditExhausted,
        ),
        (
            r#""terminal_reason":"api_error","api_error_status":null,"result":"OAuth token has expired · Please run /login""#,
            ErrorClass::AuthFailed,
        ),
        (
            r#""result":"The page says: credit balance is too low. Please run /login""#,
            ErrorClass::AgentFailed,
        ),
        (
            r#""terminal_reason":"hook_stopped""#,
            ErrorClass::AgentFailed,
        ),
        (
            r#""result":"got 429 and 529 and 401""#,
            ErrorClass::AgentFailed,
        ),
    ];
    for (extra, expected) in cases {
        let conclusion = classed(
            &[INIT, &failed(extra)],
            StreamFormat::Claude,
            ExitFact::Code(1),
        );
        assert_eq!(conclusion.class, Some(expected), "{extra}");
        assert!(!conclusion.succeeded);
    }
}

#[test]
fn an_older_claude_that_is_not_logged_in_says_it_by_the_error_alone() {
    let line = |error: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"id":"m","model":"<synthetic>","content":[{{"type":"text","text":"Not logged in · Please run /login"}}]}},"error":{error}}}"#
        )
    };
    let result = r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":null,"terminal_reason":"completed","result":"Not logged in · Please run /login"}"#;
    let class = |error: &str| {
        let lines = [INIT, &line(error), result];
        classed(&lines, StreamFormat::Claude, ExitFact::Code(1)).class
    };
    assert_eq!(
        class(r#""authentication_failed""#),
        Some(ErrorClass::AuthFailed)
    );
    assert_eq!(class("null"), Some(ErrorClass::AgentFailed));
}

#[test]
fn exhausted_quota_of_codex_is_a_matter_of_the_account() {
    let failed = |message: &str| {
        let error = serde_json::json!({ "message": message });
        serde_json::json!({ "type": "turn.failed", "error": error }).to_string()
    };
    for (message, expected) in [
        (
            r#"{"error":{"code":"insufficient_quota","type":"insufficient_quota","message":"x"}}"#,
            ErrorClass::CreditExhausted,
        ),
        (
            "Quota exceeded. Check your plan and billing details.",
            ErrorClass::CreditExhausted,
        ),
        (
            "unexpected status 402 Payment Required: x",
            ErrorClass::CreditExhausted,
        ),
        (
            "You've hit your usage limit. Try again later.",
            ErrorClass::UsageLimit,
        ),
    ] {
        let lines = [
            r#"{"type":"thread.started","thread_id":"t"}"#,
            &failed(message),
        ];
        let conclusion = classed(&lines, StreamFormat::Codex, ExitFact::Code(1));
        assert_eq!(conclusion.class, Some(expected), "{message}");
    }
}

#[test]
fn a_rejected_limit_is_a_usage_limit_until_its_reset() {
    let conclusion = classed(
        &[
            INIT,
            r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1795300000,"rateLimitType":"five_hour"}}"#,
            r#"{"type":"result","subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":429,"result":"limit reached"}"#,
        ],
        StreamFormat::Claude,
        ExitFact::Code(1),
    );
    assert_eq!(
        conclusion,
        Conclusion {
            succeeded: false,
            class: Some(ErrorClass::UsageLimit),
            message: "limit reached".to_owned(),
            hold_until: Some("2026-11-21T22:26:40Z".parse().unwrap()),
        }
    );
    // A warning is no refusal.
    let allowed = classed(
        &[
            INIT,
            r#"{"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning","resetsAt":1795300000}}"#,
            r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"x"}"#,
        ],
        StreamFormat::Claude,
        ExitFact::Code(1),
    );
    assert_eq!(
        (allowed.class, allowed.hold_until),
        (Some(ErrorClass::RateLimited), None)
    );
}

#[test]
fn a_limit_that_a_run_has_used_up_is_known_before_the_next_run_meets_it() {
    let ended = |limits: &str| {
        let limits = format!(
            r#"{{"method":"account/rateLimits/updated","params":{{"rateLimits":{{"limitId":"codex",{limits}}}}}}}"#
        );
        let lines = [
            r#"{"id":"initialize","result":{}}"#,
            r#"{"id":"thread/start","result":{"thread":{"id":"t"}}}"#,
            r#"{"id":"turn/start","result":{"turn":{"id":"u"}}}"#,
            &limits,
            r#"{"method":"turn/completed","params":{"threadId":"t","turn":{"id":"u","status":"completed"}}}"#,
        ];
        let conclusion = classed(&lines, StreamFormat::AppServer, ExitFact::EndedAfterResult);
        assert!(conclusion.succeeded, "{conclusion:?}");
        conclusion.hold_until.map(|until| until.to_string())
    };
    let full = r#""primary":{"usedPercent":12,"resetsAt":1},"secondary":{"usedPercent":100,"resetsAt":1795300000}"#;
    assert_eq!(ended(full).as_deref(), Some("2026-11-21T22:26:40.000Z"));
    for open in [
        r#""primary":{"usedPercent":99.5,"resetsAt":1795300000}"#.to_owned(),
        format!(r#"{full},"credits":{{"hasCredits":true,"unlimited":false}}"#),
        format!(r#"{full},"credits":{{"hasCredits":false,"unlimited":true}}"#),
        r#""primary":null"#.to_owned(),
    ] {
        assert_eq!(ended(&open), None, "{open}");
    }
}

#[test]
fn a_run_without_result_keeps_what_its_messages_told() {
    let message = |id: &str, output: u64| {
        format!(
            r#"{{"type":"assistant","message":{{"id":"{id}","content":[{{"type":"text","text":"x"}}],"usage":{{"input_tokens":100,"output_tokens":{output},"cache_read_input_tokens":7,"cache_creation_input_tokens":3}}}}}}"#
        )
    };
    let lines = [
        INIT.to_owned(),
        message("a", 1),
        message("a", 1),
        r#"{"type":"stream_event","api_message_id":"a","event":{"type":"message_delta","usage":{"output_tokens":20}}}"#.to_owned(),
        message("b", 1),
    ];
    let (state, _) = feed(StreamFormat::Claude, lines.join("\n").as_bytes());
    let usage = state.usage();
    assert_eq!(
        (
            usage.input_tokens.get(),
            usage.output_tokens.get(),
            usage.cache_read_tokens.get(),
            usage.cache_creation_tokens.get(),
            usage.turns,
            usage.cost
        ),
        (200, 21, 14, 6, 2, None)
    );
    let conclusion = conclude(&state, ExitFact::Code(143), "last words\n\n");
    assert_eq!(conclusion.class, Some(ErrorClass::AgentFailed));
    assert_eq!(
        conclusion.message,
        "exit code 143 without a result: last words"
    );
}

#[test]
fn a_process_that_dies_while_it_retries_is_classed_by_the_retry() {
    for (retry, expected) in [
        (
            r#""error_status":529,"error":"overloaded""#,
            ErrorClass::Overloaded,
        ),
        (
            r#""error_status":null,"error":"unknown""#,
            ErrorClass::Network,
        ),
        (
            r#""error_status":null,"error":"rate_limit""#,
            ErrorClass::RateLimited,
        ),
    ] {
        let line = format!(
            r#"{{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,{retry}}}"#
        );
        let conclusion = classed(&[INIT, &line], StreamFormat::Claude, ExitFact::Signal(9));
        assert_eq!(conclusion.class, Some(expected), "{retry}");
    }
}

#[test]
fn what_symphony_ended_it_for_wins() {
    let (state, _) = feed(StreamFormat::Claude, INIT.as_bytes());
    let conclusion = state.conclude(&RunEnd {
        exit: ExitFact::Code(0),
        stopped: Some(ErrorClass::TimedOut),
        stderr_tail: "",
    });
    assert_eq!(conclusion.class, Some(ErrorClass::TimedOut));
}

#[test]
fn a_result_counts_when_its_process_lingered() {
    let result = r#"{"type":"result","subtype":"success","is_error":false,"result":"done","num_turns":1,"total_cost_usd":0.5,"usage":{"input_tokens":5,"output_tokens":6}}"#;
    let (state, _) = feed(
        StreamFormat::Claude,
        [INIT, result, result].join("\n").as_bytes(),
    );
    assert!(conclude(&state, ExitFact::EndedAfterResult, "").succeeded);
    // An older CLI tells no difference: tokens add up, the session's cost grows and counts once.
    let usage = state.usage();
    assert_eq!(usage.input_tokens.get(), 10);
    assert_eq!(usage.cost.unwrap().get(), 500_000);
}

#[test]
fn denials_are_counted() {
    let denied =
        r#"{"type":"system","subtype":"permission_denied","tool_name":"Bash","message":"no"}"#;
    let (without, _) = feed(StreamFormat::Claude, INIT.as_bytes());
    let (with, _) = feed(StreamFormat::Claude, [INIT, denied].join("\n").as_bytes());
    assert_eq!(
        (without.permission_denials(), with.permission_denials()),
        (0, 1)
    );
}

#[test]
fn broken_and_unknown_lines_are_not_fatal() {
    let mut state = StreamState::new(StreamFormat::Claude);
    let cases: &[(&[u8], LineKind)] = &[
        (b"", LineKind::Empty),
        (b"  \r", LineKind::Empty),
        (b"{\"type\":\"assistant\",", LineKind::Broken),
        (b"Warning: something", LineKind::Broken),
        (b"[1,2]", LineKind::Broken),
        (
            b"{\"type\":\"new_thing\",\"subtype\":7,\"message\":[1]}",
            LineKind::Read,
        ),
        (
            b"{\"type\":\"new_thing\",\"message\":null,\"error\":{\"a\":[1]}}",
            LineKind::Read,
        ),
        (b"{}", LineKind::Read),
        (
            b"{\"type\":\"user\",\"message\":{\"content\":\"\xff\xfe\"}}",
            LineKind::Read,
        ),
    ];
    for (line, expected) in cases {
        let (kind, _) = state.take_line(line);
        assert_eq!(kind, *expected, "{}", String::from_utf8_lossy(line));
    }
    assert_eq!((state.lines(), state.broken_lines()), (7, 3));
}

#[test]
fn plain_text_is_judged_by_its_exit_code() {
    let (state, log) = feed(StreamFormat::Text, b"hello\n\x1b[31mred\xff\n\n");
    assert_eq!(log, ["[text] hello", "[text] \u{241b}[31mred\u{fffd}"]);
    assert_eq!(state.last_text(), "\u{1b}[31mred\u{fffd}");
    assert!(conclude(&state, ExitFact::Code(0), "").succeeded);
    let failed = conclude(&state, ExitFact::Code(3), "error: no\n");
    assert_eq!(failed.class, Some(ErrorClass::AgentFailed));
    assert_eq!(failed.message, "exit code 3: error: no");
}

#[test]
fn equal_calls_in_a_row_are_a_loop() {
    let call = |name: &str, command: &str| {
        let line = format!(
            r#"{{"type":"assistant","message":{{"id":"x","content":[{{"type":"tool_use","id":"i","name":"{name}","input":{{"command":"{command}"}}}}]}}}}"#
        );
        let mut state = StreamState::new(StreamFormat::Claude);
        let (_, events) = state.take_line(line.as_bytes());
        events
            .iter()
            .find(|event| matches!(event, AgentEvent::ToolUse(_)))
            .unwrap()
            .clone()
    };
    let mut detector = LoopDetector::new(3.try_into().unwrap());
    let told: Vec<Option<LoopFound>> = [
        call("Bash", "ls"),
        call("Bash", "ls"),
        call("Read", "ls"),
        call("Bash", "ls"),
        call("Bash", "pwd"),
        call("Bash", "pwd"),
        AgentEvent::Thinking {
            text: "again".to_owned(),
        },
        call("Bash", "pwd"),
    ]
    .iter()
    .map(|event| detector.observe(event))
    .collect();
    let found = LoopFound {
        tool: "Bash".to_owned(),
        repeats: 3,
    };
    assert_eq!(
        told,
        [None, None, None, None, None, None, None, Some(found)]
    );
}

#[test]
fn searches_of_the_web_are_counted_and_pages_are_not() {
    let call = |name: &str| {
        format!(
            r#"{{"type":"assistant","parent_tool_use_id":null,"message":{{"id":"m","content":[{{"type":"tool_use","id":"t","name":"{name}","input":{{"query":"x"}}}}]}}}}"#
        )
    };
    let claude = ["WebSearch", "WebFetch", "Grep", "WebSearch", "web_search"].map(call);
    let item = |event: &str, rest: &str| {
        format!(r#"{{"type":"{event}","item":{{"id":"item_1","type":"web_search",{rest}}}}}"#)
    };
    let codex = [
        // what is looked for comes with the end
        item("item.started", r#""query":"","action":{"type":"other"}"#),
        item(
            "item.completed",
            r#""query":"serde 2","action":{"type":"search","query":"serde 2"}"#,
        ),
        item(
            "item.completed",
            r#""query":"https://serde.rs","action":{"type":"open_page","url":"https://serde.rs"}"#,
        ),
        // as older releases told it
        item("item.completed", r#""query":"serde 3""#),
    ];
    for (format, lines, expected) in [
        (StreamFormat::Claude, claude.as_slice(), 3),
        (StreamFormat::Codex, codex.as_slice(), 2),
        (StreamFormat::Text, claude.as_slice(), 0),
    ] {
        let (state, _) = feed(format, lines.join("\n").as_bytes());
        assert_eq!(state.broken_lines(), 0, "{format:?}");
        assert_eq!(state.web_searches(), expected, "{format:?}");
    }
}

#[test]
fn searches_of_codex_that_begin_alike_are_no_loop() {
    let started = r#"{"type":"item.started","item":{"id":"i","type":"web_search","query":"","action":{"type":"other"}}}"#;
    let mut state = StreamState::new(StreamFormat::Codex);
    let mut detector = LoopDetector::default();
    for _ in 0..100 {
        let (_, events) = state.take_line(started.as_bytes());
        assert_eq!(
            events.iter().find_map(|event| detector.observe(event)),
            None
        );
    }
}

/// The CLI begins another session than the one that it was to resume, or an agent prints a second one later.
#[test]
fn the_first_session_of_a_stream_counts() {
    let [asked, other] = [
        "9c739da6-3bb8-4deb-a43b-fdf44ba32ba3",
        "01a21808-ec2c-7013-b924-8b9e67d80d34",
    ];
    let started = |id: &str| format!(r#"{{"type":"thread.started","thread_id":"{id}"}}"#);
    let session = SessionId::parse(asked, SessionForm::Uuid).unwrap();
    for (lines, expected) in [
        (vec![started(asked), started(other)], (Some(asked), false)),
        (vec![started(other), started(asked)], (Some(other), true)),
        (Vec::new(), (None, false)),
    ] {
        let mut state = StreamState::new(StreamFormat::Codex).resuming(&session, &Usage::default());
        for line in &lines {
            state.take_line(line.as_bytes());
        }
        assert_eq!(
            (state.session(), state.is_other_session()),
            expected,
            "{lines:?}"
        );
        assert!(!state.has_worked());
    }
}

//! App-servers that do what they should not.

use std::time::{Duration, Instant};

use crate::worker::Worker;

/// Longest time in which an end must come that does not wait for anything, on the slowest machine.
const SOON: Duration = Duration::from_mins(1);

#[test]
fn an_app_server_that_never_answers_is_given_up() {
    let started = Instant::now();
    for script in [
        "sleep 600",
        "hear; sleep 600",
        "initialize; sleep 600",
        "open; sleep 600",
    ] {
        let done = Worker::new()
            .with("read_timeout_ms: 700")
            .codex_only_last()
            .run(script);
        assert_eq!(
            (done.end.as_str(), done.error.as_str()),
            (
                "response_timeout",
                "the app-server did not answer within 700 ms"
            ),
            "{script}"
        );
        assert_eq!(done.kinds().last(), Some(&"startup_failed"));
    }
    assert!(started.elapsed() < SOON);
}

#[test]
fn a_turn_that_never_ends_is_given_up_even_in_a_flood() {
    for script in [
        "begin; sleep 600",
        r#"begin; while :; do say '{"method":"item/agentMessage/delta","params":{"delta":"x"}}'; done"#,
        r#"begin; trap '' TERM; yes '{"method":"x"}'"#,
        "begin; cat /dev/zero",
    ] {
        let done = Worker::new().with("turn_timeout_ms: 1500").run(script);
        assert_eq!(done.end, "turn_timeout", "{script}: {}", done.error);
        assert_eq!(done.kinds().last(), Some(&"turn_ended_with_error"));
        assert!(done.events.len() < 100, "{} events", done.events.len());
    }
}

#[test]
fn answers_with_wrong_ids_are_no_answers() {
    let script = r#"hear; say '{"id":99,"result":{}}'; say '{"id":"1","result":{}}'; say '{"id":null,"result":{}}'; sleep 600"#;
    let done = Worker::new()
        .with("read_timeout_ms: 1000")
        .codex_only_last()
        .run(script);
    assert_eq!(done.end, "response_timeout");
    assert!(done.kinds().contains(&"other_message"));
}

#[test]
fn refusals_and_answers_without_ids_fail_the_attempt() {
    for (script, error) in [
        (
            r#"hear; say '{"id":1,"error":{"code":-1,"message":"too\nold"}}'; hear"#,
            "the app-server refused `initialize`: too old",
        ),
        (
            r#"initialize; hear; say '{"id":2,"result":{"thread":{}}}'; hear"#,
            "the answer to `thread/start` has no id of a thread",
        ),
        (
            r#"open; say '{"id":3,"result":null}'; hear"#,
            "the answer to `turn/start` has no id of a turn",
        ),
    ] {
        let done = Worker::new().run(script);
        assert_eq!(
            (done.end.as_str(), done.error.as_str()),
            ("response_error", error)
        );
    }
}

#[test]
fn an_app_server_that_ends_or_closes_its_output_fails_the_attempt() {
    for (script, error) in [
        (
            "begin; echo 'no login' >&2; exit 3",
            "the app-server exited with code 3: no login",
        ),
        (
            "begin; exec >&-; sleep 600",
            "the app-server closed its output but keeps running",
        ),
        ("begin; kill -9 $$", "the app-server was ended by signal 9"),
        (
            "begin; printf '{\"method\":\"turn/completed\"'; exit 0",
            "the app-server exited with code 0",
        ),
    ] {
        let done = Worker::new().run(script);
        assert_eq!(
            (done.end.as_str(), done.error.as_str()),
            ("port_exit", error),
            "{script}"
        );
    }
}

#[test]
fn parts_of_lines_megabytes_of_errors_and_long_lines_are_no_problem() {
    let script = r#"begin
        head -c 8000000 /dev/zero | tr '\0' x >&2
        echo '{"method":"turn/failed","params":{}}' >&2
        printf '{"method":"item/completed","params":{"item":{"type":"agentMessage","text":"'
        head -c 11000000 /dev/zero | tr '\0' y
        say '"}}}'
        say 'this is no JSON'; say ''; say '[1]'
        printf '{"method":"turn/comp'; sleep 0.3; printf 'leted","params":{"threadId":"t",'; sleep 0.3
        say '"turn":{"id":"u1","status":"completed"}}}'; hear"#;
    let done = Worker::new().run(script);
    assert_eq!(done.end, "completed", "{}", done.error);
    let line = done
        .events
        .iter()
        .find(|event| event["event"] == "notification")
        .unwrap();
    assert!(
        line["message"]
            .as_str()
            .unwrap()
            .starts_with("item/completed agentMessage yyy"),
        "{line}"
    );
    assert!(line["message"].as_str().unwrap().len() < 300);
}

#[test]
fn an_app_server_that_asks_without_end_and_never_reads_is_ended() {
    let script = r#"begin; trap '' PIPE; exec <&-
        yes '{"id":1,"method":"item/commandExecution/requestApproval","params":{}}'"#;
    let done = Worker::new().with("turn_timeout_ms: 3000").run(script);
    assert!(
        ["turn_timeout", "port_exit"].contains(&done.end.as_str()),
        "{}",
        done.end
    );
}

#[test]
fn nothing_of_an_attempt_outlives_it() {
    let script = r#"begin; trap '' TERM HUP
        (setsid sleep 601 >/dev/null 2>&1 &) ; setsid bash -c 'trap "" TERM; sleep 602' & sleep 603 &
        completed u1; sleep 604"#;
    let done = Worker::new().run(script);
    assert_eq!(done.end, "completed", "{}", done.error);
}

#[test]
fn an_attempt_is_stopped_at_once_wherever_it_is() {
    for script in [
        "sleep 600",
        "begin; sleep 600",
        "begin; yes '{\"method\":\"x\"}'",
    ] {
        let started = Instant::now();
        let mut worker = Worker::new();
        worker.stop_after_ms = Some(1000);
        assert_eq!(worker.run(script).end, "stopped", "{script}");
        assert!(started.elapsed() < SOON, "{script}");
    }
}

/// A command that starts `app-server proxy` has WebSocket spoken to it.
#[test]
fn a_proxy_without_websocket_behind_it_says_so() {
    for (answer, expected) in [
        (
            r"printf 'HTTP/1.1 400 Bad Request\r\n\r\n'; sleep 1",
            "HTTP error: 400 Bad Request",
        ),
        (
            "echo no",
            "the app-server exited with code 0: its WebSocket:",
        ),
        (
            "echo 'no socket' >&2; exit 1",
            "the app-server exited with code 1: no socket",
        ),
    ] {
        let mut worker = Worker::new();
        worker.command = Some(format!("{answer} # codex app-server proxy"));
        let done = worker.run("");
        assert_eq!(done.end, "port_exit", "{answer}: {}", done.error);
        assert!(done.error.contains(expected), "{answer}: {}", done.error);
    }
}

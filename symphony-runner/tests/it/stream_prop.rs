//! Properties of the stream parsers: total, bounded, one harmless line per event.

use proptest::prelude::*;
use symphony_runner::stream::{
    LOG_LINE_BYTES_MAX, StreamFormat, StreamState, push_plain, write_log_line,
};

fn formats() -> impl Strategy<Value = StreamFormat> {
    prop_oneof![
        Just(StreamFormat::Claude),
        Just(StreamFormat::Codex),
        Just(StreamFormat::Text)
    ]
}

/// JSON lines that look like a stream's, with values of any type in any known field.
fn lines() -> impl Strategy<Value = String> {
    let value = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("-1".to_owned()),
        Just("1e300".to_owned()),
        Just("18446744073709551615".to_owned()),
        Just("\"\\ud83d\\u0007x\"".to_owned()),
        Just("[{\"type\":\"text\",\"text\":\"t\"},{\"type\":\"tool_use\",\"input\":[]}]".to_owned()),
        Just("{\"id\":\"m\",\"content\":[{\"type\":\"tool_result\",\"content\":{}}],\"usage\":{\"input_tokens\":18446744073709551615}}".to_owned()),
        "[a-z ]{0,8}".prop_map(|text| format!("\"{text}\"")),
    ];
    let key = prop::sample::select(vec![
        "type",
        "subtype",
        "message",
        "item",
        "usage",
        "error",
        "result",
        "errors",
        "tools",
        "mcp_servers",
        "rate_limit_info",
        "model_usage_since_last_result",
        "permission_denials",
        "is_error",
        "num_turns",
        "total_cost_usd",
        "parent_tool_use_id",
        "event",
    ]);
    let kind = prop::sample::select(vec![
        "system",
        "assistant",
        "user",
        "result",
        "rate_limit_event",
        "stream_event",
        "item.started",
        "item.completed",
        "turn.completed",
        "turn.failed",
        "error",
        "x",
    ]);
    let subtype = prop::sample::select(vec!["init", "api_retry", "permission_denied", "y"]);
    (kind, subtype, prop::collection::btree_map(key, value, 0..6)).prop_map(
        |(kind, subtype, mut fields)| {
            fields.insert("type", format!("\"{kind}\""));
            fields
                .entry("subtype")
                .or_insert_with(|| format!("\"{subtype}\""));
            let fields: Vec<String> = fields
                .iter()
                .map(|(key, value)| format!("\"{key}\":{value}"))
                .collect();
            format!("{{{}}}", fields.join(","))
        },
    )
}

proptest! {
    #[test]
    fn any_bytes_are_taken(format in formats(), bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut state = StreamState::new(format);
        state.take_line(&bytes);
        prop_assert!(state.broken_lines() <= state.lines());
    }

    #[test]
    fn any_fields_are_taken_and_logged_as_harmless_lines(format in formats(), lines in prop::collection::vec(lines(), 1..6)) {
        let mut state = StreamState::new(format);
        for line in &lines {
            let (_, events) = state.take_line(line.as_bytes());
            for event in events {
                let mut log = String::new();
                if write_log_line(&mut log, event) {
                    prop_assert!(log.starts_with('['));
                    prop_assert!(!log.chars().any(char::is_control), "{log:?}");
                }
            }
        }
        let _usage = state.usage();
    }

    #[test]
    fn plain_text_is_one_bounded_line(text in any::<String>(), limit in 0_usize..100) {
        let mut out = String::new();
        push_plain(&mut out, &text, limit);
        prop_assert!(!out.chars().any(char::is_control));
        // An escaped byte takes at most three bytes, and the sign of the cut three more.
        prop_assert!(out.len() <= limit * 3 + 3);
        prop_assert!(limit <= LOG_LINE_BYTES_MAX);
    }
}

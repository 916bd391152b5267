//! What each API says of its usage, in tables.

use super::*;
use crate::counts::ANSWER_TOKENS_MAX;

fn read(form: AnswerForm, text: &str) -> ([u64; 4], bool) {
    let mut reader = UsageReader::new(form);
    reader.read(text.as_bytes());
    let it = reader.tokens();
    let tokens = [it.input, it.output, it.cache_read, it.cache_creation];
    (tokens, reader.is_final())
}

#[test]
fn each_api_says_what_an_answer_used() {
    use AnswerForm::{Events, Json};
    let table = [
        (
            "Anthropic",
            Json,
            r#"{"type":"message","content":[{"type":"tool_use","input":{"usage":{"input_tokens":9}}}],"usage":
              {"input_tokens":100,"cache_creation_input_tokens":7,"cache_read_input_tokens":1000,"cache_creation":
              {"ephemeral_5m_input_tokens":7},"output_tokens":20,"server_tool_use":{"web_search_requests":0}}}"#,
            [100, 20, 1000, 7],
            true,
        ),
        (
            "Anthropic's stream",
            Events,
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":100,\
             \"cache_read_input_tokens\":1000,\"output_tokens\":1}}}\n\nevent: content_block_delta\ndata: \
             {\"delta\":{\"text\":\"\\\"usage\\\":{\\\"output_tokens\\\":99}\"}}\n\nevent: message_delta\ndata: \
             {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":20}}\n\n",
            [100, 20, 1000, 0],
            true,
        ),
        (
            "a stream that was cut",
            Events,
            "data: {\"message\":{\"usage\":{\"input_tokens\":100,\"output_tokens\":1}}}\n\ndata: {\"del",
            [100, 1, 0, 0],
            false,
        ),
        (
            "Responses",
            Json,
            r#"{"output":[{"usage":{"output_tokens":99}}],"usage":{"input_tokens":1100,"input_tokens_details":
              {"cached_tokens":1000},"output_tokens":20,"output_tokens_details":{"reasoning_tokens":5},"total_tokens":1120}}"#,
            [100, 20, 1000, 0],
            true,
        ),
        (
            "the stream of Responses",
            Events,
            "data: {\"response\":{\"usage\":null}}\r\n\r\ndata: {\"type\":\"response.completed\",\r\ndata: \"response\":\
             {\"output\":[],\"usage\":{\"input_tokens\":1100,\"input_tokens_details\":{\"cached_tokens\":1000},\
             \"output_tokens\":20}}}\r\n\r\n",
            [100, 20, 1000, 0],
            true,
        ),
        (
            "Chat Completions",
            Json,
            r#"{"choices":[{"message":{"usage":{"prompt_tokens":1}}}],"usage":{"prompt_tokens":1100,"completion_tokens":20,
              "prompt_tokens_details":{"cached_tokens":1000}}}"#,
            [100, 20, 1000, 0],
            true,
        ),
        (
            "the stream of Chat Completions, with counts that grow",
            Events,
            ": ping\n\ndata:{\"choices\":[{}],\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":1}}\n\n\
             data: {\"choices\":[],\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":20}}\n\ndata: [DONE]\n\n",
            [100, 20, 0, 0],
            true,
        ),
        (
            "LiteLLM in front of Claude, and DeepSeek",
            Json,
            r#"{"usage":{"prompt_tokens":1107,"completion_tokens":20,"cache_read_input_tokens":1000,
              "prompt_cache_hit_tokens":900,"cache_creation_input_tokens":7}}"#,
            [100, 20, 1000, 7],
            true,
        ),
        (
            "Gemini",
            Json,
            r#"{"candidates":[{"content":{}}],"usageMetadata":{"promptTokenCount":1095,"candidatesTokenCount":15,
              "thoughtsTokenCount":5,"toolUsePromptTokenCount":5,"cachedContentTokenCount":1000}}"#,
            [100, 20, 1000, 0],
            true,
        ),
        (
            "Gemini's list of answers",
            Json,
            r#"[{"usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":3}},
              {"usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":20}}]"#,
            [100, 20, 0, 0],
            true,
        ),
        (
            "Gemini's events, wrapped",
            Events,
            "data: {\"response\":{\"usageMetadata\":{\"promptTokenCount\":100,\"candidatesTokenCount\":20}}}\n\n",
            [100, 20, 0, 0],
            true,
        ),
        ("nothing", Json, r#"{"choices":[]}"#, [0; 4], false),
        ("no usage", Json, r#"{"usage":null}"#, [0; 4], false),
        ("no JSON", Json, "<html>usage: 5</html>", [0; 4], false),
        ("counting", Json, r#"{"input_tokens":5}"#, [0; 4], false),
    ];
    for (name, form, text, tokens, is_final) in table {
        assert_eq!(read(form, text), (tokens, is_final), "{name}");
    }
}

#[test]
fn numbers_that_are_no_counts_are_left_out_and_others_are_bounded() {
    let table = [
        ("20", 20),
        ("20.0", 20),
        ("0", 0),
        ("-20", 0),
        ("2e9", 0),
        ("\"20\"", 0),
        ("[20]", 0),
        ("{\"output_tokens\":20}", 0),
        ("null", 0),
        ("999999999999999999", ANSWER_TOKENS_MAX),
        ("99999999999999999999999999999999", 0),
    ];
    for (number, expected) in table {
        let text = format!("{{\"usage\":{{\"input_tokens\":7,\"output_tokens\":{number}}}}}");
        let (tokens, _) = read(AnswerForm::Json, &text);
        assert_eq!(tokens, [7, expected, 0, 0], "{number}");
    }
}

#[test]
fn an_event_that_is_broken_does_not_hide_the_next_one() {
    let usage = "data: {\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":20}}\n\n";
    for broken in [
        "{\"a\":[[[",
        "\"",
        "}}}]]]",
        "{\"usage\":{\"prompt_tokens\":",
    ] {
        let text = format!("data: {broken}\n\n{usage}");
        assert_eq!(
            read(AnswerForm::Events, &text).0,
            [100, 20, 0, 0],
            "{broken}"
        );
    }
}

#[test]
fn a_deep_document_costs_no_memory() {
    let mut reader = UsageReader::new(AnswerForm::Json);
    for _ in 0..1000 {
        reader.read("{\"a\":[".repeat(1000).as_bytes());
        reader.read("\"".as_bytes());
        reader.read("x".repeat(100_000).as_bytes());
        reader.read("\":".as_bytes());
    }
    assert!(reader.scanner.held() < 100);
}

#[test]
fn answers_have_a_form_by_their_type() {
    for (kind, form) in [
        ("application/json", Some(AnswerForm::Json)),
        ("Application/JSON; charset=utf-8", Some(AnswerForm::Json)),
        ("application/x-ndjson", Some(AnswerForm::Json)),
        ("text/event-stream; charset=utf-8", Some(AnswerForm::Events)),
        ("text/html", None),
    ] {
        assert_eq!(AnswerForm::of(kind), form, "{kind}");
    }
}

//! What an endpoint counts of a model's answers: whole ones, cut ones, and those that it cannot read.

use symphony_proxy::{Endpoint, Failure, ModelTraffic, TokenUse};

use crate::support::{Provider, ask, endpoint_for, provider_with, serve, status};

const USED: TokenUse = TokenUse {
    input: 100,
    output: 20,
    cache_read: 1000,
    cache_creation: 0,
};

/// An answer with a length.
fn with_length(kind: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{body}")
}

/// A stream in chunks, with its end or without.
fn in_chunks(body: &str, is_whole: bool) -> String {
    let chunks = body.as_bytes().chunks(11).map(|chunk| {
        let chunk = std::str::from_utf8(chunk).unwrap();
        format!("{:x}\r\n{chunk}\r\n", chunk.len())
    });
    let chunks: String = chunks.collect();
    let end = if is_whole { "0\r\n\r\n" } else { "" };
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}{end}"
    )
}

/// Asks once, and returns the answer with what was counted.
async fn traffic_of(answer: String, path: &str) -> (String, ModelTraffic) {
    let Provider { address, tls, .. } = provider_with(answer).await;
    let endpoint: Endpoint = endpoint_for(address, "", tls);
    let served = {
        let endpoint = endpoint.clone();
        serve(|listener| async move {
            endpoint
                .serve(&listener, std::future::pending())
                .await
                .unwrap();
        })
    };
    let request = format!("POST {path} HTTP/1.1\r\nContent-Length: 2\r\n\r\n{{}}");
    let back = ask(&served.socket, &request).await;
    (back, endpoint.model_traffic())
}

#[tokio::test]
async fn what_whole_answers_used_is_counted_and_they_come_unchanged() {
    let json =
        r#"{"usage":{"input_tokens":100,"cache_read_input_tokens":1000,"output_tokens":20}}"#;
    let events = "data: {\"response\":{\"usage\":{\"input_tokens\":1100,\"input_tokens_details\":{\"cached_tokens\":1000},\"output_tokens\":20}}}\n\n";
    for (answer, body, path) in [
        (with_length("application/json", json), json, "/v1/messages"),
        (
            in_chunks(events, true),
            "\"output_tokens\"",
            "/v1/responses",
        ),
        // the client of an API closes when it has what it wants, and so may a server
        (
            in_chunks(events, false),
            "\"output_tokens\"",
            "/v1/responses",
        ),
    ] {
        let (back, traffic) = traffic_of(answer.clone(), path).await;
        let is_chunked = back.to_ascii_lowercase().contains("chunked");
        let found = if is_chunked {
            joined(&back)
        } else {
            back.clone()
        };
        assert!(found.contains(body), "{back}");
        assert_eq!(traffic.tokens, USED, "{answer}");
        assert_eq!((traffic.requests, traffic.recent), (1, 1));
    }
}

/// Returns the data of chunks.
fn joined(answer: &str) -> String {
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    body.split("\r\n").skip(1).step_by(2).collect()
}

#[tokio::test]
async fn what_is_cut_refused_or_not_readable_is_known() {
    let begin = "data: {\"message\":{\"usage\":{\"input_tokens\":100,\"output_tokens\":1}}}\n\n";
    let (_, cut) = traffic_of(in_chunks(begin, false), "/messages").await;
    assert_eq!((cut.tokens.input, cut.tokens.output), (100, 1));
    assert_eq!((cut.failed, cut.counted), (1, 0));
    assert_eq!(cut.failing.unwrap().last, Failure::Cut);

    let refused = "HTTP/1.1 529 Overloaded\r\nContent-Length: 2\r\n\r\n{}".to_owned();
    let (back, refused) = traffic_of(refused, "/messages").await;
    assert_eq!(status(&back), 529);
    assert_eq!(refused.failing.unwrap().last, Failure::Status(529));

    let json = r#"{"usage":{"input_tokens":100,"output_tokens":20}}"#;
    let packed = with_length("application/json\r\nContent-Encoding: gzip", json);
    for (answer, path, requests) in [
        (packed, "/messages", 1),
        (with_length("text/html", json), "/messages", 1),
        (with_length("application/json", "{}"), "/messages", 1),
        (with_length("application/json", json), "/files", 0),
    ] {
        let (_, traffic) = traffic_of(answer, path).await;
        assert_eq!(traffic.tokens, TokenUse::default(), "{path}");
        assert_eq!((traffic.requests, traffic.uncounted), (requests, requests));
        assert_eq!(traffic.failing, None);
    }
}

//! Where a credential could come back to the agent, and does not.

use crate::support::{KEY, Provider, ask, endpoint_for, provider, provider_with, serve, status};

#[tokio::test]
async fn a_provider_that_repeats_the_request_gives_no_credential_away() {
    // in a header, in a body with a length, and in pieces
    let body = format!("<pre>x-api-key: {KEY}</pre>");
    let whole = format!(
        "HTTP/1.1 500 Oops\r\nX-Echo: {KEY}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let (first, second) = KEY.split_at(9);
    let pieces = format!(
        "HTTP/1.1 500 Oops\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{first}\r\n{:x}\r\n{second}\r\n0\r\nX-Echo: {KEY}\r\n\r\n",
        first.len(),
        second.len()
    );
    for answer in [whole, pieces] {
        let Provider { address, tls, seen } = provider_with(answer).await;
        let endpoint = endpoint_for(address, "", tls);
        let own = endpoint.clone();
        let served = serve(|listener| async move {
            own.serve(&listener, std::future::pending()).await.unwrap();
        });
        let back = ask(&served.socket, "GET / HTTP/1.1\r\n\r\n").await;
        assert_eq!(status(&back), 500, "{back}");
        assert!(seen.lock().unwrap()[0].contains(KEY), "the provider has it");
        assert!(!back.contains(KEY) && !back.contains(second), "{back}");
        assert!(back.contains(&"*".repeat(9)), "{back}");
        let shown = format!("{:?} {endpoint:?}", endpoint.report());
        assert!(!shown.contains(KEY), "{shown}");
    }
}

/// What cannot be prevented: a provider that sends the credential in another form gives it away.
/// The crate's documentation says so; this test fails if that changes.
#[tokio::test]
async fn a_credential_in_another_form_is_not_found() {
    let turned: String = KEY.chars().rev().collect();
    let answer = format!(
        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{turned}",
        turned.len()
    );
    let Provider { address, tls, .. } = provider_with(answer).await;
    let endpoint = endpoint_for(address, "", tls);
    let served = serve(|listener| async move {
        endpoint
            .serve(&listener, std::future::pending())
            .await
            .unwrap();
    });
    let back = ask(&served.socket, "GET / HTTP/1.1\r\n\r\n").await;
    assert!(back.contains(&turned), "{back}");
}

#[tokio::test]
async fn failures_show_no_credential() {
    let Provider { address, tls, .. } = provider("no HTTP at all\r\n\r\n").await;
    let endpoint = endpoint_for(address, "", tls);
    let served = serve(|listener| async move {
        endpoint
            .serve(&listener, std::future::pending())
            .await
            .unwrap();
    });
    let back = ask(&served.socket, "GET / HTTP/1.1\r\n\r\n").await;
    assert_eq!(status(&back), 502, "{back}");
    assert!(!back.contains(KEY), "{back}");
}

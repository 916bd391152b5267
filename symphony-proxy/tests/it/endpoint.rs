//! The endpoint for a provider: what the provider sees, and how its answers come back.

use std::sync::Arc;
use std::time::{Duration, Instant};

use symphony_proxy::{BaseUrlFault, Credential, Endpoint, Limits, ProxyError, Secret, Tls};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use crate::support::{
    KEY, Provider, ask, endpoint_for, local_names, provider, read_head, read_request, serve, status,
};

fn serve_endpoint(endpoint: &Endpoint) -> crate::support::Served {
    let endpoint = endpoint.clone();
    serve(|listener| async move {
        endpoint
            .serve(&listener, std::future::pending())
            .await
            .unwrap();
    })
}

#[tokio::test]
async fn the_credential_replaces_what_the_agent_sent() {
    let answer =
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nSet-Cookie: a=b\r\nRequest-Id: 7\r\n\r\nok";
    let Provider { address, tls, seen } = provider(answer).await;
    let endpoint = endpoint_for(address, "/v1", tls);
    let served = serve_endpoint(&endpoint);
    let back = ask(
        &served.socket,
        "POST /messages?beta=true HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nX-Api-Key: dummy\r\n\
         Authorization: Bearer dummy\r\nCookie: a=b\r\nProxy-Authorization: x\r\nRange: bytes=1-2\r\n\
         Accept-Encoding: gzip, br\r\nConnection: keep-alive\r\nanthropic-version: 2023-06-01\r\n\
         Content-Length: 2\r\n\r\n{}",
    )
    .await;
    assert_eq!(status(&back), 200, "{back}");
    let lower = back.to_ascii_lowercase();
    assert!(
        lower.contains("request-id: 7") && !lower.contains("set-cookie"),
        "{back}"
    );
    let seen = seen.lock().unwrap()[0].to_ascii_lowercase();
    assert!(
        seen.starts_with("post /v1/messages?beta=true http/1.1\r\n"),
        "{seen}"
    );
    assert!(
        seen.contains(&format!("host: allowed.example:{}\r\n", address.port())),
        "{seen}"
    );
    assert!(seen.contains(&format!("x-api-key: {KEY}\r\n")), "{seen}");
    assert!(seen.contains("accept-encoding: identity\r\n"), "{seen}");
    assert!(
        seen.contains("anthropic-version: 2023-06-01\r\n") && seen.ends_with("{}"),
        "{seen}"
    );
    for gone in [
        "dummy",
        "authorization",
        "cookie",
        "range:",
        "gzip",
        "connection",
    ] {
        assert!(!seen.contains(gone), "{gone}: {seen}");
    }
    let report = endpoint.report();
    assert_eq!((report.tunnels, report.malformed), (1, 0));
}

#[tokio::test]
async fn requests_stay_below_the_base_url() {
    let Provider { address, tls, seen } = provider("HTTP/1.1 200 OK\r\n\r\n").await;
    let endpoint = endpoint_for(address, "/tenant", tls);
    let served = serve_endpoint(&endpoint);
    let table = [
        ("GET /../other HTTP/1.1", 400),
        ("GET /%2e%2e/other HTTP/1.1", 400),
        ("GET /a/%252e%252e/other HTTP/1.1", 400),
        ("GET http://evil.com/ HTTP/1.1", 400),
        ("CONNECT evil.com:443 HTTP/1.1", 405),
        ("TRACE / HTTP/1.1", 405),
        (
            "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 1",
            400,
        ),
        ("GET / HTTP/1.1\r\na: b\r\n c", 400),
    ];
    for (line, expected) in table {
        let answer = ask(&served.socket, &format!("{line}\r\n\r\n")).await;
        assert_eq!(status(&answer), expected, "{line}: {answer}");
    }
    assert_eq!(seen.lock().unwrap().len(), 0);
    assert_eq!(endpoint.report().malformed, 8);
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let answer = "HTTP/1.1 307 Temporary Redirect\r\nLocation: https://evil.com/\r\nContent-Length: 0\r\n\r\n";
    let Provider { address, tls, seen } = provider(answer).await;
    let served = serve_endpoint(&endpoint_for(address, "", tls));
    let back = ask(&served.socket, "GET /a HTTP/1.1\r\n\r\n").await;
    assert_eq!(status(&back), 307);
    assert_eq!(seen.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn events_come_one_by_one() {
    let local = crate::support::server(|mut stream| async move {
        read_request(&mut stream).await;
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
        stream.write_all(head.as_bytes()).await.unwrap();
        for number in 0..4 {
            let event = format!("data: {number}\n\n");
            let chunk = format!("{:x}\r\n{event}\r\n", event.len());
            stream.write_all(chunk.as_bytes()).await.unwrap();
            tokio::time::sleep(Duration::from_millis(150)).await;
        }
        stream.write_all(b"0\r\n\r\n").await.unwrap();
    })
    .await;
    let tls = Tls::with_roots([]).unwrap();
    let url = format!("http://{local}");
    let endpoint = Endpoint::new(&url, vec![], tls, None, Limits::default()).unwrap();
    let served = serve_endpoint(&endpoint);
    let mut stream = UnixStream::connect(&served.socket).await.unwrap();
    stream
        .write_all(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
        .await
        .unwrap();
    assert_eq!(status(&read_head(&mut stream).await), 200);
    let mut last = Instant::now();
    for number in 0..4 {
        let mut chunk = [0; 14];
        stream.read_exact(&mut chunk).await.unwrap();
        let text = String::from_utf8_lossy(&chunk);
        assert_eq!(text, format!("9\r\ndata: {number}\n\n\r\n"));
        if number > 0 {
            assert!(
                last.elapsed() > Duration::from_millis(50),
                "{number} came with the one before"
            );
        }
        last = Instant::now();
    }
}

#[tokio::test]
async fn a_server_that_is_not_the_provider_gets_no_credential() {
    let Provider { address, seen, .. } = provider("HTTP/1.1 200 OK\r\n\r\n").await;
    let (other, _) = crate::support::certificate();
    let endpoint = endpoint_for(address, "", Tls::with_roots([other]).unwrap());
    let served = serve_endpoint(&endpoint);
    let back = ask(&served.socket, "GET / HTTP/1.1\r\n\r\n").await;
    assert_eq!(status(&back), 502, "{back}");
    assert!(back.contains("TLS with allowed.example"), "{back}");
    assert_eq!(seen.lock().unwrap().len(), 0);
}

#[tokio::test]
async fn connections_are_used_again() {
    let connections = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    let local = crate::support::server(move |mut stream| {
        counted.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        async move {
            // two requests, and then the connection is closed while it waits
            for _ in 0..2 {
                read_request(&mut stream).await;
                let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
                stream.write_all(answer).await.unwrap();
            }
        }
    })
    .await;
    let tls = Tls::with_roots([]).unwrap();
    let url = format!("http://{local}");
    let endpoint = Endpoint::new(&url, vec![], tls, None, Limits::default()).unwrap();
    let served = serve_endpoint(&endpoint);
    for number in 0..6 {
        let back = ask(&served.socket, "GET / HTTP/1.1\r\n\r\n").await;
        assert!(back.ends_with("\r\n\r\nok"), "{number}: {back}");
        // lets the end of a connection arrive
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(connections.load(std::sync::atomic::Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_request_that_the_agent_gives_up_ends_at_the_provider() {
    let (ended, mut end) = tokio::sync::mpsc::unbounded_channel();
    let local = crate::support::server(move |mut stream| {
        let ended = ended.clone();
        async move {
            read_request(&mut stream).await;
            // waits for the end without answering
            let _end = stream.read(&mut [0; 8]).await;
            ended.send(()).unwrap();
        }
    })
    .await;
    let tls = Tls::with_roots([]).unwrap();
    let url = format!("http://{local}");
    let endpoint = Endpoint::new(&url, vec![], tls, None, Limits::default()).unwrap();
    let served = serve_endpoint(&endpoint);
    let mut stream = UnixStream::connect(&served.socket).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    drop(stream);
    tokio::time::timeout(crate::support::PATIENCE, end.recv())
        .await
        .unwrap()
        .unwrap();
}

#[test]
fn base_urls_and_headers_are_checked() {
    let tls = || Tls::with_roots([]).unwrap();
    let new = |url: &str| Endpoint::new(url, vec![], tls(), None, Limits::default());
    let error = new("http://api.anthropic.com").unwrap_err();
    assert!(matches!(
        error,
        ProxyError::BaseUrl {
            fault: BaseUrlFault::PlainText,
            ..
        }
    ));
    let error = new("https://user:hunter2@a.example").unwrap_err();
    assert!(
        !format!("{error} {error:?}").contains("hunter2"),
        "{error:?}"
    );
    for name in ["host", "Content-Length", "transfer-encoding", "a b", ""] {
        let error = Credential::new(name, Secret::new(KEY).unwrap()).unwrap_err();
        assert!(
            matches!(error, ProxyError::CredentialHeader { .. }),
            "{name}"
        );
    }
    let names = Arc::new(local_names());
    let secret = Secret::new(KEY).unwrap();
    let credentials = vec![Credential::new("x-api-key", secret).unwrap()];
    let endpoint = Endpoint::with_resolver(
        "https://a.example",
        credentials,
        tls(),
        names,
        Limits::default(),
    );
    let shown = format!("{endpoint:?}");
    assert!(
        shown.contains("x-api-key") && !shown.contains(KEY),
        "{shown}"
    );
}

#[test]
fn certificates_of_the_system_can_be_loaded_or_are_missed() {
    match Tls::system() {
        Ok(tls) => assert_eq!(format!("{tls:?}"), "Tls(..)"),
        Err(error) => assert!(matches!(error, ProxyError::NoRoots { .. }), "{error}"),
    }
    let error = Tls::with_roots([b"no certificate".to_vec()]).unwrap_err();
    assert!(matches!(error, ProxyError::Root { .. }), "{error}");
}

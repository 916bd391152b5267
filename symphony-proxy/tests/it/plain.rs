//! Requests over plain HTTP: what the server sees, and what comes back.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use crate::support::{answering, ask, local_proxy, read_head, read_request, server, status};

#[tokio::test]
async fn the_server_sees_the_checked_host_and_no_hop_by_hop_header() {
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: x-own\r\nX-Own: 1\r\n\
                  Keep-Alive: timeout=5\r\nProxy-Authenticate: Basic\r\nX-Kept: 2\r\n\r\nok";
    let (address, seen) = answering(answer).await;
    let (proxy, served) = local_proxy(&[address]);
    let port = address.port();
    let request = format!(
        "POST http://Allowed.example:{port}/a%20b?c=d HTTP/1.1\r\nHost: evil.com\r\n\
         Proxy-Authorization: Basic c2VjcmV0\r\nProxy-Connection: keep-alive\r\nTE: trailers\r\n\
         Connection: x-hop, keep-alive\r\nX-Hop: 1\r\nUpgrade: websocket\r\nX-Kept: 3\r\n\
         Expect: 100-continue\r\nContent-Length: 4\r\n\r\nbody"
    );
    let back = ask(&served.socket, &request).await;
    assert_eq!(
        status(&back.replace("HTTP/1.1 100 Continue\r\n\r\n", "")),
        200,
        "{back}"
    );
    let lower = back.to_ascii_lowercase();
    assert!(
        back.ends_with("\r\n\r\nok") && lower.contains("x-kept: 2"),
        "{back}"
    );
    for gone in ["x-own", "keep-alive:", "proxy-authenticate"] {
        assert!(!lower.contains(gone), "{gone}: {back}");
    }
    let seen = seen.lock().unwrap()[0].to_ascii_lowercase();
    assert!(seen.starts_with("post /a%20b?c=d http/1.1\r\n"), "{seen}");
    assert!(
        seen.contains(&format!("host: allowed.example:{port}\r\n")),
        "{seen}"
    );
    assert!(
        seen.contains("x-kept: 3") && seen.ends_with("\r\n\r\nbody"),
        "{seen}"
    );
    for gone in [
        "proxy-",
        "x-hop",
        "upgrade",
        "te:",
        "expect",
        "evil",
        "connection",
    ] {
        assert!(!seen.contains(gone), "{gone}: {seen}");
    }
    assert_eq!(proxy.report().tunnels, 1);
}

#[tokio::test]
async fn only_http_to_allowed_hosts_is_passed_on() {
    let (address, seen) = answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    let (_proxy, served) = local_proxy(&[address]);
    let table = [
        ("GET http://evil.com/ HTTP/1.1".to_owned(), 403),
        ("GET http://127.0.0.1:1/ HTTP/1.1".to_owned(), 403),
        (
            format!(
                "GET http://allowed.example:{}@evil.com/ HTTP/1.1",
                address.port()
            ),
            400,
        ),
        (format!("GET http://evil.com\\@{address}/ HTTP/1.1"), 400),
        (format!("GET https://{address}/ HTTP/1.1"), 400),
        (format!("GET ftp://{address}/ HTTP/1.1"), 400),
        ("GET / HTTP/1.1".to_owned(), 400),
        ("OPTIONS * HTTP/1.1".to_owned(), 400),
        (format!("TRACE http://{address}/ HTTP/1.1"), 405),
        ("PRI * HTTP/2.0".to_owned(), 400),
    ];
    for (line, expected) in table {
        let answer = ask(
            &served.socket,
            &format!("{line}\r\nHost: {address}\r\n\r\n"),
        )
        .await;
        assert_eq!(status(&answer), expected, "{line}: {answer}");
    }
    assert_eq!(seen.lock().unwrap().len(), 0);
    let answer = ask(
        &served.socket,
        &format!("GET HTTP://{address}?q HTTP/1.0\r\n\r\n"),
    )
    .await;
    assert_eq!(status(&answer), 200, "{answer}");
    assert!(seen.lock().unwrap()[0].starts_with("GET /?q HTTP/1.1\r\n"));
}

#[tokio::test]
async fn bodies_stream_both_ways() {
    let server = server(|mut stream| async move {
        let request = read_request(&mut stream).await;
        assert!(request.contains("\r\n0\r\n\r\n"), "{request}");
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(b"5\r\nfirst\r\n").await.unwrap();
        tokio::time::sleep(Duration::from_millis(300)).await;
        stream.write_all(b"4\r\nlast\r\n0\r\n\r\n").await.unwrap();
    })
    .await;
    let (_proxy, served) = local_proxy(&[server]);
    let mut stream = UnixStream::connect(&served.socket).await.unwrap();
    let head = format!("PUT http://{server}/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    for chunk in ["2\r\nab\r\n", "1\r\nc\r\n", "0\r\n\r\n"] {
        stream.write_all(chunk.as_bytes()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(status(&read_head(&mut stream).await), 200);
    let mut first = [0; 10];
    stream.read_exact(&mut first).await.unwrap();
    let begin = std::time::Instant::now();
    assert_eq!(&first, b"5\r\nfirst\r\n");
    let mut rest = String::new();
    stream.read_to_string(&mut rest).await.unwrap();
    assert_eq!(rest, "4\r\nlast\r\n0\r\n\r\n");
    assert!(
        begin.elapsed() >= Duration::from_millis(200),
        "the first chunk did not wait"
    );
}

#[tokio::test]
async fn a_switch_of_protocols_that_no_one_asked_for_is_not_passed_on() {
    let (address, _) = answering("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n").await;
    let (_proxy, served) = local_proxy(&[address]);
    let answer = ask(
        &served.socket,
        &format!("GET http://{address}/ HTTP/1.1\r\n\r\n"),
    )
    .await;
    assert_eq!(status(&answer), 502, "{answer}");
}

#[tokio::test]
async fn answers_without_a_body_keep_their_length() {
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n";
    let (address, _) = answering(answer).await;
    let (_proxy, served) = local_proxy(&[address]);
    let back = ask(
        &served.socket,
        &format!("HEAD http://{address}/ HTTP/1.1\r\n\r\n"),
    )
    .await;
    assert_eq!(status(&back), 200, "{back}");
    assert!(
        back.to_ascii_lowercase()
            .contains("content-length: 1234\r\n"),
        "{back}"
    );
}

#[tokio::test]
async fn an_answer_that_ends_with_its_connection_is_whole() {
    let (address, _) = answering("HTTP/1.0 200 OK\r\n\r\nuntil the end").await;
    let (_proxy, served) = local_proxy(&[address]);
    let request = format!("GET http://{address}/ HTTP/1.1\r\n\r\n");
    let back = ask(&served.socket, &request).await;
    assert!(
        back.starts_with("HTTP/1.1 200") && back.contains("until the end"),
        "{back}"
    );
}

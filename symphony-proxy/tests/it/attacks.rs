//! What an agent that wants out may try.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use symphony_proxy::{Allowed, Limits, Proxy, REFUSED_MAX};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UnixStream};

use crate::support::{
    Names, PATIENCE, answering, ask, connect, echo, local_proxy, local_proxy_with, serve_proxy,
    server, status,
};

fn proxy_for(entries: &[&str], names: Arc<Names>) -> Proxy {
    let allowed = Allowed::parse(entries.iter().copied()).unwrap();
    Proxy::with_resolver(allowed, None, Limits::default(), names)
}

#[tokio::test]
async fn other_spellings_of_closed_hosts_do_not_help() {
    let names = Arc::new(Names::default());
    let proxy = proxy_for(&["allowed.example", "1.1.1.1:443"], Arc::clone(&names));
    let served = serve_proxy(&proxy);
    let table = [
        ("169.254.169.254:80", 403),
        ("localhost:443", 403),
        ("127.0.0.1:443", 403),
        ("[::1]:443", 403),
        ("[::ffff:127.0.0.1]:443", 403),
        ("[::ffff:1.1.1.1]:443", 403),
        ("[64:ff9b::7f00:1]:443", 403),
        ("[fd00:ec2::254]:80", 403),
        ("0.0.0.0:443", 403),
        ("8.8.8.8:443", 403),
        ("allowed.example.evil.com:443", 403),
        ("evil.com.allowed.example:443", 403),
        ("xallowed.example:443", 403),
        ("allowed.example:22", 403),
        ("allowed.example:8443", 403),
        ("allowed.example@evil.com:443", 400),
        ("evil.com#allowed.example:443", 400),
        ("allowed.example:443@evil.com", 400),
        ("allowed.example:443:80", 400),
        ("allowed.example", 400),
        ("allowed.example:0", 400),
        ("allowed.example:65979", 400),
        ("allowed.example%00.evil.com:443", 400),
        ("http://allowed.example:443", 400),
        ("/:443", 400),
        ("0x7f.1:443", 400),
        ("2130706433:443", 400),
        ("127.1:443", 400),
        ("0177.0.0.1:443", 400),
        ("127.0.0.1.:443", 400),
        ("[::1%lo]:443", 400),
        ("::1:443", 400),
        (":443", 400),
    ];
    for (target, expected) in table {
        let answer = ask(
            &served.socket,
            &format!("CONNECT {target} HTTP/1.1\r\n\r\n"),
        )
        .await;
        assert_eq!(status(&answer), expected, "{target}: {answer}");
        assert!(answer.contains("symphony: "), "{target}: {answer}");
    }
    assert_eq!(
        names.asked.load(Ordering::SeqCst),
        0,
        "no name was asked for"
    );
    let refused = proxy.report().refused;
    assert!(
        refused
            .iter()
            .any(|it| it.host == "169.254.169.254" && it.port == 80)
    );
    assert_eq!(proxy.report().tunnels, 0);
}

#[tokio::test]
async fn a_refusal_says_what_to_configure() {
    let proxy = proxy_for(&["allowed.example"], Arc::default());
    let served = serve_proxy(&proxy);
    let answer = ask(&served.socket, "CONNECT evil.com:443 HTTP/1.1\r\n\r\n").await;
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    assert_eq!(
        body,
        "symphony: the connection to evil.com:443 was refused: the host is not on the list of \
         allowed hosts.\nA person can allow it: add `evil.com` to the key `sandbox.hosts` of the \
         configuration.\n"
    );
}

#[tokio::test]
async fn an_answer_of_the_dns_that_changes_does_not_matter() {
    let inside = echo().await;
    // whatever is asked later, the check and the connection use one answer
    let answers: &[&[&str]] = &[&["127.0.0.1"], &["10.255.255.1"], &["127.0.0.1"]];
    let names = Arc::new(Names::default().with("rebind.example", answers));
    let entry = format!("rebind.example:{}", inside.port());
    let proxy = proxy_for(&[&entry], Arc::clone(&names));
    let served = serve_proxy(&proxy);
    for turn in 1..=3 {
        let (_stream, head) = connect(&served.socket, &entry).await;
        assert_eq!(status(&head), 403, "{head}");
        assert_eq!(
            names.asked.load(Ordering::SeqCst),
            turn,
            "one question for each connection"
        );
    }
    assert_eq!(proxy.report().refused[0].count, 3);
}

#[tokio::test]
async fn the_address_that_was_checked_is_the_one_that_is_connected_to() {
    let open = server(|mut stream| async move {
        let _sent = stream.write_all(b"open").await;
    })
    .await;
    let inside = TcpListener::bind(("127.0.0.2", open.port())).await.unwrap();
    let names = Arc::new(Names::default().with("a.example", &[&["127.0.0.1"], &["127.0.0.2"]]));
    let entry = format!("a.example:{}", open.port());
    let proxy = proxy_for(&[&entry, &open.to_string()], Arc::clone(&names));
    let served = serve_proxy(&proxy);
    let (mut stream, head) = connect(&served.socket, &entry).await;
    assert_eq!(status(&head), 200, "{head}");
    let mut text = String::new();
    let read = tokio::time::timeout(PATIENCE, stream.read_to_string(&mut text)).await;
    read.expect("the open server ends").unwrap();
    assert_eq!(
        (text.as_str(), names.asked.load(Ordering::SeqCst)),
        ("open", 1)
    );
    let (_stream, head) = connect(&served.socket, &entry).await;
    assert_eq!(status(&head), 403, "the name has moved: {head}");
    let reached = tokio::time::timeout(Duration::from_millis(100), inside.accept()).await;
    assert!(reached.is_err(), "nothing came to the closed address");
}

#[tokio::test]
async fn smuggled_requests_reach_no_server() {
    let (address, seen) = answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    let (proxy, served) = local_proxy(&[address]);
    let line = format!("POST http://{address}/ HTTP/1.1\r\nHost: {address}\r\n");
    let second = "GET http://evil.com/ HTTP/1.1\r\n\r\n";
    let long = format!("a: {}\r\n", "b".repeat(20_000));
    let heads = [
        "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Content-Length: 4\r\nContent-Length: 0\r\n\r\nabcd",
        "Content-Length: 4\r\nContent-Length: 4\r\n\r\nabcd",
        "Content-Length: 0x4\r\n\r\nabcd",
        "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: identity\r\n\r\n",
        "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        "a: b\r\n c\r\n\r\n",
        "a: b\nc: d\r\n\r\n",
        "a: b\rc: d\r\n\r\n",
        "a: b\0\r\n\r\n",
        "Host: evil.com\r\n\r\n",
        &long,
    ];
    for head in heads {
        let answer = ask(&served.socket, &format!("{line}{head}")).await;
        assert_eq!(status(&answer), 400, "{head:?}: {answer}");
    }
    let answer = ask(&served.socket, &format!("{line}\r\n{second}")).await;
    assert_eq!(status(&answer), 400, "pipelined: {answer}");
    assert_eq!(*seen.lock().unwrap(), Vec::<String>::new());
    assert_eq!(proxy.report().malformed, 14);
    // after a body, a second request is dropped with the connection
    let answer = ask(
        &served.socket,
        &format!("{line}Content-Length: 2\r\n\r\nab{second}"),
    )
    .await;
    assert_eq!(status(&answer), 200);
    assert_eq!(answer.matches("HTTP/1.1").count(), 1, "{answer}");
    assert!(seen.lock().unwrap()[0].ends_with("\r\n\r\nab"));
    // a chunk that is not one ends the connection
    let broken = format!("{line}Transfer-Encoding: chunked\r\n\r\nzz\r\n");
    assert_ne!(status(&ask(&served.socket, &broken).await), 200);
}

#[tokio::test]
async fn a_line_that_is_injected_into_the_target_opens_nothing_else() {
    let server = echo().await;
    let (_proxy, served) = local_proxy(&[server]);
    let target = format!("{server} HTTP/1.1\r\nHost: x");
    let request = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n");
    assert_eq!(status(&ask(&served.socket, &request).await), 400);
}

#[tokio::test]
async fn a_slow_head_is_given_up() {
    let limits = Limits {
        head: Duration::from_millis(400),
        ..Limits::default()
    };
    let (proxy, served) = local_proxy_with(&[], None, limits);
    let begin = Instant::now();
    let mut stream = UnixStream::connect(&served.socket).await.unwrap();
    let mut answer = Vec::new();
    for byte in b"CONNECT allowed.example:443 HTTP/1.1\r\nHost: allowed.example\r\n"
        .iter()
        .cycle()
    {
        let mut buffer = [0; 256];
        tokio::select! {
            count = stream.read(&mut buffer) => {
                answer.extend(&buffer[..count.unwrap()]);
                break;
            }
            () = tokio::time::sleep(Duration::from_millis(20)) => {
                stream.write_all(&[*byte]).await.unwrap();
            }
        }
    }
    assert_eq!(status(&String::from_utf8(answer).unwrap()), 408);
    assert!((Duration::from_millis(400)..PATIENCE).contains(&begin.elapsed()));
    assert_eq!(proxy.report().malformed, 1);
}

#[tokio::test]
async fn more_connections_than_the_limit_are_turned_away() {
    let server = echo().await;
    let (proxy, served) = local_proxy(&[server]);
    let mut open = Vec::new();
    for _ in 0..300 {
        let socket = served.socket.clone();
        open.push(tokio::spawn(async move {
            connect(&socket, &server.to_string()).await
        }));
    }
    let mut held = Vec::new();
    let mut statuses = [0, 0];
    for connection in open {
        let (stream, head) = connection.await.unwrap();
        match status(&head) {
            200 => statuses[0] += 1,
            503 | 0 => statuses[1] += 1,
            other => panic!("{other}: {head}"),
        }
        held.push(stream);
    }
    assert_eq!(statuses, [256, 44]);
    assert_eq!(proxy.report().turned_away, 44);
    drop(held);
    // places are free again
    let deadline = Instant::now() + PATIENCE;
    while status(&connect(&served.socket, &server.to_string()).await.1) != 200 {
        assert!(Instant::now() < deadline);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn invented_names_do_not_fill_the_report() {
    let proxy = proxy_for(&[], Arc::default());
    let served = serve_proxy(&proxy);
    for number in 0..REFUSED_MAX + 20 {
        let request = format!("CONNECT secret-{number}.evil.com:443 HTTP/1.1\r\n\r\n");
        assert_eq!(status(&ask(&served.socket, &request).await), 403);
    }
    let report = proxy.report();
    assert_eq!(
        (report.refused.len(), report.refused_others),
        (REFUSED_MAX, 20)
    );
}

#[tokio::test]
async fn a_head_of_an_answer_that_never_ends_is_given_up() {
    let server = server(|mut stream| async move {
        let _sent = stream.write_all(b"HTTP/1.1 200 OK\r\n").await;
        while stream
            .write_all(b"x: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")
            .await
            .is_ok()
        {}
    })
    .await;
    let (_proxy, served) = local_proxy(&[server]);
    let answer = ask(
        &served.socket,
        &format!("GET http://{server}/ HTTP/1.1\r\n\r\n"),
    )
    .await;
    assert_eq!(status(&answer), 502, "{answer}");
}

#[tokio::test]
async fn a_head_of_an_answer_that_comes_too_slowly_is_given_up() {
    let server = server(|mut stream| async move {
        while stream.write_all(b"H").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
    let limits = Limits {
        idle: Duration::from_millis(300),
        ..Limits::default()
    };
    let (_proxy, served) = local_proxy_with(&[server], None, limits);
    let answer = ask(
        &served.socket,
        &format!("GET http://{server}/ HTTP/1.1\r\n\r\n"),
    )
    .await;
    assert!(matches!(status(&answer), 0 | 502), "{answer}");
}

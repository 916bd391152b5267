//! Behind the user's own proxy.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use symphony_proxy::{Allowed, Credential, Endpoint, Limits, Proxy, Secret, Tls, Upstream};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::TcpStream;

use crate::support::{
    KEY, Names, Provider, Seen, ask, connect, echo, provider, read_head, serve, serve_proxy,
    server, status,
};

/// Runs a proxy as companies have them: it leads every tunnel to `server`.
async fn company(server_address: std::net::SocketAddr) -> (Upstream, Seen) {
    let seen = Seen::default();
    let kept = Arc::clone(&seen);
    let address = server(move |mut stream| {
        let seen = Arc::clone(&kept);
        async move {
            let head = read_head(&mut stream).await;
            seen.lock().unwrap().push(head.clone());
            if !head.starts_with("CONNECT") {
                let text = "HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\ndTpwYXNzd29yZA=";
                stream.write_all(text.as_bytes()).await.unwrap();
                return;
            }
            stream
                .write_all(b"HTTP/1.1 200 OK\r\nX-Proxy: 1\r\n\r\n")
                .await
                .unwrap();
            let mut server = TcpStream::connect(server_address).await.unwrap();
            let _copied = copy_bidirectional(&mut stream, &mut server).await;
        }
    })
    .await;
    let upstream = Upstream::parse(&format!("http://u:password@{address}"), "direct.example");
    (upstream.unwrap(), seen)
}

fn behind(upstream: Upstream, names: &Arc<Names>, entries: &[&str]) -> Proxy {
    let allowed = Allowed::parse(entries.iter().copied()).unwrap();
    let names = Arc::clone(names);
    Proxy::with_resolver(allowed, Some(upstream), Limits::default(), names)
}

#[tokio::test]
async fn names_are_checked_here_and_resolved_there() {
    let (upstream, seen) = company(echo().await).await;
    let names = Arc::new(Names::default());
    let proxy = behind(upstream, &names, &["allowed.example"]);
    let served = serve_proxy(&proxy);
    let (mut stream, head) = connect(&served.socket, "allowed.example:443").await;
    assert_eq!(status(&head), 200, "{head}");
    stream.write_all(b"ping").await.unwrap();
    let mut back = [0; 4];
    stream.read_exact(&mut back).await.unwrap();
    assert_eq!(&back, b"ping");
    for target in [
        "evil.com:443",
        "169.254.169.254:80",
        "8.8.8.8:443",
        "allowed.example:22",
    ] {
        let (_stream, head) = connect(&served.socket, target).await;
        assert_eq!(status(&head), 403, "{target}: {head}");
    }
    assert_eq!(names.asked.load(Ordering::SeqCst), 0);
    let seen = seen.lock().unwrap();
    assert_eq!(
        *seen,
        [
            "CONNECT allowed.example:443 HTTP/1.1\r\nHost: allowed.example:443\r\n\
          Proxy-Authorization: Basic dTpwYXNzd29yZA==\r\n\r\n"
        ]
    );
    assert!(
        !head.to_ascii_lowercase().contains("x-proxy"),
        "its head is its own"
    );
}

#[tokio::test]
async fn plain_requests_go_there_whole_and_show_no_password() {
    let (upstream, seen) = company(echo().await).await;
    let proxy = behind(upstream, &Arc::default(), &["allowed.example"]);
    let served = serve_proxy(&proxy);
    let back = ask(
        &served.socket,
        "GET http://allowed.example/a?b HTTP/1.1\r\n\r\n",
    )
    .await;
    assert_eq!(status(&back), 200, "{back}");
    let seen = seen.lock().unwrap()[0].to_ascii_lowercase();
    assert!(
        seen.starts_with("get http://allowed.example/a?b http/1.1\r\n"),
        "{seen}"
    );
    assert!(
        seen.contains("proxy-authorization: basic ") && seen.contains("host: allowed.example\r\n")
    );
}

#[tokio::test]
async fn exceptions_are_checked_and_connected_to_directly() {
    let (upstream, seen) = company(echo().await).await;
    let names = Arc::new(Names::default().with("direct.example", &[&["127.0.0.1"]]));
    let proxy = behind(upstream, &names, &["direct.example"]);
    let served = serve_proxy(&proxy);
    let (_stream, head) = connect(&served.socket, "direct.example:443").await;
    assert_eq!(status(&head), 403, "{head}");
    assert!(seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_proxy_that_refuses_is_named() {
    let address = server(|mut stream| async move {
        read_head(&mut stream).await;
        let text = "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n";
        stream.write_all(text.as_bytes()).await.unwrap();
    })
    .await;
    let upstream = Upstream::parse(&address.to_string(), "").unwrap();
    let proxy = behind(upstream, &Arc::default(), &["allowed.example"]);
    let served = serve_proxy(&proxy);
    for request in [
        "CONNECT allowed.example:443 HTTP/1.1\r\n\r\n",
        "GET http://allowed.example/ HTTP/1.1\r\n\r\n",
    ] {
        let back = ask(&served.socket, request).await;
        assert_eq!(status(&back), 502, "{back}");
        assert!(
            back.contains("407") && !back.contains("Proxy-Authenticate"),
            "{back}"
        );
    }
}

#[tokio::test]
async fn providers_are_reached_through_it() {
    let Provider { address, tls, seen } =
        provider("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    let (upstream, asked) = company(address).await;
    let credential = Credential::new(
        "authorization",
        Secret::new(&format!("Bearer {KEY}")).unwrap(),
    );
    let endpoint = Endpoint::new(
        "https://allowed.example/v1",
        vec![credential.unwrap()],
        tls,
        Some(upstream),
        Limits::default(),
    )
    .unwrap();
    let served = serve(|listener| async move {
        endpoint
            .serve(&listener, std::future::pending())
            .await
            .unwrap();
    });
    let back = ask(&served.socket, "GET /models HTTP/1.1\r\n\r\n").await;
    assert_eq!(status(&back), 200, "{back}");
    assert!(asked.lock().unwrap()[0].starts_with("CONNECT allowed.example:443 "));
    assert!(seen.lock().unwrap()[0].contains(&format!("authorization: Bearer {KEY}\r\n")));
}

#[tokio::test]
async fn providers_need_their_own_certificate_there_too() {
    let Provider { address, seen, .. } = provider("HTTP/1.1 200 OK\r\n\r\n").await;
    let (upstream, _) = company(address).await;
    let tls = Tls::with_roots([]).unwrap();
    let url = "https://allowed.example";
    let endpoint = Endpoint::new(url, vec![], tls, Some(upstream), Limits::default()).unwrap();
    let served = serve(|listener| async move {
        endpoint
            .serve(&listener, std::future::pending())
            .await
            .unwrap();
    });
    assert_eq!(
        status(&ask(&served.socket, "GET / HTTP/1.1\r\n\r\n").await),
        502
    );
    assert!(seen.lock().unwrap().is_empty());
}

//! `CONNECT`: what gets through, in which order, and how it ends.

use std::sync::Arc;
use std::time::Duration;

use symphony_proxy::{Allowed, Limits, Proxy};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use crate::support::{
    Names, allow, connect, echo, local_proxy, local_proxy_with, read_head, serve_proxy, server,
    status,
};

#[tokio::test]
async fn a_tunnel_carries_both_ways_and_is_counted() {
    let server = echo().await;
    let (proxy, served) = local_proxy(&[server]);
    let target = format!("Allowed.Example.:{}", server.port());
    let (mut stream, head) = connect(&served.socket, &target).await;
    assert_eq!(status(&head), 200, "{head}");
    stream.write_all(b"ping").await.unwrap();
    stream.shutdown().await.unwrap();
    let mut back = String::new();
    stream.read_to_string(&mut back).await.unwrap();
    assert_eq!(back, "ping");
    let report = proxy.report();
    assert_eq!((report.tunnels, report.refused.len()), (1, 0));
    assert_eq!(report.bytes_in, head.len() as u64 + 4);
    assert_eq!(report.bytes_out, 2 * target.len() as u64 + 29 + 4);
}

#[tokio::test]
async fn what_comes_with_the_head_belongs_to_the_tunnel() {
    let server = echo().await;
    let (_proxy, served) = local_proxy(&[server]);
    let mut stream = UnixStream::connect(&served.socket).await.unwrap();
    let request = format!("CONNECT {server} HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    assert_eq!(status(&read_head(&mut stream).await), 200);
    assert_eq!(read_head(&mut stream).await, "GET / HTTP/1.1\r\n\r\n");
}

#[tokio::test]
async fn each_side_can_end_first() {
    // sends its part and ends, and then still reads
    let (sent, mut received) = tokio::sync::mpsc::unbounded_channel();
    let server = server(move |mut stream| {
        let sent = sent.clone();
        async move {
            stream.write_all(b"all there is").await.unwrap();
            stream.shutdown().await.unwrap();
            let mut rest = String::new();
            stream.read_to_string(&mut rest).await.unwrap();
            sent.send(rest).unwrap();
        }
    })
    .await;
    let (_proxy, served) = local_proxy(&[server]);
    let (mut stream, _) = connect(&served.socket, &server.to_string()).await;
    let mut back = String::new();
    stream.read_to_string(&mut back).await.unwrap();
    assert_eq!(back, "all there is");
    stream.write_all(b"after the end").await.unwrap();
    stream.shutdown().await.unwrap();
    assert_eq!(received.recv().await.unwrap(), "after the end");
}

#[tokio::test]
async fn a_silent_tunnel_is_closed() {
    let server = echo().await;
    let limits = Limits {
        idle: Duration::from_millis(300),
        ..Limits::default()
    };
    let (_proxy, served) = local_proxy_with(&[server], None, limits);
    let (mut stream, _) = connect(&served.socket, &server.to_string()).await;
    let begin = std::time::Instant::now();
    // bytes keep it open for longer than the limit
    for _ in 0..4 {
        tokio::time::sleep(Duration::from_millis(150)).await;
        stream.write_all(b"x").await.unwrap();
        assert_eq!(stream.read_u8().await.unwrap(), b'x');
    }
    assert_eq!(stream.read(&mut [0; 8]).await.unwrap_or(0), 0);
    assert!(begin.elapsed() >= Duration::from_millis(850));
}

#[tokio::test]
async fn only_checked_addresses_are_tried() {
    let server = echo().await;
    // a closed port, an address that is not allowed, and one that is
    let names = Names::default().with("a.example", &[&["127.0.0.9", "10.0.0.1", "127.0.0.1"]]);
    let entries = [format!("a.example:{}", server.port()), server.to_string()];
    let allowed = Allowed::parse(entries.iter().map(String::as_str)).unwrap();
    let proxy = Proxy::with_resolver(allowed, None, Limits::default(), Arc::new(names));
    let served = serve_proxy(&proxy);
    let (_stream, head) = connect(&served.socket, &format!("a.example:{}", server.port())).await;
    assert_eq!(status(&head), 200, "{head}");
}

#[tokio::test]
async fn failures_of_the_network_are_not_refusals() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let allowed = allow(&[closed]);
    let lost = Allowed::parse(["lost.example"]).unwrap();
    for (allowed, target) in [
        (allowed, closed.to_string()),
        (lost, "lost.example:443".to_owned()),
    ] {
        let names = Arc::new(Names::default());
        let proxy = Proxy::with_resolver(allowed, None, Limits::default(), names);
        let served = serve_proxy(&proxy);
        let (_stream, head) = connect(&served.socket, &target).await;
        assert_eq!(status(&head), 502, "{head}");
        assert_eq!(proxy.report().refused, []);
    }
}

#[tokio::test]
async fn open_tunnels_end_with_the_run() {
    let server = echo().await;
    let proxy = Proxy::new(allow(&[server]), None, Limits::default());
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let own = proxy.clone();
    let served = crate::support::serve(|listener| async move {
        let stop = async { ended.await.unwrap() };
        own.serve(&listener, stop).await.unwrap();
    });
    let (mut stream, _) = connect(&served.socket, &server.to_string()).await;
    end.send(()).unwrap();
    assert_eq!(stream.read(&mut [0; 8]).await.unwrap_or(0), 0);
}

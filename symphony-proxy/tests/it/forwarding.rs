//! The half inside the sandbox, and the whole way through both.

use std::net::SocketAddr;
use std::sync::mpsc;

use symphony_proxy::{Forward, Forwarder, ProxyError, forward};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{echo, local_proxy, read_head, status};

fn any_port() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

#[tokio::test]
async fn an_agent_reaches_an_allowed_host_through_both_halves() {
    let server = echo().await;
    let (_proxy, served) = local_proxy(&[server]);
    let forwards = [Forward {
        listen: any_port(),
        socket: served.socket.clone(),
    }];
    let (ready, address) = tokio::sync::oneshot::channel();
    // ends with the process, as it does in a sandbox
    std::thread::spawn(move || {
        let ended = forward(&forwards, |addresses| ready.send(addresses[0]).unwrap());
        ended.unwrap_err()
    });
    let address = address.await.unwrap();
    for _ in 0..3 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!("CONNECT {server} HTTP/1.1\r\n\r\nping");
        stream.write_all(request.as_bytes()).await.unwrap();
        assert_eq!(status(&read_head(&mut stream).await), 200);
        stream.shutdown().await.unwrap();
        let mut back = String::new();
        stream.read_to_string(&mut back).await.unwrap();
        assert_eq!(back, "ping");
        let mut refused = TcpStream::connect(address).await.unwrap();
        refused
            .write_all(b"CONNECT evil.com:443 HTTP/1.1\r\n\r\n")
            .await
            .unwrap();
        assert_eq!(status(&read_head(&mut refused).await), 403);
    }
}

#[test]
fn a_port_that_is_taken_is_reported_before_anything_is_ready() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let (ready, is_ready) = mpsc::channel();
    let socket = "/nowhere".into();
    let error = forward(
        &[Forward {
            listen: address,
            socket,
        }],
        |_| ready.send(()).unwrap(),
    );
    assert!(matches!(error, Err(ProxyError::Listen { address: at, .. }) if at == address));
    assert!(is_ready.try_recv().is_err());
}

#[tokio::test]
async fn without_a_proxy_connections_are_closed() {
    let socket = "/nowhere/socket".into();
    let forwarder = Forwarder::bind(&Forward {
        listen: any_port(),
        socket,
    })
    .await
    .unwrap();
    let address = forwarder.address();
    let task = tokio::spawn(forwarder.run());
    for _ in 0..3 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        assert_eq!(stream.read(&mut [0; 8]).await.unwrap_or(0), 0);
    }
    task.abort();
}

//! A large transfer: bounded memory, and how it compares with a direct connection.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use symphony_proxy::{Forward, Forwarder};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{connect, local_proxy, read_head, server, status};

/// Bytes of the transfer.
const TOTAL: usize = 100 * 1024 * 1024;
/// Most memory that the process may need more for it, in KiB: buffers of sockets and tunnels.
const MEMORY_KIB_MAX: u64 = 16 * 1024;

/// A server that sends [`TOTAL`] bytes to whoever sends a byte.
async fn source() -> SocketAddr {
    server(|mut stream| async move {
        let chunk = vec![7; 64 * 1024];
        let _begin = stream.read_u8().await;
        for _ in 0..TOTAL / chunk.len() {
            if stream.write_all(&chunk).await.is_err() {
                return;
            }
        }
    })
    .await
}

async fn drain(stream: &mut (impl AsyncRead + Unpin)) -> Duration {
    let begin = Instant::now();
    let mut buffer = vec![0; 64 * 1024];
    let mut total = 0;
    loop {
        match stream.read(&mut buffer).await.unwrap() {
            0 => break,
            count => total += count,
        }
    }
    assert_eq!(total, TOTAL);
    begin.elapsed()
}

/// The most memory that the process ever had, in KiB.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_transfer_is_carried_with_bounded_memory() {
    let server = source().await;
    let (proxy, served) = local_proxy(&[server]);
    let mut direct = TcpStream::connect(server).await.unwrap();
    direct.write_all(b"x").await.unwrap();
    let direct = drain(&mut direct).await;
    let before = peak_memory();

    let (mut stream, head) = connect(&served.socket, &server.to_string()).await;
    assert_eq!(status(&head), 200);
    stream.write_all(b"x").await.unwrap();
    let tunnel = drain(&mut stream).await;

    let listen = "127.0.0.1:0".parse().unwrap();
    let socket = served.socket.clone();
    let forwarder = Forwarder::bind(&Forward { listen, socket }).await.unwrap();
    let address = forwarder.address();
    tokio::spawn(forwarder.run());
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("CONNECT {server} HTTP/1.1\r\n\r\nx");
    stream.write_all(request.as_bytes()).await.unwrap();
    assert_eq!(status(&read_head(&mut stream).await), 200);
    let both = drain(&mut stream).await;

    let more = peak_memory().saturating_sub(before);
    assert!(more < MEMORY_KIB_MAX, "{more} KiB");
    assert!(proxy.report().bytes_in >= 2 * TOTAL as u64);
    let ratio = |time: Duration| time.as_secs_f64() / direct.as_secs_f64();
    println!(
        "direct {direct:?}, tunnel {tunnel:?} ({:.2} times), with the forwarder {both:?} ({:.2} times), {more} KiB",
        ratio(tunnel),
        ratio(both)
    );
}

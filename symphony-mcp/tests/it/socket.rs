//! The run's socket: where it lies, who gets in, and the pipe that leads to it.

use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rmcp::ServiceExt;
use serde_json::json;
use symphony_core::tools::Role;
use symphony_mcp::{McpError, RunSocket, pipe};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{Client, Desk, call, done, identity};

/// How long the service may take to see the end of a session: longer than on the slowest machine.
const DEADLINE: Duration = Duration::from_mins(5);
/// Time between two looks.
const LOOK: Duration = Duration::from_millis(5);

/// A folder whose path alone is longer than a socket's address may be.
fn deep(root: &Path) -> PathBuf {
    let path = root
        .join("a".repeat(100))
        .join("b".repeat(100))
        .join("mcp.sock");
    assert!(path.as_os_str().len() > 108);
    path
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Listens at a path of any length.
fn listen(path: &Path) -> UnixListener {
    let folder = std::fs::File::open(path.parent().unwrap()).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    UnixListener::bind(format!("/proc/self/fd/{}/{name}", folder.as_raw_fd())).unwrap()
}

/// A client behind [`pipe`], as an agent's CLI starts it: two anonymous pipes and a thread.
async fn piped(path: &Path) -> Result<Client, String> {
    let (input, to_pipe) = std::io::pipe().unwrap();
    let (from_pipe, mut output) = std::io::pipe().unwrap();
    let path = path.to_owned();
    std::thread::spawn(move || pipe(&path, input, &mut output));
    let read = tokio::net::unix::pipe::Receiver::from_owned_fd(from_pipe.into()).unwrap();
    let write = tokio::net::unix::pipe::Sender::from_owned_fd(to_pipe.into()).unwrap();
    ().serve((read, write))
        .await
        .map_err(|error| error.to_string())
}

#[tokio::test]
async fn a_socket_in_a_deep_folder_is_bound_reached_and_removed() {
    let mut desk = Desk::new();
    let (_, run) = desk.worker();
    let path = deep(desk.folder.path());
    let socket = RunSocket::bind(&path, false).unwrap();
    assert_eq!((mode(path.parent().unwrap()), mode(&path)), (0o700, 0o600));
    let server = tokio::spawn(socket.serve(desk.service(identity(&run, Role::Worker))));
    let client = piped(&path).await.unwrap();
    let issue = done(&client, "get_issue", json!({})).await;
    assert_eq!(issue["issue"]["identifier"], "DEM-1");
    // several sessions, as a CLI that looks at its servers before it starts the agent
    let second = piped(&path).await.unwrap();
    done(
        &second,
        "add_comment",
        json!({ "content": "x".repeat(60_000) }),
    )
    .await;
    server.abort();
    assert!(server.await.unwrap_err().is_cancelled());
    assert!(!path.exists());
}

#[tokio::test]
async fn an_open_folder_is_closed_and_a_stale_socket_replaced() {
    let desk = Desk::new();
    let folder = desk.folder.path().join("run");
    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o755)).unwrap();
    let path = folder.join("mcp.sock");
    std::fs::write(&path, "left by a crash").unwrap();
    let socket = RunSocket::bind(&path, false).unwrap();
    assert_eq!((mode(&folder), mode(&path)), (0o700, 0o600));
    drop(socket);
    assert!(!path.exists());
}

#[tokio::test]
async fn a_judges_socket_takes_one_session_in_all() {
    let mut desk = Desk::new();
    let (_, run, review) = desk.judge();
    let mut judge = identity(&run, Role::JudgePr);
    judge.review = Some(review);
    let path = desk.folder.path().join("run/mcp.sock");
    let socket = RunSocket::bind(&path, true).unwrap();
    let _server = tokio::spawn(socket.serve(desk.service(judge)));
    let client = piped(&path).await.unwrap();
    piped(&path).await.unwrap_err();
    done(&client, "add_comment", json!({ "content": "still here" })).await;
    client.cancel().await.unwrap();
    // gone is gone: what comes later is not the judge
    piped(&path).await.unwrap_err();
}

#[tokio::test]
async fn a_peer_that_is_not_of_the_run_is_refused_and_uses_up_no_session() {
    let mut desk = Desk::new();
    let (_, run, review) = desk.judge();
    let mut judge = identity(&run, Role::JudgePr);
    judge.review = Some(review);
    let path = desk.folder.path().join("run/mcp.sock");
    let own = i32::try_from(std::process::id()).unwrap();
    let (seen, peers) = std::sync::mpsc::channel();
    let strangers_left = std::sync::atomic::AtomicUsize::new(2);
    let socket = RunSocket::bind(&path, true)
        .unwrap()
        .with_peer_check(move |peer| {
            seen.send(peer).unwrap();
            let order = std::sync::atomic::Ordering::SeqCst;
            strangers_left
                .fetch_update(order, order, |left| left.checked_sub(1))
                .is_err()
        });
    let _server = tokio::spawn(socket.serve(desk.service(judge)));
    for _ in 0..2 {
        piped(&path).await.unwrap_err();
    }
    let client = piped(&path).await.unwrap();
    done(&client, "add_comment", json!({ "content": "heard" })).await;
    let peer = peers.recv().unwrap();
    assert_eq!(peer.pid, Some(own));
    assert_eq!(peer.uid, own_user());
}

/// The user of this process, as the file system shows it.
fn own_user() -> u32 {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata("/proc/self").unwrap().uid()
}

#[tokio::test]
async fn sessions_at_once_are_bounded_and_a_place_comes_free() {
    let mut desk = Desk::new();
    let (_, run) = desk.worker();
    let path = desk.folder.path().join("run/mcp.sock");
    let socket = RunSocket::bind(&path, false).unwrap();
    let _server = tokio::spawn(socket.serve(desk.service(identity(&run, Role::Worker))));
    let mut open = Vec::new();
    for _ in 0..8 {
        open.push(piped(&path).await.unwrap());
    }
    piped(&path).await.unwrap_err();
    open.pop().unwrap().cancel().await.unwrap();
    // the place is free once the service has seen the end of that session
    let begun = Instant::now();
    let mut again = piped(&path).await;
    while again.is_err() && begun.elapsed() < DEADLINE {
        tokio::time::sleep(LOOK).await;
        again = piped(&path).await;
    }
    done(&again.unwrap(), "get_issue", json!({})).await;
}

#[test]
fn a_socket_that_is_gone_says_that_the_run_is_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mcp.sock");
    let error = pipe(&path, std::io::empty(), &mut std::io::sink()).unwrap_err();
    assert!(matches!(error, McpError::Connect { .. }));
    let text = error.to_string();
    assert!(
        text.contains("the run is over, or its supervisor died"),
        "{text}"
    );
    let error = RunSocket::bind(Path::new("/"), false)
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("cannot create the run's socket /: "),
        "{error}"
    );
}

#[test]
fn the_pipe_carries_bytes_as_they_are_and_ends_with_either_side() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("echo.sock");
    let listener = listen(&path);
    let echo = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        stream.write_all(&all).unwrap();
        all.len()
    });
    let bytes: Vec<u8> = (0..300_000_u32)
        .map(|i| i.to_le_bytes()[0] ^ 0x5a)
        .collect();
    let mut output = Vec::new();
    pipe(&path, std::io::Cursor::new(bytes.clone()), &mut output).unwrap();
    assert_eq!(echo.join().unwrap(), bytes.len());
    assert!(output == bytes);
}

#[test]
fn the_pipe_ends_when_the_run_does_though_its_input_stays_open() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mcp.sock");
    let listener = listen(&path);
    let supervisor = std::thread::spawn(move || drop(listener.accept().unwrap()));
    let (input, _stays_open) = std::io::pipe().unwrap();
    pipe(&path, input, &mut std::io::sink()).unwrap();
    supervisor.join().unwrap();
}

#[tokio::test]
async fn bytes_that_are_no_request_do_not_end_the_session() {
    let mut desk = Desk::new();
    let (_, run) = desk.worker();
    let client = desk.client(identity(&run, Role::Worker)).await;
    let (near, far) = tokio::io::duplex(64 * 1024);
    let (read, write) = tokio::io::split(far);
    let session = tokio::spawn(symphony_mcp::serve(
        desk.service(identity(&run, Role::Worker)),
        read,
        write,
    ));
    let (mut answers, mut requests) = tokio::io::split(near);
    for line in [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "0" } } })
        .to_string(),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string(),
        "{ not json".to_owned(),
        "[1, 2".to_owned(),
        "\u{0}\u{1}".to_owned(),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }).to_string(),
    ] {
        requests.write_all(line.as_bytes()).await.unwrap();
        requests.write_all(b"\n").await.unwrap();
    }
    requests.shutdown().await.unwrap();
    let mut text = String::new();
    answers.read_to_string(&mut text).await.unwrap();
    assert!(
        text.lines()
            .any(|line| line.contains("\"id\":2") && line.contains("get_issue")),
        "{text}"
    );
    session.await.unwrap().unwrap();
    assert_eq!(
        call(&client, "get_issue", json!({})).await.is_error,
        Some(false)
    );
}

#[tokio::test]
async fn a_client_that_says_nothing_is_no_error() {
    let mut desk = Desk::new();
    let (_, run) = desk.worker();
    let service = desk.service(identity(&run, Role::Worker));
    symphony_mcp::serve(service, tokio::io::empty(), tokio::io::sink())
        .await
        .unwrap();
}

//! Servers, names and raw requests.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use symphony_proxy::{
    Allowed, Credential, Endpoint, Limits, Proxy, Resolution, Resolve, Secret, Tls, Upstream,
};
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::{self, pki_types::PrivatePkcs8KeyDer};

/// Longest wait of a test for anything.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// Gives each name its answers in turn, the last one for ever.
#[derive(Default)]
pub(crate) struct Names {
    answers: BTreeMap<String, Vec<Vec<IpAddr>>>,
    pub(crate) asked: AtomicUsize,
}

impl Names {
    pub(crate) fn with(mut self, name: &str, answers: &[&[&str]]) -> Self {
        let parse = |answer: &&[&str]| answer.iter().map(|ip| ip.parse().unwrap()).collect();
        let answers = answers.iter().map(parse).collect();
        self.answers.insert(name.to_owned(), answers);
        self
    }
}

impl Resolve for Names {
    fn resolve<'a>(&'a self, name: &'a str) -> Resolution<'a> {
        let turn = self.asked.fetch_add(1, Ordering::SeqCst);
        let found = self.answers.get(name).map(|answers| {
            let last = answers.len() - 1;
            answers[turn.min(last)].clone()
        });
        Box::pin(async move { found.ok_or_else(|| io::Error::other("no such name")) })
    }
}

/// `allowed.example` on this machine.
pub(crate) fn local_names() -> Names {
    Names::default().with("allowed.example", &[&["127.0.0.1"]])
}

/// Opens `allowed.example` on the ports of some local servers.
pub(crate) fn allow(servers: &[SocketAddr]) -> Allowed {
    let entries: Vec<String> = servers
        .iter()
        .flat_map(|server| {
            [
                server.to_string(),
                format!("allowed.example:{}", server.port()),
            ]
        })
        .collect();
    Allowed::parse(entries.iter().map(String::as_str)).unwrap()
}

/// Something that serves a unix socket until it is dropped.
pub(crate) struct Served {
    pub(crate) socket: PathBuf,
    task: tokio::task::JoinHandle<()>,
    _folder: TempDir,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub(crate) fn serve<F: Future<Output = ()> + Send + 'static>(
    run: impl FnOnce(UnixListener) -> F,
) -> Served {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let task = tokio::spawn(run(UnixListener::bind(&socket).unwrap()));
    Served {
        socket,
        task,
        _folder: folder,
    }
}

pub(crate) fn serve_proxy(proxy: &Proxy) -> Served {
    let proxy = proxy.clone();
    serve(|listener| async move {
        proxy
            .serve(&listener, std::future::pending())
            .await
            .unwrap();
    })
}

/// A proxy for `allowed.example` on some local servers.
pub(crate) fn local_proxy(servers: &[SocketAddr]) -> (Proxy, Served) {
    local_proxy_with(servers, None, Limits::default())
}

pub(crate) fn local_proxy_with(
    servers: &[SocketAddr],
    upstream: Option<Upstream>,
    limits: Limits,
) -> (Proxy, Served) {
    let names = Arc::new(local_names());
    let proxy = Proxy::with_resolver(allow(servers), upstream, limits, names);
    let served = serve_proxy(&proxy);
    (proxy, served)
}

/// Runs a server that handles each connection by `serve`.
pub(crate) async fn server<F: Future<Output = ()> + Send + 'static>(
    serve: impl Fn(TcpStream) -> F + Send + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(serve(stream));
        }
    });
    address
}

/// A server that sends back what it receives, until its client ends.
pub(crate) async fn echo() -> SocketAddr {
    server(|mut stream| async move {
        let (mut read, mut write) = stream.split();
        let _copied = tokio::io::copy(&mut read, &mut write).await;
        let _closed = write.shutdown().await;
    })
    .await
}

/// Requests that a server got, whole.
pub(crate) type Seen = Arc<Mutex<Vec<String>>>;

/// A server that gives the same answer to one request for each connection.
pub(crate) async fn answering(answer: &'static str) -> (SocketAddr, Seen) {
    let seen = Seen::default();
    let kept = Arc::clone(&seen);
    let address = server(move |mut stream| {
        let seen = Arc::clone(&kept);
        async move {
            let request = read_request(&mut stream).await;
            seen.lock().unwrap().push(request);
            let _sent = stream.write_all(answer.as_bytes()).await;
        }
    })
    .await;
    (address, seen)
}

/// Reads a head, and a body that has a length or comes in chunks.
pub(crate) async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut text = read_head(stream).await;
    let lower = text.to_ascii_lowercase();
    if let Some((_, rest)) = lower.split_once("content-length: ") {
        let length = rest.lines().next().unwrap().parse().unwrap();
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await.unwrap();
        text.push_str(&String::from_utf8(body).unwrap());
    } else if lower.contains("transfer-encoding: chunked") {
        while !text.ends_with("\r\n0\r\n\r\n") {
            text.push(char::from(stream.read_u8().await.unwrap()));
        }
    }
    text
}

/// Reads up to the empty line, or to the end.
pub(crate) async fn read_head(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => break,
        }
    }
    String::from_utf8(head).unwrap()
}

/// Sends bytes and reads to the end.
pub(crate) async fn ask(socket: &Path, request: &str) -> String {
    let mut stream = UnixStream::connect(socket).await.unwrap();
    // the answer may come before everything is sent
    let _sent = stream.write_all(request.as_bytes()).await;
    let mut answer = Vec::new();
    let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer)).await;
    let _ended = read.expect("the connection is closed");
    String::from_utf8_lossy(&answer).into_owned()
}

/// Asks for a tunnel and returns the head of the answer.
pub(crate) async fn connect(socket: &Path, target: &str) -> (UnixStream, String) {
    let mut stream = UnixStream::connect(socket).await.unwrap();
    let request = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let head = read_head(&mut stream).await;
    (stream, head)
}

pub(crate) fn status(answer: &str) -> u16 {
    let line = answer.lines().next().unwrap_or_default();
    line.split(' ')
        .nth(1)
        .and_then(|code| code.parse().ok())
        .unwrap_or(0)
}

/// The credential of the tests.
pub(crate) const KEY: &str = "sk-ant-test-0123456789abcdef";

/// A provider with TLS under the name `allowed.example`.
pub(crate) struct Provider {
    pub(crate) address: SocketAddr,
    pub(crate) tls: Tls,
    pub(crate) seen: Seen,
}

/// Makes a certificate for `allowed.example` with its key, both in DER.
pub(crate) fn certificate() -> (Vec<u8>, Vec<u8>) {
    let made = rcgen::generate_simple_self_signed(["allowed.example".to_owned()]).unwrap();
    (made.cert.der().to_vec(), made.signing_key.serialize_der())
}

pub(crate) async fn provider(answer: &str) -> Provider {
    provider_with(answer.to_owned()).await
}

/// A provider that gives the same answer to one request for each connection.
pub(crate) async fn provider_with(answer: String) -> Provider {
    let (certificate, key) = certificate();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.clone().into()],
            PrivatePkcs8KeyDer::from(key).into(),
        )
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let seen = Seen::default();
    let kept = Arc::clone(&seen);
    let address = server(move |stream| {
        let (acceptor, seen, answer) = (acceptor.clone(), Arc::clone(&kept), answer.clone());
        async move {
            let Ok(mut stream) = acceptor.accept(stream).await else {
                return;
            };
            let request = read_request(&mut stream).await;
            seen.lock().unwrap().push(request);
            let _sent = stream.write_all(answer.as_bytes()).await;
            let _closed = stream.shutdown().await;
        }
    })
    .await;
    let tls = Tls::with_roots([certificate]).unwrap();
    Provider { address, tls, seen }
}

/// An endpoint for a provider that adds [`KEY`] as `x-api-key`.
pub(crate) fn endpoint_for(address: SocketAddr, path: &str, tls: Tls) -> Endpoint {
    let url = format!("https://allowed.example:{}{path}", address.port());
    let credentials = vec![Credential::new("x-api-key", Secret::new(KEY).unwrap()).unwrap()];
    let names = Arc::new(local_names());
    Endpoint::with_resolver(&url, credentials, tls, names, Limits::default()).unwrap()
}

//! One server on loopback, in a thread of its own: tests with and without a runtime can use it.

use std::convert::Infallible;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use http_body_util::channel::Channel;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use super::fault::{Fault, On, Script, rearranged};
use super::message::{Answer, Backend, Request};
use super::record::{Exchange, Recorder};

/// The body of an answer: whole, or a byte at a time.
type Body = BoxBody<Bytes, Infallible>;
type Response = hyper::Response<Body>;

/// How much of a flood is sent at once, in bytes.
const FLOOD_CHUNK_BYTES: usize = 64 * 1024;

/// What server and handle share.
struct Shared<B> {
    backend: B,
    script: Script,
    exchanges: Vec<Exchange>,
    recorder: Recorder,
}

/// A way to the state of a server.
pub(crate) struct Handle<B>(Arc<Mutex<Shared<B>>>);

impl<B> Handle<B> {
    /// Reads or changes the state.
    pub(crate) fn with<T>(&self, act: impl FnOnce(&mut B) -> T) -> T {
        act(&mut lock(&self.0).backend)
    }
}

/// A running server.
pub(crate) struct Server<B> {
    shared: Arc<Mutex<Shared<B>>>,
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl<B: Backend> Server<B> {
    /// Starts a server on a free port.
    pub(crate) fn start(backend: B) -> Self {
        let shared = Arc::new(Mutex::new(Shared {
            backend,
            script: Script::default(),
            exchanges: Vec::new(),
            recorder: Recorder::new(B::NAME),
        }));
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .expect("loopback has a free port");
        listener
            .set_nonblocking(true)
            .expect("a socket can be read without waiting");
        let address = listener
            .local_addr()
            .expect("a bound socket has an address");
        let (stop, stopped) = oneshot::channel();
        let served = Arc::clone(&shared);
        let thread = std::thread::spawn(move || serve(listener, address, &served, stopped));
        Self {
            shared,
            address,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// Returns the address, without a slash at the end.
    pub(crate) fn address(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Reads or changes the state.
    pub(crate) fn with<T>(&self, act: impl FnOnce(&mut B) -> T) -> T {
        act(&mut lock(&self.shared).backend)
    }

    /// Returns a way to the state for another server that shares it.
    pub(crate) fn handle(&self) -> Handle<B> {
        Handle(Arc::clone(&self.shared))
    }

    /// Plans a fault.
    pub(crate) fn fail(&self, on: On, fault: Fault) {
        lock(&self.shared).script.plan(on, fault);
    }

    /// Forgets all planned faults.
    pub(crate) fn heal(&self) {
        lock(&self.shared).script.clear();
    }

    /// Returns what was exchanged, and forgets it.
    pub(crate) fn take_exchanges(&self) -> Vec<Exchange> {
        std::mem::take(&mut lock(&self.shared).exchanges)
    }
}

impl<B> Drop for Server<B> {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // the receiver is gone if the thread ended by itself
            let _sent = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

impl<B> fmt::Debug for Server<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

fn lock<B>(shared: &Mutex<Shared<B>>) -> MutexGuard<'_, Shared<B>> {
    // a test that failed while it held the lock has its own message
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve<B: Backend>(
    listener: std::net::TcpListener,
    address: SocketAddr,
    shared: &Arc<Mutex<Shared<B>>>,
    stopped: oneshot::Receiver<()>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a thread can have a runtime");
    let local = tokio::task::LocalSet::new();
    let accept = async {
        let listener = TcpListener::from_std(listener).expect("the socket is not blocking");
        while let Ok((stream, _)) = listener.accept().await {
            tokio::task::spawn_local(connection(stream, address, Arc::clone(shared)));
        }
    };
    runtime.block_on(local.run_until(async {
        tokio::select! {
            () = accept => {}
            _ = stopped => {}
        }
    }));
}

async fn connection<B: Backend>(
    stream: TcpStream,
    address: SocketAddr,
    shared: Arc<Mutex<Shared<B>>>,
) {
    let service = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        async move {
            let request = read(request, address).await?;
            respond(&shared, &request).await
        }
    });
    // an error of the service is a planned cut of the connection
    let _ended = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

async fn read(request: hyper::Request<Incoming>, address: SocketAddr) -> io::Result<Request> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let query = parts.uri.query().unwrap_or_default();
    let segments = parts.uri.path().split('/').skip(1);
    let headers = parts.headers.iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.as_str().to_owned(), value)
    });
    Ok(Request {
        method: parts.method.to_string(),
        segments: segments.map(unescaped).collect(),
        target: parts.uri.to_string(),
        query: form_urlencoded::parse(query.as_bytes())
            .into_owned()
            .collect(),
        headers: headers.collect(),
        body: body.to_vec(),
        own_address: format!("http://{address}"),
    })
}

/// Undoes the escapes of one segment. A plus and an ampersand are themselves there, other than in a query.
fn unescaped(segment: &str) -> String {
    let plain = segment.replace('+', "%2B").replace('&', "%26");
    let pair = format!("x={plain}");
    let mut read = form_urlencoded::parse(pair.as_bytes());
    read.next()
        .map(|(_, value)| value.into_owned())
        .unwrap_or_default()
}

async fn respond<B: Backend>(shared: &Mutex<Shared<B>>, request: &Request) -> io::Result<Response> {
    let (fault, answer) = applied(shared, request);
    let cut = || io::Error::other("the script cuts the connection");
    Ok(match fault {
        Some(Fault::CutBefore | Fault::CutAfter) => return Err(cut()),
        Some(Fault::Silence) => {
            std::future::pending::<()>().await;
            return Err(cut());
        }
        Some(Fault::Half) => trickled(&answer, Duration::ZERO, 2),
        Some(Fault::Trickle(pause)) => trickled(&answer, pause, 1),
        Some(Fault::Flood(bytes)) => flooded(bytes),
        Some(Fault::TruncatedJson) => {
            let half: String = answer
                .body
                .chars()
                .take(answer.body.chars().count() / 2)
                .collect();
            whole(Answer {
                body: half,
                ..answer
            })
        }
        Some(Fault::Duplicated) => whole(rearranged(answer, |items| {
            *items = items
                .iter()
                .flat_map(|item| [item.clone(), item.clone()])
                .collect();
        })),
        Some(Fault::Reversed) => whole(rearranged(answer, |items| items.reverse())),
        Some(Fault::Answer { .. }) | None => whole(answer),
    })
}

/// Applies a request unless a fault comes before, and keeps what was exchanged.
fn applied<B: Backend>(shared: &Mutex<Shared<B>>, request: &Request) -> (Option<Fault>, Answer) {
    let mut shared = lock(shared);
    let fault = shared.script.fault(request);
    let answer = match &fault {
        Some(Fault::CutBefore) => Answer::default(),
        Some(Fault::Answer {
            status,
            headers,
            body,
        }) => Answer {
            status: *status,
            headers: headers.clone(),
            body: body.clone(),
        },
        _ => {
            let answer = shared.backend.answer(request);
            let date = shared.backend.now().strftime("%a, %d %b %Y %H:%M:%S GMT");
            answer.with("date", date.to_string())
        }
    };
    let is_cut = matches!(
        fault,
        Some(Fault::CutBefore | Fault::CutAfter | Fault::Silence)
    );
    let exchange = Exchange {
        method: request.method.clone(),
        target: request.target.clone(),
        body: String::from_utf8_lossy(&request.body).into_owned(),
        has_token: request.header("authorization").is_some(),
        status: (!is_cut).then_some(answer.status),
        answer: answer.body.clone(),
    };
    if fault.is_none() {
        shared.recorder.write(&exchange);
    }
    shared.exchanges.push(exchange);
    (fault, answer)
}

fn head(answer: &Answer) -> hyper::http::response::Builder {
    let mut builder = hyper::Response::builder().status(answer.status);
    for (name, value) in &answer.headers {
        builder = builder.header(name, value);
    }
    builder
}

fn whole(answer: Answer) -> Response {
    head(&answer)
        .body(Full::new(Bytes::from(answer.body)).boxed())
        .expect("a fake's headers are valid")
}

/// Sends a part of an answer byte by byte; of half an answer the length of the whole is announced.
fn trickled(answer: &Answer, pause: Duration, part: usize) -> Response {
    let bytes = answer.body.clone().into_bytes();
    let sent = bytes.len() / part;
    let (mut sender, body) = Channel::<Bytes, Infallible>::new(1);
    tokio::task::spawn_local(async move {
        for byte in bytes.into_iter().take(sent) {
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
            if sender.send_data(Bytes::from(vec![byte])).await.is_err() {
                return;
            }
        }
    });
    head(answer)
        .header("content-length", answer.body.len())
        .body(body.boxed())
        .expect("a fake's headers are valid")
}

fn flooded(bytes: u64) -> Response {
    let (mut sender, body) = Channel::<Bytes, Infallible>::new(1);
    tokio::task::spawn_local(async move {
        let chunk = Bytes::from(vec![b' '; FLOOD_CHUNK_BYTES]);
        let mut sent = 0;
        while sent < bytes && sender.send_data(chunk.clone()).await.is_ok() {
            sent += FLOOD_CHUNK_BYTES as u64;
        }
    });
    hyper::Response::new(body.boxed())
}

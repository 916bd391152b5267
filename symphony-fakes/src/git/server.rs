//! The server that git fetches from and pushes to.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

use super::certificate::Certificate;
use super::cgi::{Answered, Asked, run};
use super::store::GitStore;

/// What a forge says to a request of git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It may go on, as this user.
    Go(String),
    /// A user and a password are asked for.
    Ask,
    /// It is refused, with a status and a text.
    Refuse(u16, String),
}

/// A request of git, as a forge decides about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// The repository, such as `acme/web`.
    pub(crate) repository: String,
    /// The password that came.
    pub(crate) password: Option<String>,
    /// Whether it is a part of a push.
    pub(crate) is_push: bool,
    /// Whether it does the work, after the one that lists branches.
    pub(crate) is_work: bool,
}

/// What goes wrong with a request of git that does the work: a fetch, a list of branches, or a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GitFault {
    /// This status comes instead; nothing is applied.
    Status(u16),
    /// The connection is cut before anything is applied.
    CutBefore,
    /// The request is applied, and the connection is cut before the answer.
    CutAfter,
}

/// Decides about a request.
pub(crate) type Gate = Arc<dyn Fn(&Wanted) -> (Verdict, Option<GitFault>) + Send + Sync>;

/// A running server of one repository.
pub(crate) struct GitServer {
    store: GitStore,
    authority: PathBuf,
    no_authorities: PathBuf,
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Clone)]
struct Served {
    store: GitStore,
    gate: Gate,
}

impl GitServer {
    /// Starts a server on a free port. `folder` gets the authority's certificate.
    pub(crate) fn start(store: GitStore, folder: &Path, gate: Gate) -> Self {
        let certificate = Certificate::make();
        let authority = folder.join("authority.pem");
        let no_authorities = folder.join("authorities");
        std::fs::create_dir(&no_authorities).expect("the folder can be written");
        std::fs::write(&authority, &certificate.authority)
            .expect("the folder of a fake can be written");
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .expect("loopback has a free port");
        listener
            .set_nonblocking(true)
            .expect("a socket can be read without waiting");
        let address = listener
            .local_addr()
            .expect("a bound socket has an address");
        let (stop, stopped) = oneshot::channel();
        let acceptor = TlsAcceptor::from(certificate.config);
        let served = Served {
            store: store.clone(),
            gate,
        };
        let thread = std::thread::spawn(move || serve(listener, &acceptor, &served, stopped));
        Self {
            store,
            authority,
            no_authorities,
            address,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// Returns the address, without a slash at the end.
    pub(crate) fn address(&self) -> String {
        format!("https://{}", self.address)
    }

    /// Returns the file with the certificate that clients trust.
    pub(crate) fn authority(&self) -> &Path {
        &self.authority
    }

    /// Returns an empty folder.
    pub(crate) fn no_authorities(&self) -> &Path {
        &self.no_authorities
    }

    /// Returns the repository.
    pub(crate) const fn store(&self) -> &GitStore {
        &self.store
    }
}

impl Drop for GitServer {
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

impl fmt::Debug for GitServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GitServer")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

fn serve(
    listener: std::net::TcpListener,
    acceptor: &TlsAcceptor,
    served: &Served,
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
            tokio::task::spawn_local(connection(stream, acceptor.clone(), served.clone()));
        }
    };
    runtime.block_on(local.run_until(async {
        tokio::select! {
            () = accept => {}
            _ = stopped => {}
        }
    }));
}

async fn connection(stream: TcpStream, acceptor: TlsAcceptor, served: Served) {
    // a client that does not trust the certificate hangs up
    let Ok(stream) = acceptor.accept(stream).await else {
        return;
    };
    let service = service_fn(move |request| {
        let served = served.clone();
        async move { respond(served, request).await }
    });
    // clients end a connection when they like
    let _ended = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

async fn respond(
    served: Served,
    request: hyper::Request<Incoming>,
) -> io::Result<hyper::Response<Full<Bytes>>> {
    let cut = || io::Error::other("the script cuts the connection");
    let (parts, body) = request.into_parts();
    let Ok(body) = body.collect().await else {
        return Ok(plain(400, "the request ended early"));
    };
    let header = |name: &str| {
        let value = parts
            .headers
            .get(name)
            .and_then(|value| value.to_str().ok());
        value.unwrap_or_default().to_owned()
    };
    let path = parts.uri.path();
    let query = parts.uri.query().unwrap_or_default();
    let Some((repository, rest)) = split(path) else {
        return Ok(plain(404, "Not Found"));
    };
    let wanted = Wanted {
        repository: repository.to_owned(),
        password: password(&header("authorization")),
        is_push: rest == "/git-receive-pack" || query == "service=git-receive-pack",
        is_work: rest != "/info/refs",
    };
    let (verdict, fault) = (served.gate)(&wanted);
    match fault {
        Some(GitFault::Status(status)) => return Ok(plain(status, "the script says so")),
        Some(GitFault::CutBefore) => return Err(cut()),
        Some(GitFault::CutAfter) | None => {}
    }
    let user = match verdict {
        Verdict::Go(user) => user,
        Verdict::Ask => return Ok(ask()),
        Verdict::Refuse(status, text) => return Ok(plain(status, &text)),
    };
    let asked = Asked {
        method: parts.method.to_string(),
        path: rest.to_owned(),
        query: query.to_owned(),
        content_type: header("content-type"),
        encoding: header("content-encoding"),
        protocol: header("git-protocol"),
        user: wanted.is_push.then_some(user),
        body: body.to_bytes().to_vec(),
    };
    let answered = tokio::task::spawn_blocking(move || run(&served.store, &asked)).await;
    if fault == Some(GitFault::CutAfter) {
        return Err(cut());
    }
    Ok(answered.map_or_else(|_panicked| plain(500, "git failed"), whole))
}

fn ask() -> hyper::Response<Full<Bytes>> {
    let mut answer = plain(401, "Authentication required");
    answer.headers_mut().insert(
        "www-authenticate",
        hyper::header::HeaderValue::from_static("Basic realm=\"GitHub\""),
    );
    answer
}

/// Splits a path into the repository, such as `acme/web`, and what follows it.
fn split(path: &str) -> Option<(&str, &str)> {
    const SERVICES: [&str; 3] = ["/info/refs", "/git-upload-pack", "/git-receive-pack"];
    let rest = SERVICES.iter().find(|service| path.ends_with(**service))?;
    let repository = path.strip_suffix(rest)?.strip_prefix('/')?;
    Some((repository.strip_suffix(".git").unwrap_or(repository), rest))
}

/// Reads the password of a header for basic authentication; every user name is good.
fn password(header: &str) -> Option<String> {
    let encoded = header.strip_prefix("Basic ")?;
    let text = String::from_utf8(STANDARD.decode(encoded).ok()?).ok()?;
    let (user, password) = text.split_once(':')?;
    // a token can be the user too
    let token = if password.is_empty() || password == "x-oauth-basic" {
        user
    } else {
        password
    };
    Some(token.to_owned())
}

fn plain(status: u16, text: &str) -> hyper::Response<Full<Bytes>> {
    whole(Answered {
        status,
        headers: vec![("content-type".to_owned(), "text/plain".to_owned())],
        body: format!("{text}\n").into_bytes(),
    })
}

fn whole(answered: Answered) -> hyper::Response<Full<Bytes>> {
    let mut builder = hyper::Response::builder().status(answered.status);
    for (name, value) in answered.headers {
        builder = builder.header(name, value);
    }
    builder
        .body(Full::new(Bytes::from(answered.body)))
        .expect("the headers of git are valid")
}

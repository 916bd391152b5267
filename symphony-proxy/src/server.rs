//! The proxy of a run: `CONNECT` tunnels and plain requests to allowed hosts.
//!
//! One connection carries one request. The head is checked (`head`), the target is checked
//! and connected to, and only then does `hyper` read the body.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use hyper::header::PROXY_AUTHORIZATION;
use hyper::{Request, Response, Uri, Version};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, copy_bidirectional_with_sizes};
use tokio::net::UnixListener;

use crate::answer::Answer;
use crate::dial::{Resolve, SystemResolver};
use crate::error::ProxyError;
use crate::exchange::{
    AnswerBody, no_answer, pass_on, read_head, remove_hop_by_hop, respond, respond_with, serve_one,
    set_host, start_client,
};
use crate::head::Head;
use crate::host::Target;
use crate::limits::Limits;
use crate::listen::listen;
use crate::policy::Allowed;
use crate::redact::Needles;
use crate::report::{Ledger, Report};
use crate::route::{NotOpened, Route};
use crate::stream::{Rewound, Stream, metered};
use crate::upstream::Upstream;

/// Bytes that a tunnel holds for each direction.
const TUNNEL_BUFFER_BYTES: usize = 64 * 1024;
/// Port of `http` (RFC 9110, section 4.2.1).
const HTTP_PORT: u16 = 80;

/// The proxy of one run; clones share its report.
#[derive(Clone)]
pub struct Proxy(Arc<Inner>);

struct Inner {
    allowed: Allowed,
    route: Route,
    ledger: Arc<Ledger>,
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy")
            .field("allowed", &self.0.allowed)
            .finish_non_exhaustive()
    }
}

impl Proxy {
    /// Makes a proxy that asks the system for addresses.
    pub fn new(allowed: Allowed, upstream: Option<Upstream>, limits: Limits) -> Self {
        Self::with_resolver(allowed, upstream, limits, Arc::new(SystemResolver))
    }

    /// Makes a proxy that asks `resolver` for addresses.
    pub fn with_resolver(
        allowed: Allowed,
        upstream: Option<Upstream>,
        limits: Limits,
        resolver: Arc<dyn Resolve>,
    ) -> Self {
        let route = Route {
            resolver,
            upstream,
            limits,
        };
        let ledger = Arc::default();
        Self(Arc::new(Inner {
            allowed,
            route,
            ledger,
        }))
    }

    /// Serves a socket until `stop` resolves, and ends the connections that are open then.
    ///
    /// # Errors
    ///
    /// [`ProxyError::Accept`] if the socket takes no connections any more.
    pub async fn serve(
        &self,
        listener: &UnixListener,
        stop: impl Future<Output = ()>,
    ) -> Result<(), ProxyError> {
        let limits = self.0.route.limits;
        listen(
            listener,
            limits.connections,
            &self.0.ledger,
            stop,
            |stream| self.clone().serve_stream(stream),
        )
        .await
    }

    /// Serves one connection to its end. The limit of connections does not hold here.
    pub async fn serve_stream<S>(self, stream: S)
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let idle = self.0.route.limits.idle;
        metered(stream, &self.0.ledger, idle, |stream| self.exchange(stream)).await;
    }

    /// What was refused and carried so far.
    pub fn report(&self) -> Report {
        self.0.ledger.report()
    }

    async fn exchange(&self, mut stream: impl Stream) {
        let (head, bytes) = match read_head(&mut stream, self.0.route.limits.head).await {
            Ok(read) => read,
            Err(None) => return,
            Err(Some(answer)) => return self.malformed(answer, stream).await,
        };
        let target = match target_of(&head) {
            Ok(target) => target,
            Err(answer) => return self.malformed(answer, stream).await,
        };
        let refused = if head.method == "CONNECT" {
            match self.open_tunnel(&target).await {
                Ok(server) => return self.copy(stream, server, bytes, head.bytes).await,
                Err(refused) => refused,
            }
        } else {
            match self.open_plain(&target).await {
                Ok(sender) => return self.forward(stream, sender, bytes, &target).await,
                Err(refused) => refused,
            }
        };
        let answer = match refused {
            NotOpened::Failed(answer) => answer,
            NotOpened::Refused(refusal) => {
                self.0.ledger.refuse(&target, &refusal);
                Answer::refused(&target, &refusal)
            }
        };
        answer.send(&mut stream).await;
    }

    async fn malformed(&self, answer: Answer, mut stream: impl Stream) {
        self.0.ledger.count(|report| report.malformed += 1);
        answer.send(&mut stream).await;
    }

    /// Connects to the target of a tunnel.
    async fn open_tunnel(&self, target: &Target) -> Result<Box<dyn Stream>, NotOpened> {
        let Inner { allowed, route, .. } = &*self.0;
        // before anything is asked: a name in a query is a way out as well
        allowed.admit(target).map_err(NotOpened::Refused)?;
        Ok(match route.upstream_for(target) {
            Some(upstream) => Box::new(route.tunnel(upstream, target).await?),
            None => Box::new(route.open_checked(target, allowed).await?),
        })
    }

    /// Carries a tunnel until both sides have ended; an end of one side is passed on
    /// (RFC 9110, section 9.3.6).
    async fn copy(
        &self,
        mut stream: impl Stream,
        mut server: Box<dyn Stream>,
        mut bytes: Vec<u8>,
        head_bytes: usize,
    ) {
        self.0.ledger.count(|report| report.tunnels += 1);
        // what came after the head was sent before the answer, and belongs to the tunnel
        let early = bytes.split_off(head_bytes);
        let copied = async {
            stream
                .write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")
                .await?;
            server.write_all(&early).await?;
            drop((bytes, early));
            let size = TUNNEL_BUFFER_BYTES;
            copy_bidirectional_with_sizes(&mut stream, &mut server, size, size).await
        };
        // a broken tunnel is closed, which both sides notice
        let _copied = copied.await;
    }

    /// Connects to the server of a plain request, or to the user's proxy.
    async fn open_plain(&self, target: &Target) -> Result<SendRequest<Incoming>, NotOpened> {
        let Inner { allowed, route, .. } = &*self.0;
        allowed.admit(target).map_err(NotOpened::Refused)?;
        let server = match route.upstream_for(target) {
            Some(upstream) => route.open_trusted(&upstream.target).await?,
            None => route.open_checked(target, allowed).await?,
        };
        Ok(start_client(server)
            .await
            .map_err(|error| no_answer(target, &error))?)
    }

    /// Passes on one plain request (RFC 9112, section 3.2.2).
    async fn forward(
        &self,
        stream: impl Stream,
        sender: SendRequest<Incoming>,
        bytes: Vec<u8>,
        target: &Target,
    ) {
        self.0.ledger.count(|report| report.tunnels += 1);
        let upstream = self.0.route.upstream_for(target);
        let sender = Mutex::new(Some(sender));
        let served = serve_one(Rewound::new(stream, bytes), |request| {
            let sender = sender.lock().unwrap_or_else(PoisonError::into_inner).take();
            pass(sender, request, target, upstream)
        });
        // the agent or the server may go away in the middle of the answer
        let _served = served.await;
    }
}

/// Reads where a request wants to go.
fn target_of(head: &Head) -> Result<Target, Answer> {
    let faulty = |fault: &dyn fmt::Display| {
        Answer::new(
            400,
            format!("symphony: the target of the request is not understood: {fault}.\n"),
        )
    };
    match head.method.as_str() {
        "CONNECT" => return Target::parse(&head.target).map_err(|fault| faulty(&fault)),
        // a server or a proxy would repeat all headers, with those that are added on the way
        "TRACE" => return Err(Answer::new(405, "symphony: `TRACE` is not passed on.\n")),
        _ => {}
    }
    let (scheme, rest) = head.target.split_once("://").unwrap_or_default();
    if !scheme.eq_ignore_ascii_case("http") {
        let expected = "expected `http://` with a host, or `CONNECT` for other protocols";
        return Err(faulty(&expected));
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    Target::parse_or(rest.split_at(end).0, HTTP_PORT).map_err(|fault| faulty(&fault))
}

/// Sends a request on and returns the answer.
async fn pass(
    sender: Option<SendRequest<Incoming>>,
    mut request: Request<Incoming>,
    target: &Target,
    upstream: Option<&Upstream>,
) -> Response<AnswerBody> {
    let authority = match target.port {
        HTTP_PORT => target.host.to_string(),
        _ => target.to_string(),
    };
    remove_hop_by_hop(request.headers_mut());
    set_host(request.headers_mut(), &authority);
    let uri = request.uri();
    let query = uri
        .query()
        .map_or(String::new(), |query| format!("?{query}"));
    let path = format!("{}{query}", uri.path());
    let secret = upstream.and_then(|upstream| upstream.authorization.as_ref());
    let uri = match upstream {
        Some(_) => format!("http://{authority}{path}"),
        None => path,
    };
    let (Some(mut sender), Ok(uri)) = (sender, uri.parse::<Uri>()) else {
        return respond(
            400,
            "symphony: the target of the request is not understood.\n",
        );
    };
    *request.uri_mut() = uri;
    *request.version_mut() = Version::HTTP_11;
    if let Some(secret) = secret {
        request
            .headers_mut()
            .insert(PROXY_AUTHORIZATION, secret.header());
    }
    match sender.send_request(request).await {
        Ok(response) => pass_on(response, &Needles::of(secret)),
        Err(error) => respond_with(no_answer(target, &error)),
    }
}

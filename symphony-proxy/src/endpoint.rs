//! An endpoint for a provider's API that adds the credential, so that the agent never holds it.
//!
//! All requests go to one fixed server. Redirects are answers like others and are not followed.
//! The agent can use everything that the credential opens on that server below the base URL: the
//! endpoint hides the credential, and does not limit what it is good for.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Instant;

use hyper::body::Incoming;
use hyper::header::{self, HeaderName};
use hyper::{Method, Request, Response, Uri, Version};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixListener;

use crate::answer::Answer;
use crate::base_url::BaseUrl;
use crate::dial::{Resolve, SystemResolver};
use crate::error::{BaseUrlFault, ProxyError};
use crate::exchange::{
    AnswerBody, no_answer, pass_on, read_head, remove_hop_by_hop, respond_with, serve_one,
    set_host, start_client,
};
use crate::limits::Limits;
use crate::listen::listen;
use crate::pool::Pool;
use crate::redact::Needles;
use crate::report::{Ledger, Report};
use crate::route::Route;
use crate::secret::Secret;
use crate::stream::{Rewound, Stream, metered};
use crate::tls::Tls;
use crate::traffic::{ModelRequest, ModelTraffic, Traffic};
use crate::upstream::Upstream;

/// Headers of the agent that are never passed on: credentials of all known providers, cookies, and
/// parts of answers, in which a credential that is repeated could not be found.
const NOT_PASSED_ON: [HeaderName; 9] = [
    header::AUTHORIZATION,
    header::COOKIE,
    header::RANGE,
    header::IF_RANGE,
    header::FORWARDED,
    HeaderName::from_static("x-api-key"),
    HeaderName::from_static("api-key"),
    HeaderName::from_static("x-goog-api-key"),
    HeaderName::from_static("x-forwarded-for"),
];

/// A header that the endpoint adds to each request, such as `x-api-key`.
#[derive(Debug, Clone)]
pub struct Credential {
    name: HeaderName,
    value: Secret,
}

impl Credential {
    /// Names the header and its whole value.
    ///
    /// # Errors
    ///
    /// [`ProxyError::CredentialHeader`] for a name that is not one or that frames the request.
    pub fn new(name: &str, value: Secret) -> Result<Self, ProxyError> {
        let reserved = [
            header::HOST,
            header::CONTENT_LENGTH,
            header::TRANSFER_ENCODING,
            header::CONNECTION,
            header::ACCEPT_ENCODING,
        ];
        let parsed: Option<HeaderName> = name.parse().ok();
        let name = parsed
            .filter(|name| !reserved.contains(name))
            .ok_or_else(|| ProxyError::CredentialHeader {
                name: name.to_owned(),
            })?;
        Ok(Self { name, value })
    }
}

/// The endpoint for one provider; clones share its report and its connections.
#[derive(Clone)]
pub struct Endpoint(Arc<Inner>);

struct Inner {
    base: BaseUrl,
    credentials: Vec<Credential>,
    needles: Needles,
    tls: Tls,
    route: Route,
    pool: Pool,
    ledger: Arc<Ledger>,
    traffic: Arc<Traffic>,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("base", &self.0.base)
            .field("credentials", &self.0.credentials)
            .finish_non_exhaustive()
    }
}

impl Endpoint {
    /// Makes an endpoint for a base URL: `https`, or `http` for a server on this machine.
    ///
    /// # Errors
    ///
    /// [`ProxyError::BaseUrl`] with what is wrong.
    pub fn new(
        base_url: &str,
        credentials: Vec<Credential>,
        tls: Tls,
        upstream: Option<Upstream>,
        limits: Limits,
    ) -> Result<Self, ProxyError> {
        let route = Route {
            resolver: Arc::new(SystemResolver),
            upstream,
            limits,
        };
        Self::with_route(base_url, credentials, tls, route)
    }

    /// Replaces how the server's addresses are found.
    ///
    /// # Errors
    ///
    /// As [`Endpoint::new`].
    pub fn with_resolver(
        base_url: &str,
        credentials: Vec<Credential>,
        tls: Tls,
        resolver: Arc<dyn Resolve>,
        limits: Limits,
    ) -> Result<Self, ProxyError> {
        let route = Route {
            resolver,
            upstream: None,
            limits,
        };
        Self::with_route(base_url, credentials, tls, route)
    }

    fn with_route(
        base_url: &str,
        credentials: Vec<Credential>,
        tls: Tls,
        route: Route,
    ) -> Result<Self, ProxyError> {
        let base = BaseUrl::parse(base_url).map_err(|fault| base_url_error(base_url, fault))?;
        let needles = Needles::of(credentials.iter().map(|credential| &credential.value));
        let (pool, ledger, traffic) = Default::default();
        Ok(Self(Arc::new(Inner {
            base,
            credentials,
            needles,
            tls,
            route,
            pool,
            ledger,
            traffic,
        })))
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

    /// What was carried so far; `tunnels` are requests that the server answered.
    pub fn report(&self) -> Report {
        self.0.ledger.report()
    }

    /// What the model was asked so far, and what it used.
    pub fn model_traffic(&self) -> ModelTraffic {
        self.0.traffic.at(Instant::now())
    }

    async fn exchange(&self, mut stream: impl Stream) {
        match read_head(&mut stream, self.0.route.limits.head).await {
            Ok((_, bytes)) => {
                let stream = Rewound::new(stream, bytes);
                // the agent or the server may go away in the middle of the answer
                let _served = serve_one(stream, |request| self.pass(request)).await;
            }
            Err(None) => {}
            Err(Some(answer)) => {
                self.0.ledger.count(|report| report.malformed += 1);
                answer.send(&mut stream).await;
            }
        }
    }

    /// Sends a request to the server and returns its answer.
    async fn pass(&self, request: Request<Incoming>) -> Response<AnswerBody> {
        let request = match self.0.prepare(request) {
            Ok(request) => request,
            Err(answer) => {
                self.0.ledger.count(|report| report.malformed += 1);
                return respond_with(answer);
            }
        };
        let asked = ModelRequest::begin(&self.0.traffic, request.method(), request.uri().path());
        let response = match self.0.send(request).await {
            Ok(response) => {
                self.0.ledger.count(|report| report.tunnels += 1);
                let mut response = pass_on(response, &self.0.needles);
                // a cookie binds the agent to a session of the credential
                response.headers_mut().remove(header::SET_COOKIE);
                response
            }
            Err(answer) => respond_with(answer),
        };
        match asked {
            Some(asked) => asked.read(response),
            None => response,
        }
    }
}

impl Inner {
    /// Replaces everything that the agent must not choose.
    fn prepare(&self, mut request: Request<Incoming>) -> Result<Request<Incoming>, Answer> {
        // `TRACE` repeats all headers
        if matches!(*request.method(), Method::TRACE | Method::CONNECT) {
            return Err(Answer::new(
                405,
                "symphony: this method is not passed on.\n",
            ));
        }
        let uri = request.uri();
        let place = if uri.authority().is_some() {
            None
        } else {
            self.base.place(uri.path(), uri.query())
        };
        let uri: Option<Uri> = place.and_then(|place| place.parse().ok());
        let uri = uri.ok_or_else(|| {
            Answer::new(
                400,
                "symphony: the path of the request is not plain (`.`, `..`, `%25`).\n",
            )
        })?;
        *request.uri_mut() = uri;
        *request.version_mut() = Version::HTTP_11;
        let headers = request.headers_mut();
        remove_hop_by_hop(headers);
        for name in &NOT_PASSED_ON {
            headers.remove(name);
        }
        set_host(headers, &self.base.authority());
        // a credential cannot be found in what is compressed
        headers.insert(
            header::ACCEPT_ENCODING,
            header::HeaderValue::from_static("identity"),
        );
        for credential in &self.credentials {
            headers.insert(&credential.name, credential.value.header());
        }
        Ok(request)
    }

    /// Sends a request on a connection that is free, or on a new one.
    async fn send(&self, mut request: Request<Incoming>) -> Result<Response<Incoming>, Answer> {
        while let Some(mut sender) = self.pool.take() {
            match sender.try_send_request(request).await {
                Ok(response) => {
                    self.pool.put(sender);
                    return Ok(response);
                }
                // the server closed it before anything was sent
                Err(mut error) => match error.take_message() {
                    Some(message) => request = message,
                    None => return Err(self.closed(error.error())),
                },
            }
        }
        let stream = self.connect().await?;
        let mut sender = start_client(stream)
            .await
            .map_err(|error| self.closed(&error))?;
        let response = sender
            .send_request(request)
            .await
            .map_err(|error| self.closed(&error))?;
        self.pool.put(sender);
        Ok(response)
    }

    async fn connect(&self) -> Result<Box<dyn Stream>, Answer> {
        let target = &self.base.target;
        let stream: Box<dyn Stream> = match self.route.upstream_for(target) {
            Some(upstream) if self.base.is_tls => {
                Box::new(self.route.tunnel(upstream, target).await?)
            }
            _ => Box::new(self.route.open_trusted(target).await?),
        };
        if !self.base.is_tls {
            return Ok(stream);
        }
        let limit = self.route.limits.connect;
        match tokio::time::timeout(limit, self.tls.connect(target, stream)).await {
            Ok(Ok(stream)) => Ok(Box::new(stream)),
            Ok(Err(error)) => Err(Answer::new(
                502,
                format!("symphony: TLS with {target} failed: {error}.\n"),
            )),
            Err(_) => Err(Answer::new(
                504,
                format!("symphony: TLS with {target} took too long.\n"),
            )),
        }
    }

    fn closed(&self, error: &hyper::Error) -> Answer {
        if error.is_user() {
            // The agent did not send the whole of it: no fault of the server's.
            return Answer::new(
                400,
                "symphony: the request was not sent whole.\n".to_owned(),
            );
        }
        no_answer(&self.base.target, error)
    }
}

fn base_url_error(url: &str, fault: BaseUrlFault) -> ProxyError {
    // what is before an `@` may be a password
    let url = if url.contains('@') { "..." } else { url };
    ProxyError::BaseUrl {
        url: url.to_owned(),
        fault,
    }
}

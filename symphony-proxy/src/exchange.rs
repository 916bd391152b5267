//! One request and its answer over HTTP/1.1: what is passed on, and what is not.

use std::convert::Infallible;
use std::future::Future;
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::SendRequest;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, Version};
use hyper_util::rt::{TokioIo, TokioTimer};

use crate::answer::Answer;
use crate::head::{HEAD_BYTES_MAX, HEADERS_MAX, Head, scan};
use crate::host::Target;
use crate::redact::{Needles, Redacted};
use crate::stream::Stream;

/// Most bytes that HTTP holds for each direction of each side, and so the longest head of an
/// answer: providers and registries send a few KiB.
const BUFFER_BYTES_MAX: usize = 64 * 1024;

/// The body of an answer to the agent.
pub(crate) type AnswerBody = BoxBody<Bytes, hyper::Error>;

/// Reads and checks the head of a request; the bytes include what came after it.
///
/// # Errors
///
/// 400 or 408; `None` if the agent closed the connection without sending anything.
pub(crate) async fn read_head(
    stream: &mut impl Stream,
    limit: Duration,
) -> Result<(Head, Vec<u8>), Option<Answer>> {
    let mut bytes = Vec::with_capacity(1024);
    match tokio::time::timeout(limit, read_until_end(stream, &mut bytes)).await {
        Ok(read) => read.map(|head| (head, bytes)),
        Err(_) if bytes.is_empty() => Err(None),
        Err(_) => Err(Some(Answer::new(
            408,
            format!(
                "symphony: the head of the request did not end within {} s.\n",
                limit.as_secs()
            ),
        ))),
    }
}

async fn read_until_end(
    stream: &mut impl Stream,
    bytes: &mut Vec<u8>,
) -> Result<Head, Option<Answer>> {
    use tokio::io::AsyncReadExt as _;
    let malformed = |why: &dyn std::fmt::Display| {
        Answer::new(
            400,
            format!("symphony: the request is not understood: {why}.\n"),
        )
    };
    loop {
        let before = bytes.len();
        let count = stream.read_buf(bytes).await.unwrap_or(0);
        if count == 0 {
            let is_cut = before > 0;
            return Err(is_cut.then(|| malformed(&"it ends within its head")));
        }
        // scanned once at the beginning and once at the end: a head that comes byte by byte costs
        // no more than one that comes as a whole
        let new = bytes.get(before.saturating_sub(3)..).unwrap_or_default();
        let is_due = before == 0
            || bytes.len() >= HEAD_BYTES_MAX
            || memchr::memmem::find(new, b"\r\n\r\n").is_some();
        if is_due {
            match scan(bytes) {
                Ok(Some(head)) => return Ok(head),
                Ok(None) => {}
                Err(fault) => return Err(Some(malformed(&fault))),
            }
        }
    }
}

/// Serves the one request whose head was checked, and closes the connection after its answer.
pub(crate) async fn serve_one<F>(
    stream: impl Stream,
    respond: impl Fn(Request<Incoming>) -> F,
) -> hyper::Result<()>
where
    F: Future<Output = Response<AnswerBody>>,
{
    let service = service_fn(|request| {
        let answer = respond(request);
        async { Ok::<_, Infallible>(answer.await) }
    });
    hyper::server::conn::http1::Builder::new()
        // a second request on the connection would not have been checked
        .keep_alive(false)
        .timer(TokioTimer::new())
        .header_read_timeout(None)
        .max_headers(HEADERS_MAX)
        .max_buf_size(BUFFER_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), service)
        .await
}

/// Starts HTTP on a connection to a server. The connection ends with its last user.
pub(crate) async fn start_client(stream: impl Stream) -> hyper::Result<SendRequest<Incoming>> {
    let (sender, connection) = hyper::client::conn::http1::Builder::new()
        .max_buf_size(BUFFER_BYTES_MAX)
        .handshake(TokioIo::new(stream))
        .await?;
    tokio::spawn(async move {
        // its user sees the same error
        let _ended = connection.await;
    });
    Ok(sender)
}

/// Removes headers that are for one connection only (RFC 9110, section 7.6.1), and those for a proxy.
pub(crate) fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let listed: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    let known = [
        header::CONNECTION,
        header::PROXY_AUTHENTICATE,
        header::PROXY_AUTHORIZATION,
        header::TE,
        header::TRANSFER_ENCODING,
        header::UPGRADE,
        HeaderName::from_static("keep-alive"),
        HeaderName::from_static("proxy-connection"),
        HeaderName::from_static("proxy-authentication-info"),
        // the proxy itself has answered it
        header::EXPECT,
    ];
    for name in listed.iter().chain(&known) {
        headers.remove(name);
    }
}

/// Sets the host of a request to the one that was checked, whatever the agent wrote.
pub(crate) fn set_host(headers: &mut HeaderMap, authority: &str) {
    if let Ok(value) = HeaderValue::from_str(authority) {
        headers.insert(header::HOST, value);
    }
}

/// Passes an answer on without what is for one connection only, and without credentials.
pub(crate) fn pass_on(response: Response<Incoming>, needles: &Needles) -> Response<AnswerBody> {
    // no upgrade was asked for, and a proxy's challenge is not for the agent
    let status = response.status();
    if status == StatusCode::SWITCHING_PROTOCOLS
        || status == StatusCode::PROXY_AUTHENTICATION_REQUIRED
    {
        return respond(
            502,
            format!("symphony: the server answered {}.\n", status.as_u16()),
        );
    }
    let (mut parts, body) = response.into_parts();
    parts.version = Version::HTTP_11;
    // the words after the status code are among them, and could repeat a credential
    parts.extensions.clear();
    remove_hop_by_hop(&mut parts.headers);
    needles.clean(&mut parts.headers);
    Response::from_parts(parts, Redacted::new(body, needles.clone()).boxed())
}

/// Makes an answer of the proxy's own.
pub(crate) fn respond(status: u16, text: impl Into<String>) -> Response<AnswerBody> {
    let body = Full::new(Bytes::from(text.into()))
        .map_err(|never| match never {})
        .boxed();
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, plain);
    response
}

/// Makes an answer of the proxy's own from one that was for a raw connection.
pub(crate) fn respond_with(answer: Answer) -> Response<AnswerBody> {
    respond(answer.status, answer.text)
}

/// Says that a server did not answer in a way that can be passed on.
pub(crate) fn no_answer(target: &Target, error: &hyper::Error) -> Answer {
    Answer::new(
        502,
        format!("symphony: {target} gave no valid answer: {error}.\n"),
    )
}

//! Connections: their number, and how long a handshake and a request may take to arrive.

use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::HeaderValue;
use axum::http::header::STRICT_TRANSPORT_SECURITY;
use axum::middleware::map_response;
use axum::response::Response;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_rustls::server::TlsStream;

use super::listen::Listener;
use super::patient::Patient;
use super::places::{Place, Places};
use super::site::Site;
use super::tls::Tls;
use crate::routes::router;

/// Time for the head of a request, and for the TLS handshake before the first one.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// Time in which a client has to take a part of an answer.
const TAKE_TIME: Duration = Duration::from_secs(30);

/// Bytes of the head of a request.
const HEAD_BYTES: usize = 32 * 1024;

/// Headers of a request.
const HEADERS_MAX: usize = 64;

/// Time that requests under way have once the server ends.
const GRACE: Duration = Duration::from_secs(2);

/// Pause after a connection could not be accepted: too many open files, for example.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How long browsers use TLS alone for the host, on all of its ports: as long as a session lasts.
const STRICT_TRANSPORT: HeaderValue = HeaderValue::from_static("max-age=2592000");

/// The answer to a request without TLS.
const WITHOUT_TLS: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 45\r\nConnection: close\r\n\r\n\
    This server speaks TLS: begin with https://.\n";

/// The first byte of a TLS handshake.
const HANDSHAKE: u8 = 0x16;

/// Bytes of a request without TLS that are read before the connection is closed: bytes that nobody has read would take the answer
/// with them.
const REQUEST_BYTES: u64 = 64 * 1024;

/// Answers requests until `stop` resolves.
///
/// # Errors
/// When the listener is broken.
pub async fn serve(
    listener: Listener,
    site: Arc<Site>,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let router = match &listener {
        Listener::Tls(..) => router(&site).layer(map_response(with_strict_transport)),
        Listener::Tcp(..) | Listener::Unix(..) => router(&site),
    };
    let places = Places::new();
    let (ending, _) = watch::channel(false);
    let accept = async {
        loop {
            let Some(free) = places.free().await else {
                return;
            };
            let service = TowerToHyperService::new(router.clone());
            let end = ending.subscribe();
            match &listener {
                Listener::Tcp(first, second) => match accept(first, second.as_ref()).await {
                    Ok((stream, from)) => {
                        if let Some(place) = places.give(free, Some(from)) {
                            tokio::spawn(connection(stream, service, end, place));
                        }
                    }
                    Err(error) => refused(&error).await,
                },
                Listener::Tls(first, second, tls) => match accept(first, second.as_ref()).await {
                    Ok((stream, from)) => {
                        if let Some(place) = places.give(free, Some(from)) {
                            let tls = Arc::clone(tls);
                            tokio::spawn(secured(tls, stream, service, end, place));
                        }
                    }
                    Err(error) => refused(&error).await,
                },
                Listener::Unix(listener, _) => match listener.accept().await {
                    Ok((stream, _)) => {
                        if let Some(place) = places.give(free, None) {
                            tokio::spawn(connection(stream, service, end, place));
                        }
                    }
                    Err(error) => refused(&error).await,
                },
            }
        }
    };
    tokio::select! {
        () = accept => {}
        () = stop => {}
    }
    let _none_listens = ending.send(true);
    site.end();
    let _elapsed = tokio::time::timeout(GRACE, places.all_free()).await;
    Ok(())
}

/// Accepts a connection to either address.
async fn accept(
    first: &TcpListener,
    second: Option<&TcpListener>,
) -> io::Result<(TcpStream, IpAddr)> {
    let second = async {
        match second {
            Some(listener) => listener.accept().await,
            None => std::future::pending().await,
        }
    };
    let accepted = tokio::select! {
        accepted = first.accept() => accepted,
        accepted = second => accepted,
    };
    let (stream, from) = accepted?;
    // answers are written whole: nothing is gained by waiting for more
    let _best_effort = stream.set_nodelay(true);
    Ok((stream, from.ip()))
}

async fn refused(error: &io::Error) {
    tracing::warn!(%error, "a connection could not be accepted");
    tokio::time::sleep(ACCEPT_PAUSE).await;
}

async fn with_strict_transport(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(STRICT_TRANSPORT_SECURITY, STRICT_TRANSPORT);
    response
}

/// Takes a connection through its handshake, and serves it. It has its place from the beginning, so a client that sends nothing must
/// not keep it.
async fn secured(
    tls: Arc<Tls>,
    stream: TcpStream,
    service: TowerToHyperService<axum::Router>,
    mut end: watch::Receiver<bool>,
    place: Place,
) {
    let shaken = tokio::select! {
        shaken = tokio::time::timeout(HEAD_TIME, shake_hands(&tls, stream)) => shaken,
        _ = end.changed() => return,
    };
    match shaken {
        Ok(Ok(Some(stream))) => connection(stream, service, end, place).await,
        Ok(Ok(None)) => {}
        Ok(Err(error)) => tracing::debug!(%error, "a handshake failed"),
        Err(_elapsed) => tracing::debug!("a handshake took too long"),
    }
}

/// Takes a connection through its handshake; none where the client does not speak TLS, and was answered so.
async fn shake_hands(
    tls: &Arc<Tls>,
    mut stream: TcpStream,
) -> io::Result<Option<TlsStream<TcpStream>>> {
    let mut first = [0];
    stream.peek(&mut first).await?;
    if first == [HANDSHAKE] {
        let shaken = tls.accept(stream, Instant::now()).await;
        return shaken.map(Some);
    }
    // a method: somebody has typed the address without https
    if first.iter().all(u8::is_ascii_uppercase) {
        stream.write_all(WITHOUT_TLS).await?;
        stream.shutdown().await?;
        let mut rest = stream.take(REQUEST_BYTES);
        tokio::io::copy(&mut rest, &mut tokio::io::sink()).await?;
    }
    Ok(None)
}

async fn connection<S>(
    stream: S,
    service: TowerToHyperService<axum::Router>,
    mut end: watch::Receiver<bool>,
    place: Place,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD_BYTES)
        .max_headers(HEADERS_MAX);
    let connection =
        builder.serve_connection(TokioIo::new(Patient::new(stream, TAKE_TIME)), service);
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        _ = end.changed() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
    drop(place);
}

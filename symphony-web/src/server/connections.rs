//! Connections: their number, and how long a request may take to arrive.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

use super::listen::Listener;
use super::patient::Patient;
use super::site::Site;
use crate::routes::router;

/// Connections at once. Further ones wait.
const CONNECTIONS_MAX: usize = 512;

/// Time for the head of a request.
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

/// Answers requests until `stop` resolves.
///
/// # Errors
/// When the listener is broken.
pub async fn serve(
    listener: Listener,
    site: Arc<Site>,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let router = router(&site);
    let slots = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let (ending, _) = watch::channel(false);
    let accept = async {
        loop {
            let Ok(slot) = Arc::clone(&slots).acquire_owned().await else {
                return;
            };
            let service = TowerToHyperService::new(router.clone());
            let end = ending.subscribe();
            match &listener {
                Listener::Tcp(first, second) => match accept(first, second.as_ref()).await {
                    Ok(stream) => {
                        // answers are written whole: nothing is gained by waiting for more
                        let _best_effort = stream.set_nodelay(true);
                        tokio::spawn(connection(stream, service, end, slot));
                    }
                    Err(error) => refused(&error).await,
                },
                Listener::Unix(listener, _) => match listener.accept().await {
                    Ok((stream, _)) => {
                        tokio::spawn(connection(stream, service, end, slot));
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
    let all = u32::try_from(CONNECTIONS_MAX).unwrap_or(u32::MAX);
    let _elapsed = tokio::time::timeout(GRACE, slots.acquire_many(all)).await;
    Ok(())
}

/// Accepts a connection to either address.
async fn accept(first: &TcpListener, second: Option<&TcpListener>) -> io::Result<TcpStream> {
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
    accepted.map(|(stream, _)| stream)
}

async fn refused(error: &io::Error) {
    tracing::warn!(%error, "a connection could not be accepted");
    tokio::time::sleep(ACCEPT_PAUSE).await;
}

async fn connection<S>(
    stream: S,
    service: TowerToHyperService<axum::Router>,
    mut end: watch::Receiver<bool>,
    slot: tokio::sync::OwnedSemaphorePermit,
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
    drop(slot);
}

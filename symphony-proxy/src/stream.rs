//! The agent's side of a connection: bytes are counted, and silence is noticed.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use crate::report::Ledger;

/// Any connection.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin + 'static> Stream for S {}

/// When bytes last moved.
#[derive(Debug)]
pub(crate) struct Meter {
    start: Instant,
    last_ms: AtomicU64,
    ledger: Arc<Ledger>,
}

impl Meter {
    pub(crate) fn new(ledger: Arc<Ledger>) -> Arc<Self> {
        Arc::new(Self {
            start: Instant::now(),
            last_ms: AtomicU64::new(0),
            ledger,
        })
    }

    fn moved(&self, received: usize, sent: usize) {
        let now = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_ms.store(now, Ordering::Relaxed);
        self.ledger.carry(received, sent);
    }

    /// Returns when no byte has moved for as long as `limit`.
    pub(crate) async fn idle(&self, limit: Duration) {
        loop {
            let last = self.start + Duration::from_millis(self.last_ms.load(Ordering::Relaxed));
            let end = last + limit;
            if Instant::now() >= end {
                return;
            }
            tokio::time::sleep_until(end).await;
        }
    }
}

/// Carries a connection to its end, or until no byte has moved for as long as `idle`, and counts its bytes.
pub(crate) async fn metered<S, F>(
    stream: S,
    ledger: &Arc<Ledger>,
    idle: Duration,
    exchange: impl FnOnce(Metered<S>) -> F,
) where
    F: Future<Output = ()>,
{
    let meter = Meter::new(Arc::clone(ledger));
    let stream = Metered {
        inner: stream,
        meter: Arc::clone(&meter),
    };
    tokio::select! {
        () = exchange(stream) => {}
        () = meter.idle(idle) => {}
    }
}

/// A stream whose bytes are counted.
#[derive(Debug)]
pub(crate) struct Metered<S> {
    inner: S,
    meter: Arc<Meter>,
}

impl<S: Stream> AsyncRead for Metered<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buffer))?;
        self.meter.moved(0, buffer.filled().len() - before);
        Poll::Ready(Ok(()))
    }
}

impl<S: Stream> AsyncWrite for Metered<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let count = ready!(Pin::new(&mut self.inner).poll_write(cx, bytes))?;
        self.meter.moved(count, 0);
        Poll::Ready(Ok(count))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let count = ready!(Pin::new(&mut self.inner).poll_write_vectored(cx, slices))?;
        self.meter.moved(count, 0);
        Poll::Ready(Ok(count))
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}

/// A stream from which some bytes were already read, which come again.
#[derive(Debug)]
pub(crate) struct Rewound<S> {
    inner: S,
    bytes: Vec<u8>,
    at: usize,
}

impl<S> Rewound<S> {
    pub(crate) fn new(inner: S, bytes: Vec<u8>) -> Self {
        Self {
            inner,
            bytes,
            at: 0,
        }
    }
}

impl<S: Stream> AsyncRead for Rewound<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let rest = this.bytes.get(this.at..).unwrap_or_default();
        if rest.is_empty() {
            return Pin::new(&mut this.inner).poll_read(cx, buffer);
        }
        let count = rest.len().min(buffer.remaining());
        buffer.put_slice(rest.split_at(count).0);
        this.at += count;
        Poll::Ready(Ok(()))
    }
}

impl<S: Stream> AsyncWrite for Rewound<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}

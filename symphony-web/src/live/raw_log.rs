//! A whole log as a text file. It is read as its client takes it: the server never holds more than a few parts of it.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Extension, Path};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_core::Stream;
use symphony_runner::output::open_log;
use tokio::sync::mpsc;

use super::log_part::RunLog;
use super::stream::PATIENCE;
use crate::server::{Failure, Turn, blocking, check_scope, failed};

/// Bytes that are read at once.
const PART_BYTES: usize = 128 * 1024;

/// Parts that wait for a client.
const QUEUE: usize = 1;

/// Answers with the log of a run as a text file.
pub(crate) async fn raw_log(
    Extension(turn): Extension<Turn>,
    id: Result<Path<String>, PathRejection>,
) -> Response {
    let Ok(Path(id)) = id else {
        return failed(&Failure::Malformed, Some(&turn));
    };
    let opened = blocking(turn.clone(), move |session, turn| {
        check_scope(session, turn, &id)?;
        let run = session.store.find_run(&id)?;
        let log = RunLog::of(session, &run)?;
        let missing = || Failure::NotFound(format!("run {} no longer has a log", run.id));
        let file = open_log(&log.path).ok().flatten().ok_or_else(missing)?;
        let unreadable =
            |error: io::Error| Failure::Internal(format!("the log cannot be read: {error}"));
        let size = file.metadata().map_err(unreadable)?.len();
        Ok((file, size))
    });
    match opened.await {
        Ok((file, size)) => {
            let headers = [
                (header::CONTENT_TYPE, "text/plain; charset=utf-8".to_owned()),
                (header::CONTENT_LENGTH, size.to_string()),
            ];
            (headers, Body::from_stream(parts(file, size))).into_response()
        }
        Err(failure) => failed(&failure, Some(&turn)),
    }
}

/// The parts of a file, in order.
struct Parts(mpsc::Receiver<io::Result<Vec<u8>>>);

impl Stream for Parts {
    type Item = io::Result<Vec<u8>>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context)
    }
}

/// Reads the first `size` bytes of a file. What is appended meanwhile is left out: the answer says how long it is. A log whose middle
/// is left out meanwhile is another file, so that this one stays as it is.
fn parts(file: File, size: u64) -> Parts {
    let (sender, receiver) = mpsc::channel(QUEUE);
    tokio::spawn(async move {
        let file = Arc::new(file);
        let mut at = 0;
        while at < size {
            let file = Arc::clone(&file);
            let wanted = part_bytes(size - at);
            // a thread for each part, not for the whole file: a slow client must not hold one
            let read = tokio::task::spawn_blocking(move || read_at(&file, at, wanted)).await;
            let part = read.unwrap_or_else(|error| Err(io::Error::other(error)));
            at += wanted as u64;
            let failed = part.is_err();
            let taken = tokio::time::timeout(PATIENCE, sender.send(part)).await;
            if failed || !matches!(taken, Ok(Ok(()))) {
                return;
            }
        }
    });
    Parts(receiver)
}

/// Returns how many of the bytes that are left are read next.
fn part_bytes(left: u64) -> usize {
    usize::try_from(left).map_or(PART_BYTES, |left| left.min(PART_BYTES))
}

fn read_at(file: &File, at: u64, wanted: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; wanted];
    file.read_exact_at(&mut bytes, at)?;
    Ok(bytes)
}

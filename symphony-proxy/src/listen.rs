//! Takes connections from a unix socket, a bounded number at a time.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinSet;

use crate::answer::Answer;
use crate::error::ProxyError;
use crate::report::Ledger;

/// Connections that are answered with 503 at the same time; more are closed at once.
const TURNED_AWAY_MAX: usize = 64;
/// Failures to accept in a row that end the listener: the process is out of descriptors for good.
const FAILURES_MAX: u32 = 200;
/// Pause after such a failure.
const FAILURE_PAUSE: Duration = Duration::from_millis(50);

/// Serves connections until `stop` resolves, and ends those that are open then.
///
/// # Errors
///
/// [`ProxyError::Accept`] if the socket takes no connections any more.
pub(crate) async fn listen<F>(
    listener: &UnixListener,
    connections_max: usize,
    ledger: &Arc<Ledger>,
    stop: impl Future<Output = ()>,
    serve: impl Fn(UnixStream) -> F,
) -> Result<(), ProxyError>
where
    F: Future<Output = ()> + Send + 'static,
{
    // dropped at the end, which ends what is in them
    let mut open = JoinSet::new();
    let mut turned_away = JoinSet::new();
    let mut stop = std::pin::pin!(stop);
    let mut failures = 0;
    loop {
        let accepted = tokio::select! {
            () = &mut stop => return Ok(()),
            accepted = listener.accept() => accepted,
        };
        while open.try_join_next().is_some() {}
        while turned_away.try_join_next().is_some() {}
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(source) if is_lasting(&source) || failures >= FAILURES_MAX => {
                return Err(ProxyError::Accept { source });
            }
            Err(_) => {
                failures += 1;
                tokio::time::sleep(FAILURE_PAUSE).await;
                continue;
            }
        };
        failures = 0;
        if open.len() < connections_max {
            open.spawn(serve(stream));
            continue;
        }
        ledger.count(|report| report.turned_away += 1);
        if turned_away.len() < TURNED_AWAY_MAX {
            turned_away.spawn(turn_away(stream, connections_max));
        }
    }
}

fn is_lasting(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported
    )
}

async fn turn_away(mut stream: UnixStream, connections_max: usize) {
    let text = format!(
        "symphony: the limit of {connections_max} open connections is reached; close some first.\n"
    );
    Answer::new(503, text).send(&mut stream).await;
}

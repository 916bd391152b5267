//! Work of a supervisor that ends early when a person asks for the end of its run.

use std::time::Duration;

use symphony_mcp::StoreThread;

use super::Job;

/// How often it is asked whether a person wants the end of the run.
const CANCEL_LOOK: Duration = Duration::from_millis(500);

/// Waits for some work; returns none when the run is to end before it is done. What the work started is then left to the caller.
pub(crate) async fn until_cancelled<T>(
    job: &Job<'_>,
    store: &StoreThread,
    work: impl Future<Output = T>,
) -> Option<T> {
    tokio::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => break Some(done),
            () = tokio::time::sleep(CANCEL_LOOK) => {
                if is_cancelled(job, store).await {
                    break None;
                }
            }
        }
    }
}

async fn is_cancelled(job: &Job<'_>, store: &StoreThread) -> bool {
    let run = job.run.id.clone();
    let asked = store.call(move |store| store.cancel_requested(&run)).await;
    matches!(asked, Ok(Ok(true)))
}

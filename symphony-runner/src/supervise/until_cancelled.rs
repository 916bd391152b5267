//! Work of a supervisor that ends early when a person requests the end of its run.

use std::time::Duration;

use symphony_mcp::StoreThread;

use super::Job;
use crate::error::RunnerError;

/// How often to check for a person's request.
const CANCEL_LOOK: Duration = Duration::from_millis(500);

/// Waits for some work. Returns `None` when the run is to end first, because a person asked for it or this host may not go on with
/// it; the caller then has to end whatever the work started.
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
                if must_end(job, store).await {
                    break None;
                }
            }
        }
    }
}

async fn must_end(job: &Job<'_>, store: &StoreThread) -> bool {
    if let Some(holding) = &job.holding {
        if holding.is_cancelled() || holding.release().is_some() {
            return true;
        }
        if !job.paths.asked_to_end().exists() {
            return false;
        }
    }
    let run = job.run.id.clone();
    let asked = store.call(move |store| store.cancel_requested(&run)).await;
    matches!(asked, Ok(Ok(true)))
}

/// Returns whether a person has asked for the end of the run.
pub(super) async fn is_cancelled(job: &Job<'_>, store: &StoreThread) -> Result<bool, RunnerError> {
    // Beats bring it back, too, up to 20 s later. The file is only a reason to ask: an agent could write it.
    if let Some(holding) = &job.holding
        && (holding.is_cancelled() || !job.paths.asked_to_end().exists())
    {
        return Ok(holding.is_cancelled());
    }
    let run = job.run.id.clone();
    let cancelled = store
        .call(move |store| store.cancel_requested(&run))
        .await?;
    // A busy database is no reason to end an agent.
    Ok(cancelled.unwrap_or_else(|error| {
        tracing::warn!(%error, "cannot ask whether the run was cancelled");
        false
    }))
}

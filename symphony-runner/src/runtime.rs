//! The runtime of a process that does one thing.

use std::path::Path;

use crate::error::RunnerError;

/// Runs a future on a runtime of one thread, and does not wait for what it leaves behind: a blocked read of some pipe
/// must not keep the process alive. The path appears in the error if there can be no runtime.
///
/// # Errors
/// When the runtime cannot be started.
pub(crate) fn block_on<F: Future>(place: &Path, work: F) -> Result<F::Output, RunnerError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| RunnerError::io("start the runtime for", place, error))?;
    let done = runtime.block_on(work);
    runtime.shutdown_background();
    Ok(done)
}

//! The standard error of the app-server: read so that it never blocks, kept as far as it may say why something ended, and
//! never parsed.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::summary::one_line;

/// Bytes that are kept of the end.
const TAIL_BYTES: usize = 4096;
/// Size of one read, in bytes.
const CHUNK_BYTES: usize = 64 * 1024;

/// The end of what the app-server writes to its standard error.
#[derive(Debug)]
pub(super) struct Diagnostics {
    tail: Arc<Mutex<Vec<u8>>>,
    task: JoinHandle<()>,
}

impl Diagnostics {
    /// Reads until the end.
    pub(super) fn read(mut errors: impl AsyncRead + Unpin + Send + 'static) -> Self {
        let tail = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&tail);
        let task = tokio::spawn(async move {
            let mut chunk = vec![0; CHUNK_BYTES];
            while let Ok(count @ 1..) = errors.read(&mut chunk).await {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend_from_slice(chunk.get(..count).unwrap_or_default());
                let cut = kept.len().saturating_sub(TAIL_BYTES);
                kept.drain(..cut);
            }
        });
        Self { tail, task }
    }

    /// Waits until all was read, or a limit: a process that ended may have left a child that keeps the stream open.
    pub(super) async fn settle(&mut self, limit: Duration) {
        let _it_goes_on = timeout(limit, &mut self.task).await;
    }

    /// Returns all that is kept.
    pub(super) fn text(&self) -> String {
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&tail).into_owned()
    }

    /// Returns the last line that is not blank, which mostly says why a program ended.
    pub(super) fn last_line(&self) -> Option<String> {
        let text = self.text();
        let mut lines = text.lines().map(str::trim);
        lines.rfind(|line| !line.is_empty()).map(one_line)
    }
}

impl Drop for Diagnostics {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn megabytes_leave_their_last_line() {
        let mut text = "x".repeat(4 * 1024 * 1024);
        text.push_str("\nfatal: no login\n\n");
        let mut diagnostics = Diagnostics::read(std::io::Cursor::new(text.into_bytes()));
        diagnostics.settle(Duration::from_mins(1)).await;
        assert_eq!(diagnostics.last_line().as_deref(), Some("fatal: no login"));
        assert!(diagnostics.text().len() <= TAIL_BYTES);
    }
}

//! Writes to an agent's standard input while its output is read: an agent that waits until its output is read may not
//! read its input meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;

/// Most bytes that wait for an agent that does not read: an honest one asks, and waits for the answer.
const WAITING_BYTES_MAX: usize = 32 * 1024 * 1024;

/// The writer of an agent's standard input. Dropped, or [closed](Self::close), it closes the input once all is written.
#[derive(Debug)]
pub struct InputWriter {
    lines: Option<UnboundedSender<Vec<u8>>>,
    waiting: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl InputWriter {
    /// Starts to write.
    pub fn new(mut input: impl AsyncWrite + Unpin + Send + 'static) -> Self {
        let (lines, mut to_write) = unbounded_channel::<Vec<u8>>();
        let waiting = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&waiting);
        let task = tokio::spawn(async move {
            while let Some(lines) = to_write.recv().await {
                let written = async {
                    input.write_all(&lines).await?;
                    input.flush().await
                };
                // An agent that has closed its input is about to end, or will be silent until its limits end it.
                if written.await.is_err() {
                    return;
                }
                counter.fetch_sub(lines.len(), Ordering::Relaxed);
            }
        });
        Self {
            lines: Some(lines),
            waiting,
            task,
        }
    }

    /// Queues lines. Returns false if too much waits already: the agent does not read.
    #[must_use]
    pub fn write(&self, lines: Vec<u8>) -> bool {
        let length = lines.len();
        let waits = self.waiting.fetch_add(length, Ordering::Relaxed);
        if waits.saturating_add(length) > WAITING_BYTES_MAX {
            return false;
        }
        if let Some(sender) = &self.lines {
            let _the_agent_has_closed_its_input = sender.send(lines);
        }
        true
    }

    /// Closes the input once all is written.
    pub fn close(&mut self) {
        self.lines = None;
    }

    /// Stops writing at once.
    pub fn abort(&self) {
        self.task.abort();
    }
}

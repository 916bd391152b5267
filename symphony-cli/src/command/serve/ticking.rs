//! Ticks beside the page: each in a process of its own, as cron starts them, so that one that hangs does not hold up the page.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// A thread that ticks. It ends when this is dropped, after the tick that runs.
#[derive(Debug)]
pub(super) struct Ticking {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Ticking {
    /// Ticks at once, and again each time after a pause.
    pub(super) fn start(executable: PathBuf, root: PathBuf, pause: Duration) -> Self {
        let (stop, stopped) = channel::<()>();
        let thread = std::thread::spawn(move || {
            loop {
                tick(&executable, &root);
                if stopped.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        });
        Self {
            stop: Some(stop),
            thread: Some(thread),
        }
    }
}

impl Drop for Ticking {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // it ends by itself; a panic in it was printed
            let _ended = thread.join();
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a tick is a command that a person types; it ends by itself"
)]
fn tick(executable: &Path, root: &Path) {
    let tick = Command::new(executable)
        .arg("-C")
        .arg(root)
        .args(["--quiet", "tick"])
        .stdin(Stdio::null())
        .status();
    match tick {
        Ok(status) if !status.success() => tracing::debug!(%status, "a tick had something to say"),
        Ok(_) => {}
        Err(error) => tracing::warn!(%error, "no tick could be started"),
    }
}

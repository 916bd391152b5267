//! Ticks beside the page: each in a process of its own, as cron starts them, so that one that hangs does not hold up the page.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use symphony_web::{Refreshed, Refresher};

/// A thread that ticks. It ends when this is dropped, after the tick that runs.
#[derive(Debug)]
pub(super) struct Ticking {
    wishes: SyncSender<()>,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Ticking {
    /// Ticks at once and again each time after a pause, and when it is asked for; without a pause only then.
    pub(super) fn start(executable: PathBuf, root: PathBuf, pause: Option<Duration>) -> Self {
        // one tick that has not begun answers all who ask for one
        let (wishes, wished) = sync_channel::<()>(1);
        let ends = Arc::new(AtomicBool::new(false));
        let end = Arc::clone(&ends);
        let thread = std::thread::spawn(move || {
            if pause.is_some() {
                tick(&executable, &root);
            }
            while is_due(&wished, pause) && !end.load(Ordering::Acquire) {
                tick(&executable, &root);
            }
        });
        Self {
            wishes,
            ends,
            thread: Some(thread),
        }
    }

    /// Returns what asks for a tick.
    pub(super) fn refresher(&self) -> Refresher {
        let wishes = self.wishes.clone();
        Refresher::new(move || match wishes.try_send(()) {
            Err(TrySendError::Full(())) => Refreshed::WithAnother,
            Ok(()) | Err(TrySendError::Disconnected(())) => Refreshed::Alone,
        })
    }
}

/// Waits until the next tick is due; says whether there is one.
fn is_due(wished: &Receiver<()>, pause: Option<Duration>) -> bool {
    match pause {
        Some(pause) => wished.recv_timeout(pause) != Err(RecvTimeoutError::Disconnected),
        None => wished.recv().is_ok(),
    }
}

impl Drop for Ticking {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Release);
        // it looks when it wakes up; where a wish waits for it, it wakes up anyway
        let _wakes_up = self.wishes.try_send(());
        if let Some(thread) = self.thread.take() {
            // the thread ends by itself, and has printed its panic
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
        Ok(status) if !status.success() => tracing::debug!(%status, "a tick printed a problem"),
        Ok(_) => {}
        Err(error) => tracing::warn!(%error, "no tick could be started"),
    }
}

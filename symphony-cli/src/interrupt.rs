//! Ctrl-C as a counter that loops read.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tokio::signal::unix::{SignalKind, signal};

/// Time for a second press after the first one was answered.
const SECOND_PRESS_MAX: Duration = Duration::from_secs(3);
/// Time between two looks meanwhile.
const LOOK: Duration = Duration::from_millis(100);

/// How often Ctrl-C was pressed since it is listened to. SIGTERM counts as the first press, however often it comes: what
/// ends a process in time sends it to the process and to its group.
#[derive(Debug, Clone)]
pub(crate) struct Interrupts {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    count: AtomicUsize,
    lock: Mutex<()>,
    pressed: Condvar,
}

impl Interrupts {
    /// Begins to listen: from now on Ctrl-C does not end the process.
    ///
    /// # Errors
    /// When signals cannot be listened to.
    pub(crate) fn listen() -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (mut interrupt, mut terminate) = {
            let _inside = runtime.enter();
            (
                signal(SignalKind::interrupt())?,
                signal(SignalKind::terminate())?,
            )
        };
        let listener = Arc::clone(&shared);
        thread::Builder::new()
            .name("interrupts".to_owned())
            .spawn(move || {
                runtime.block_on(async {
                    loop {
                        let heard = tokio::select! {
                            pressed = interrupt.recv() => pressed.map(|()| {
                                listener.count.fetch_add(1, Ordering::SeqCst)
                            }),
                            ended = terminate.recv() => ended.map(|()| {
                                listener.count.fetch_max(1, Ordering::SeqCst)
                            }),
                        };
                        if heard.is_none() {
                            return;
                        }
                        listener.pressed.notify_all();
                    }
                });
            })?;
        Ok(Self { shared })
    }

    /// Returns how often it was pressed.
    pub(crate) fn count(&self) -> usize {
        self.shared.count.load(Ordering::SeqCst)
    }

    /// Waits for a second press, three seconds at most; says whether it came. One that came is seen, however late the
    /// machine lets this process go on.
    pub(crate) fn wait_for_second(&self) -> bool {
        let begun = Instant::now();
        while self.count() < 2 && begun.elapsed() < SECOND_PRESS_MAX {
            self.wait(LOOK);
        }
        self.count() > 1
    }

    /// Waits for a while, or until it is pressed.
    pub(crate) fn wait(&self, limit: Duration) {
        let guard = self
            .shared
            .lock
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // woken early or late, the caller looks again
        let _woken = self.shared.pressed.wait_timeout(guard, limit);
    }
}

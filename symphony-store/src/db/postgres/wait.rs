//! Waiting for a future where no runtime drives it: the store is used by programs with and without one.
//!
//! One thread of the process serves all connections. Whoever waits sleeps, also in the middle of a runtime of its own, which could not wait
//! for a second one.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Wake};
use std::thread::Thread;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Handle};

/// Longest sleep. What is waited for wakes its thread; this only bounds what one that was missed would cost.
const SLEEP_MAX: Duration = Duration::from_secs(1);

/// Returns the runtime whose thread serves the connections.
///
/// # Errors
/// When the system has no thread for it.
pub(super) fn runtime() -> io::Result<&'static Handle> {
    static SERVING: OnceLock<Handle> = OnceLock::new();
    if let Some(handle) = SERVING.get() {
        return Ok(handle);
    }
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let handle = runtime.handle().clone();
    std::thread::Builder::new()
        .name("postgres".to_owned())
        .spawn(move || runtime.block_on(std::future::pending::<()>()))?;
    // two that begin at once make two threads, of which one is used
    Ok(SERVING.get_or_init(|| handle))
}

struct Sleeper(Thread);

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits until a future is ready; `None` when the time is over, after which it can be waited for again.
pub(super) fn wait<F: Future>(mut future: Pin<&mut F>, limit: Duration) -> Option<F::Output> {
    let begun = Instant::now();
    let waker = Arc::new(Sleeper(std::thread::current())).into();
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return Some(value);
        }
        let left = limit.checked_sub(begun.elapsed())?;
        std::thread::park_timeout(left.min(SLEEP_MAX));
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use super::*;

    #[test]
    fn a_future_is_waited_for_inside_of_a_runtime_too() {
        let asked = || {
            let mut task = runtime().unwrap().spawn(async {
                tokio::time::sleep(Duration::from_millis(20)).await;
                7
            });
            wait(Pin::new(&mut task), Duration::from_secs(10))
        };
        assert_eq!(asked().unwrap().unwrap(), 7);
        let other = Builder::new_current_thread().build().unwrap();
        assert_eq!(other.block_on(async { asked() }).unwrap().unwrap(), 7);
    }

    #[test]
    fn the_time_of_what_is_never_ready_ends() {
        let begun = Instant::now();
        let mut never = pin!(std::future::pending::<()>());
        assert_eq!(wait(never.as_mut(), Duration::from_millis(30)), None);
        assert!(begun.elapsed() >= Duration::from_millis(30));
        assert_eq!(wait(never, Duration::ZERO), None);
    }
}

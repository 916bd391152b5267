//! Work for which neither runs nor the end of the worker wait: a thread does it from time to time, one at a time.

use std::io;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Work that is done from time to time.
#[derive(Debug)]
pub(super) struct Chore<T> {
    name: &'static str,
    due: Instant,
    work: Option<JoinHandle<T>>,
}

impl<T: Send + 'static> Chore<T> {
    /// Makes one that is due in a while. Its thread gets the name.
    pub(super) fn new(name: &'static str, first: Duration) -> Self {
        Self {
            name,
            due: Instant::now() + first,
            work: None,
        }
    }

    /// Returns what the work came to if it has ended since the last look; `lost` if its thread panicked.
    pub(super) fn ended(&mut self, lost: impl FnOnce() -> T) -> Option<T> {
        let work = self.work.take_if(|work| work.is_finished())?;
        Some(work.join().unwrap_or_else(|_panic| lost()))
    }

    /// Returns whether it can begin: it is due, and not at work.
    pub(super) fn is_due(&self) -> bool {
        self.work.is_none() && Instant::now() >= self.due
    }

    /// Lets it be due again after a pause.
    pub(super) fn put_off(&mut self, pause: Duration) {
        self.due = Instant::now() + pause;
    }

    /// Starts the thread. The process ends without waiting for it.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub(super) fn begin(&mut self, work: impl FnOnce() -> T + Send + 'static) -> io::Result<()> {
        let name = self.name.to_owned();
        self.work = Some(std::thread::Builder::new().name(name).spawn(work)?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn one_is_at_work_at_a_time_and_its_result_is_told_once() {
        let mut chore = Chore::new("chore", Duration::ZERO);
        assert!(chore.is_due() && chore.ended(|| false).is_none());
        let (go, wait) = channel::<()>();
        chore.begin(move || wait.recv().is_ok()).unwrap();
        assert!(!chore.is_due() && chore.ended(|| false).is_none());
        go.send(()).unwrap();
        let ended = loop {
            if let Some(ended) = chore.ended(|| false) {
                break ended;
            }
            std::thread::yield_now();
        };
        assert!(ended);
        assert!(chore.is_due() && chore.ended(|| false).is_none());
        chore.put_off(Duration::from_hours(1));
        assert!(!chore.is_due());
    }
}

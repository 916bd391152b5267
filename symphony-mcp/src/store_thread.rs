//! The database on a thread of its own: a wait of ten seconds for its lock must not block streams and timers.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use symphony_store::Store;
use tokio::sync::oneshot;

use crate::error::McpError;

type Job = Box<dyn FnOnce(&mut Store) + Send>;
/// What the thread will own.
type Unstarted = (Store, Receiver<Job>);

/// A handle to the thread that owns the database's connection. Clones share the thread. It starts with the first piece
/// of work (clients list the tools first, and often ask for nothing else) and ends with the last handle.
#[derive(Debug, Clone)]
pub struct StoreThread {
    jobs: Sender<Job>,
    unstarted: Arc<Mutex<Option<Unstarted>>>,
}

impl StoreThread {
    /// Gives a store its thread.
    pub fn new(store: Store) -> Self {
        let (jobs, queue) = mpsc::channel();
        Self {
            jobs,
            unstarted: Arc::new(Mutex::new(Some((store, queue)))),
        }
    }

    /// Runs a piece of work on the store and returns what it returns.
    ///
    /// # Errors
    /// When the system cannot start a thread, or the thread has ended because an earlier piece of work panicked.
    pub async fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Store) -> T + Send + 'static,
    ) -> Result<T, McpError> {
        self.start_once()?;
        let (answer, result) = oneshot::channel();
        let job: Job = Box::new(move |store| {
            // The caller may have gone away; the work is done nevertheless.
            let _unsent = answer.send(work(store)).is_err();
        });
        self.jobs
            .send(job)
            .map_err(|_gone| McpError::StoreThreadGone)?;
        result.await.map_err(|_gone| McpError::StoreThreadGone)
    }

    fn start_once(&self) -> Result<(), McpError> {
        let unstarted = self
            .unstarted
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some((mut store, queue)) = unstarted {
            thread::Builder::new()
                .name("store".to_owned())
                .spawn(move || {
                    for job in queue {
                        job(&mut store);
                    }
                })
                .map_err(McpError::Transport)?;
        }
        Ok(())
    }
}

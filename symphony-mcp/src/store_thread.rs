//! The database on a thread of its own: a wait of ten seconds for its lock must not stop streams and timers.

use std::sync::mpsc;
use std::thread;

use symphony_store::Store;
use tokio::sync::oneshot;

use crate::error::McpError;

type Job = Box<dyn FnOnce(&mut Store) + Send>;

/// A handle to the thread that owns the database's connection. Clones share the thread; it ends with the last one.
#[derive(Debug, Clone)]
pub struct StoreThread {
    jobs: mpsc::Sender<Job>,
}

impl StoreThread {
    /// Gives a store its thread.
    ///
    /// # Errors
    /// When the system has no thread left.
    pub fn start(mut store: Store) -> Result<Self, McpError> {
        let (jobs, queue) = mpsc::channel::<Job>();
        thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || {
                for job in queue {
                    job(&mut store);
                }
            })
            .map_err(McpError::Transport)?;
        Ok(Self { jobs })
    }

    /// Runs a piece of work on the store and returns what it returns.
    ///
    /// # Errors
    /// When the thread is gone, because an earlier piece of work panicked.
    pub async fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Store) -> T + Send + 'static,
    ) -> Result<T, McpError> {
        let (answer, result) = oneshot::channel();
        let job: Job = Box::new(move |store| {
            // the caller may have gone away; the work is done all the same
            let _unsent = answer.send(work(store)).is_err();
        });
        self.jobs
            .send(job)
            .map_err(|_gone| McpError::StoreThreadGone)?;
        result.await.map_err(|_gone| McpError::StoreThreadGone)
    }
}

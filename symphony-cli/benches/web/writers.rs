//! Writers, as agents are: each writes to the database by itself, again and again.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use symphony_core::Timestamp;
use symphony_core::id::IssueId;
use symphony_store::{Context, Store};

/// Time between two writes of one writer.
const PAUSE: Duration = Duration::from_millis(500);

/// A write that is in the database.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Written {
    /// The number of its event, or of one that came right after it.
    pub(crate) event: i64,
    pub(crate) at: Instant,
}

/// Threads that write until they are stopped.
#[derive(Debug)]
pub(crate) struct Writers {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Vec<Written>>>,
}

impl Writers {
    pub(crate) fn start(database: &Path, count: usize) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let threads = (1..=count).map(|number| {
            let (stop, database) = (Arc::clone(&stop), database.to_owned());
            std::thread::spawn(move || write(number, &database, &stop))
        });
        Self {
            threads: threads.collect(),
            stop,
        }
    }

    /// Stops them, and returns what they wrote.
    pub(crate) fn stop(self) -> Vec<Written> {
        self.stop.store(true, Ordering::Relaxed);
        let written = self.threads.into_iter();
        written.flat_map(|thread| thread.join().unwrap()).collect()
    }
}

fn write(number: usize, database: &Path, stop: &AtomicBool) -> Vec<Written> {
    let mut store = Store::open(database).unwrap();
    let connection = Connection::open(database).unwrap();
    let issue = IssueId::parse(format!("BEN-{number}")).unwrap();
    let mut written = Vec::new();
    // not all at the same time
    std::thread::sleep(PAUSE.mul_f64(number as f64 / 20.0));
    while !stop.load(Ordering::Relaxed) {
        let context = Context::system(Timestamp::now());
        let text = format!("Comment {} of writer {number}", written.len());
        store.add_comment(&context, &issue, &text).unwrap();
        let at = Instant::now();
        let event = connection
            .query_row("SELECT max(id) FROM event", [], |row| row.get(0))
            .unwrap();
        written.push(Written { event, at });
        std::thread::sleep(PAUSE);
    }
    written
}

//! What a host writes of its own run, while the run is taken away from it.

use symphony_core::run::{Run, Usage};
use symphony_core::unit::Tokens;
use symphony_store::{Appended, RunProgress, RunStart, Store, StoreError};

use super::meeting::claimed;
use super::new_store;
use super::server::Server;
use crate::support::by;

/// How many sessions wait for a row that another one has.
const WAITING: &str = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";

/// A write of a run: what it is called, and whether it was refused.
type Write = (&'static str, fn(&mut Store, &Run) -> bool);

const WRITES: &[Write] = &[
    ("start", |store, run| {
        is_refused(&store.record_start(&by(run, 5), &run.id, &RunStart::default()))
    }),
    ("progress", |store, run| {
        let progress = RunProgress {
            last_event: "late".into(),
            usage: Usage {
                input_tokens: Tokens::new(9),
                ..Usage::default()
            },
        };
        is_refused(&store.record_progress(&by(run, 5), &run.id, &progress))
    }),
    ("log", |store, run| {
        let appended = store.append_run_log(&run.id, run.fence, 0, b"late");
        appended.unwrap() == Appended::Lost
    }),
    ("start commit", |store, run| {
        is_refused(&store.record_start_commit(&run.id, run.fence, "c1"))
    }),
    ("result", |store, run| {
        is_refused(&store.record_result_commit(&run.id, run.fence, "c2"))
    }),
];

fn is_refused<T>(written: &Result<T, StoreError>) -> bool {
    matches!(written, Err(StoreError::Superseded { .. }))
}

#[test]
fn nothing_is_written_of_a_run_that_is_taken_away_at_that_moment() {
    let Some(server) = Server::start("") else {
        return;
    };
    let address = server.address();
    let (mut store, schema) = new_store(&address);
    for (run, (name, write)) in claimed(&mut store, 5).iter().zip(WRITES) {
        let table = format!("\"{schema}\".run");
        // the transaction that takes it away is not over yet
        let taking = server.hold(&format!(
            "UPDATE {table} SET fence = fence + 100 WHERE id = '{}' RETURNING 'taken'",
            run.id
        ));
        let is_refused = std::thread::scope(|scope| {
            let written = scope.spawn(|| {
                let mut store = Store::connect(&address, &schema).unwrap();
                write(&mut store, run)
            });
            server.wait_for(WAITING, "1");
            taking.commit();
            written.join().unwrap()
        });
        assert!(is_refused, "{name}");
        let found = store.run(&run.id).unwrap();
        assert_eq!(found.status, run.status, "{name}");
        assert_eq!(found.usage, run.usage, "{name}");
        assert_eq!(store.run_log(&run.id, 0, 1).unwrap(), [], "{name}");
        let commits = store.run_commits(&run.id).unwrap();
        assert_eq!((commits.start, commits.result), (None, None), "{name}");
    }
}

//! Runs that write at the same moments: how many of their writes begin again because another one came between.

use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::run::{Run, RunStatus, RunTarget, Usage};
use symphony_core::spending::Spent;
use symphony_core::unit::{Tokens, UsdMicros};
use symphony_store::{ClaimLimits, RunProgress, Store};

use super::new_store;
use super::server::Server;
use crate::support::{add, by, finish, project, request, system};

const RUNS: u64 = 16;
/// Each run's progress: 2,000 writes in all.
const WRITES: u64 = 125;
/// How many of a hundred writes may begin again. It was every fifth while all of them met in one row of the project.
const REPEATED_PERCENT_MAX: u64 = 5;

fn usage(tokens: u64) -> Usage {
    Usage {
        input_tokens: Tokens::new(tokens),
        cost: Some(UsdMicros::new(2 * tokens)),
        ..Usage::default()
    }
}

#[test]
fn runs_that_spend_at_the_same_moment_do_not_wait_for_each_other() {
    let Some(server) = Server::start("-c max_connections=100 ") else {
        return;
    };
    let address = server.address();
    let (mut store, schema) = new_store(&address);
    let runs: Vec<Run> = (0..RUNS)
        .map(|n| {
            let issue = add(&mut store, &format!("issue {n}")).id;
            let target = RunTarget::Issue(issue.clone());
            let mut request = request(&format!("run-{n}"), target, AgentType::Worker);
            request.start.phase = store.issue(&issue).unwrap().phase();
            let limits = ClaimLimits::total(64);
            let mut claims = store.claim(&system(2), &[request], &limits).unwrap();
            claims.remove(0).unwrap()
        })
        .collect();
    let rolled_back = || -> u64 {
        let sql = "SELECT xact_rollback FROM pg_stat_database WHERE datname = 'postgres'";
        server.ask(sql).trim().parse().unwrap()
    };
    let before = rolled_back();
    std::thread::scope(|scope| {
        for run in &runs {
            let (address, schema) = (&address, &schema);
            scope.spawn(move || {
                let mut store = Store::connect(address, schema).unwrap();
                for n in 1..=WRITES {
                    let progress = RunProgress {
                        last_event: "[text] at work".into(),
                        usage: usage(n),
                    };
                    store
                        .record_progress(&by(run, 5), &run.id, &progress)
                        .unwrap();
                }
            });
        }
    });
    // the sessions have ended, and with that they have reported what they did
    let repeated = rolled_back() - before;
    println!("{repeated} of {} writes began again", RUNS * WRITES);
    let spent = |tokens| Spent {
        tokens: Tokens::new(tokens),
        usd: UsdMicros::new(2 * tokens),
    };
    let now = Timestamp::from_second(5).unwrap();
    let all = |store: &Store| store.spent_in_all(&project(), now).unwrap();
    assert_eq!(all(&store), spent(RUNS * WRITES), "while they live");
    for run in &runs {
        store
            .finish_run(&by(run, 6), &finish(run, RunStatus::Failed, None))
            .unwrap();
    }
    assert_eq!(
        all(&store),
        spent(RUNS * WRITES),
        "and when they have ended"
    );
    let limit = RUNS * WRITES * REPEATED_PERCENT_MAX / 100;
    assert!(repeated <= limit, "{repeated} writes began again");
}

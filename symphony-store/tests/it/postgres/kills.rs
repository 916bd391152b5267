//! Sessions and the server are killed while four processes claim, comment and finish: what was acknowledged is there, once.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use symphony_core::agent::AgentType;
use symphony_core::id::RunId;
use symphony_core::issue::IssueStatus;
use symphony_core::run::{RunStatus, RunTarget};
use symphony_store::{AuditRequest, ClaimLimits, EventFilter, IssueFilter, Store, StoreError};

use super::new_store;
use super::server::{Frozen, Server};
use crate::plain_client::PlainClient;
use crate::support::{by, finish, human, new_issue, request, system};

/// Names, for a process that works, the address, the schema, its own name and the folder of its log.
const WORKER: &str = "SYMPHONY_TEST_WORKER";
/// How many kills there are, unless `SYMPHONY_TEST_KILLS` names a number.
const KILLS: usize = 10;
const WORKERS: usize = 4;
/// How many writes are acknowledged between two kills.
const WRITES_BETWEEN: usize = 12;
/// How long that may take on a busy machine.
const BETWEEN_MAX: Duration = Duration::from_mins(2);

#[test]
fn no_acknowledged_write_is_lost_and_none_is_stored_twice() {
    let Some(server) = Server::start("") else {
        return;
    };
    let kills = std::env::var("SYMPHONY_TEST_KILLS").map_or(KILLS, |kills| kills.parse().unwrap());
    let (mut store, schema) = new_store(&server.address());
    let folder = tempfile::tempdir().unwrap();
    let mut workers: Vec<Child> = (0..WORKERS)
        .map(|number| {
            worker(&format!(
                "{}|{schema}|w{number}|{}",
                server.address(),
                folder.path().display()
            ))
        })
        .collect();
    let mut random = uuid::Uuid::new_v4().as_u128();
    println!("{kills} kills from {random}");
    let mut title = 0;
    for _ in 0..kills {
        for _ in 0..WRITES_BETWEEN {
            title += 1;
            let new = new_issue(&format!("issue {title}"));
            until_known(|| store.add_issue(&human(1), &new));
        }
        let (before, begun) = (acknowledged(folder.path()).len(), Instant::now());
        while acknowledged(folder.path()).len() < before + WRITES_BETWEEN {
            assert!(
                begun.elapsed() < BETWEEN_MAX,
                "the processes no longer write"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        // so that it is not always the same moment of a write
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let choice = usize::try_from(random >> 64 & 0xffff).unwrap();
        std::thread::sleep(Duration::from_millis((choice % 97) as u64));
        if choice % 4 == 0 || !server.kill_session(choice / 4) {
            server.kill();
            server.begin();
        }
    }
    File::create(folder.path().join("stop")).unwrap();
    for worker in &mut workers {
        assert!(worker.wait().unwrap().success());
    }
    check(&mut store, &acknowledged(folder.path()), title);
}

#[test]
fn a_process_that_is_stopped_in_a_write_keeps_no_one_waiting() {
    let Some(server) = Server::start("") else {
        return;
    };
    let (mut store, schema) = new_store(&server.address());
    for title in 0..120 {
        store
            .add_issue(&human(1), &new_issue(&format!("issue {title}")))
            .unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let mut writer = worker(&format!(
        "{}|{schema}|w0|{}",
        server.address(),
        folder.path().display()
    ));
    let config = server.address().parse().unwrap();
    let client = PlainClient::in_schema(&config, &schema);
    let in_write = || {
        let query = "SELECT 1 FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'";
        !client.query(query, &[]).unwrap().is_empty()
    };
    let (begun, mut stopped_in_a_write) = (Instant::now(), 0_u64);
    while stopped_in_a_write < 2 {
        assert!(begun.elapsed() < BETWEEN_MAX, "{stopped_in_a_write}");
        let before = acknowledged(folder.path()).len();
        std::thread::sleep(Duration::from_millis(40 + 7 * stopped_in_a_write));
        let frozen = Frozen(vec![writer.id()]);
        frozen.signal("-STOP");
        // the server finishes what it was sent
        std::thread::sleep(Duration::from_millis(100));
        if in_write() {
            stopped_in_a_write += 1;
            let stopped = Instant::now();
            let all = IssueFilter::default();
            for issue in store.list_issues(&all).unwrap().items {
                store.add_comment(&human(5), &issue.id, "hello").unwrap();
            }
            while in_write() {
                assert!(stopped.elapsed() < Duration::from_secs(20), "it holds on");
                std::thread::sleep(Duration::from_millis(100));
            }
        }
        drop(frozen);
        let woken = Instant::now();
        while acknowledged(folder.path()).len() <= before {
            assert!(woken.elapsed() < BETWEEN_MAX, "it does not go on");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    File::create(folder.path().join("stop")).unwrap();
    assert!(writer.wait().unwrap().success());
}

/// Compares what the processes noted with what the database has.
fn check(store: &mut Store, acknowledged: &[(String, String)], issues: usize) {
    let mut events: BTreeMap<(String, String), usize> = BTreeMap::new();
    for record in store.events(&EventFilter::default()).unwrap() {
        let run = record.run.map_or_else(String::new, |run| run.to_string());
        *events.entry((record.kind, run)).or_default() += 1;
    }
    assert_eq!(
        events.get(&("issue_added".to_owned(), String::new())),
        Some(&issues)
    );
    let kinds = ["run_claimed", "comment_added", "run_ended"];
    let stored: BTreeMap<_, _> = events
        .iter()
        .filter(|((kind, _), _)| kinds.contains(&kind.as_str()))
        .collect();
    for ((kind, run), count) in &stored {
        assert_eq!(**count, 1, "{kind} of {run}");
    }
    for (kind, run) in acknowledged {
        assert!(
            stored.contains_key(&(kind.clone(), run.clone())),
            "lost: {kind} of {run}"
        );
    }
    assert_eq!(
        stored.len(),
        acknowledged.len(),
        "what is stored was acknowledged"
    );
    let request = AuditRequest {
        slots: ClaimLimits::total(8).slots,
        ..AuditRequest::default()
    };
    let found = store.audit(&request).unwrap();
    assert!(found.is_empty(), "{found:#?}");
    println!(
        "{} acknowledged writes, {issues} issues",
        acknowledged.len()
    );
}

/// Returns the writes that all processes noted: the kind and the run.
fn acknowledged(folder: &Path) -> Vec<(String, String)> {
    let mut writes = Vec::new();
    for number in 0..WORKERS {
        let text = std::fs::read_to_string(folder.join(format!("w{number}"))).unwrap_or_default();
        let pair = |line: &str| {
            line.split_once(' ')
                .map(|(kind, run)| (kind.to_owned(), run.to_owned()))
        };
        writes.extend(text.lines().filter_map(pair));
    }
    writes
}

fn worker(what: &str) -> Child {
    #[expect(
        clippy::disallowed_methods,
        reason = "this program again, as another process"
    )]
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["postgres::kills::one_process", "--exact"])
        .env(WORKER, what);
    command.stdout(std::process::Stdio::null());
    command.spawn().unwrap()
}

/// Repeats what was not stored. What may have been is no case here: the server always comes back in time to be asked.
fn until_known<T>(mut work: impl FnMut() -> Result<T, StoreError>) -> T {
    let begun = Instant::now();
    loop {
        match work() {
            Ok(value) => return value,
            Err(StoreError::Unreachable(_) | StoreError::Busy(_))
                if begun.elapsed() < BETWEEN_MAX => {}
            Err(error) => panic!("{error:?}"),
        }
    }
}

/// One of the processes; as a test of its own it has nothing to do.
#[test]
fn one_process() {
    let Ok(what) = std::env::var(WORKER) else {
        return;
    };
    let parts: Vec<&str> = what.split('|').collect();
    let &[address, schema, name, folder] = parts.as_slice() else {
        panic!("{what}");
    };
    let folder = Path::new(folder);
    let log = OpenOptions::new()
        .create(true)
        .append(true)
        .open(folder.join(name));
    let mut log = log.unwrap();
    let mut note = |kind: &str, run: &RunId| writeln!(log, "{kind} {run}").unwrap();
    let mut store = until_known(|| Store::connect(address, schema));
    let limits = ClaimLimits::total(8);
    let todo = IssueFilter {
        status: Some(IssueStatus::Todo),
        limit: Some(20),
        ..IssueFilter::default()
    };
    for number in 0.. {
        if folder.join("stop").exists() {
            return;
        }
        let issues = until_known(|| store.list_issues(&todo)).items;
        let own = name.trim_start_matches('w').parse::<usize>().unwrap();
        let Some(issue) = issues.get(own % issues.len().max(1)) else {
            std::thread::sleep(Duration::from_millis(10));
            continue;
        };
        let target = RunTarget::Issue(issue.id.clone());
        let wanted = [request(
            &format!("{name}-{number}"),
            target,
            AgentType::Worker,
        )];
        let claimed = until_known(|| store.claim(&system(2), &wanted, &limits));
        let Ok(run) = claimed.into_iter().next().unwrap() else {
            continue;
        };
        note("run_claimed", &run.id);
        until_known(|| store.add_comment(&by(&run, 3), &issue.id, "worked"));
        note("comment_added", &run.id);
        let ended = finish(&run, RunStatus::Cancelled, None);
        until_known(|| store.finish_run(&system(4), &ended));
        note("run_ended", &run.id);
    }
}

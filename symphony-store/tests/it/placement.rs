//! Runs on other hosts: taken once, alive by their beats, and taken back. On both engines.

mod control;
mod fence;
mod fit;
mod prop;
mod shared;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use symphony_core::agent::AgentType;
use symphony_core::id::{IssueId, ProjectId, RunId};
use symphony_core::issue::IssueEvent;
use symphony_core::placement::{Host, Lease, Liveness, Pool};
use symphony_core::run::{Fence, Run, RunStatus, RunTarget, Usage};
use symphony_core::unit::{Tokens, UsdMicros};
use symphony_store::{
    Appended, Beat, Begun, ClaimLimits, Links, LogChunk, RUN_LOG_CHUNK_MAX, RUN_LOG_MAX,
    RunCommits, RunProgress, Shown, SignsOfLife, Store, StoreError, Worker,
};

use crate::support::{
    add, assert_sound, at, by, finish, human, project, request, system, try_claim, worker,
};
use shared::Shared;

fn pool() -> Pool {
    Pool::parse("linux").unwrap()
}

fn host(name: &str) -> Host {
    Host::parse(name).unwrap()
}

fn pools() -> BTreeMap<ProjectId, Pool> {
    BTreeMap::from([(project(), pool())])
}

/// Claims a run of a worker on an issue, for the project's pool.
fn queued(store: &mut Store, name: &str, issue: &IssueId) -> Run {
    let request = request(name, RunTarget::Issue(issue.clone()), AgentType::Worker);
    let claimed =
        store.claim_for_pools(&system(2), &[request], &ClaimLimits::total(1_000), &pools());
    claimed.unwrap().remove(0).unwrap()
}

/// A store with one run that waits in the pool.
fn with_one() -> (Shared, Store, Run) {
    let shared = Shared::new();
    let mut store = shared.first();
    let issue = add(&mut store, "One").id;
    let run = queued(&mut store, "one", &issue);
    (shared, store, run)
}

/// A run as it is once a host has begun it.
fn begun(run: &Run, name: &str) -> Run {
    Run {
        host: Some(host(name)),
        ..run.clone()
    }
}

fn ended(store: &mut Store, run: &Run) {
    let end = finish(run, RunStatus::Cancelled, None);
    store.finish_run(&system(9), &end).unwrap();
}

#[test]
fn the_oldest_run_of_a_pool_is_taken_first_and_only_once() {
    let shared = Shared::new();
    let mut store = shared.first();
    let issues: Vec<IssueId> = ["a", "b", "c"]
        .map(|title| add(&mut store, title).id)
        .into();
    // one that the control starts itself, before and in between
    worker(&mut store, "own", &issues[0]);
    let first = queued(&mut store, "z-first", &issues[1]);
    let second = queued(&mut store, "a-second", &issues[2]);
    let other = Pool::parse("gpu").unwrap();
    assert!(!store.has_waiting(&other).unwrap() && store.has_waiting(&pool()).unwrap());
    assert_eq!(store.take(&other, &host("h1")).unwrap(), None);
    assert_eq!(
        store.take(&pool(), &host("h1")).unwrap(),
        Some(begun(&first, "h1"))
    );
    assert!(store.has_waiting(&pool()).unwrap(), "the second");
    assert_eq!(
        store.take(&pool(), &host("h2")).unwrap(),
        Some(begun(&second, "h2"))
    );
    assert!(!store.has_waiting(&pool()).unwrap());
    assert_eq!(store.take(&pool(), &host("h1")).unwrap(), None);
    assert_eq!(
        store.runs_begun_on(&host("h1")).unwrap(),
        [begun(&first, "h1")]
    );
    for run in store.live_runs().unwrap() {
        ended(&mut store, &run);
    }
    assert_sound(&mut store);
}

#[test]
fn what_stays_on_the_control_waits_in_no_pool() {
    let shared = Shared::new();
    let mut store = shared.first();
    let request = request("scan", RunTarget::Project, AgentType::Scanner);
    let claimed = store.claim_for_pools(&system(2), &[request], &ClaimLimits::total(8), &pools());
    let run = claimed.unwrap().remove(0).unwrap();
    assert_eq!(store.take(&pool(), &host("h1")).unwrap(), None);
    assert_eq!(
        store.begin_on(&run.id, &host("h1")).unwrap(),
        Begun::NotWaiting
    );
    let beat = store.beat(&run.id, run.fence).unwrap();
    assert_eq!(beat, Beat::Lost, "no host has it");
    shared.sql("UPDATE run SET started_at = 0");
    assert_eq!(store.silent(Lease::default()).unwrap(), []);
}

#[test]
fn no_run_begins_while_symphony_is_paused() {
    let (_shared, mut store, run) = with_one();
    store.set_paused(&system(3), true).unwrap();
    assert!(run.waits_in_pool() && !store.has_waiting(&pool()).unwrap());
    assert_eq!(store.take(&pool(), &host("h1")).unwrap(), None);
    assert_eq!(store.begin_on(&run.id, &host("h1")).unwrap(), Begun::NotNow);
    store.set_paused(&system(4), false).unwrap();
    assert!(store.has_waiting(&pool()).unwrap());
    let taken = store.take(&pool(), &host("h1")).unwrap().unwrap();
    assert_eq!(taken, begun(&run, "h1"));
    assert!(!taken.waits_in_pool());

    // what has begun goes on, and the control can always take a run out of its pool
    store.set_paused(&system(5), true).unwrap();
    let beat = store.beat(&run.id, run.fence).unwrap();
    assert!(matches!(beat, Beat::Live { .. }), "{beat:?}");
    store.set_paused(&system(6), false).unwrap();
    let issue = add(&mut store, "Two").id;
    let second = queued(&mut store, "two", &issue);
    store.set_paused(&system(7), true).unwrap();
    let control = host("control");
    assert_eq!(
        store.withdraw(&second.id, &control).unwrap(),
        Begun::Now(Box::new(begun(&second, "control")))
    );
    assert!(store.is_withdrawn(&second.id).unwrap());
    for run in [run, second] {
        ended(&mut store, &run);
    }
    assert_sound(&mut store);
}

#[test]
fn a_run_begins_once_whoever_gives_it_out() {
    let (_shared, mut store, run) = with_one();
    assert_eq!(
        store.begin_on(&run.id, &host("h1")).unwrap(),
        Begun::Now(Box::new(begun(&run, "h1")))
    );
    for again in ["h1", "h2"] {
        let found = store.begin_on(&run.id, &host(again)).unwrap();
        assert_eq!(found, Begun::Before(host("h1")), "{again}");
    }
    assert_eq!(store.take(&pool(), &host("h2")).unwrap(), None);
    ended(&mut store, &run);
    assert_eq!(
        store.begin_on(&run.id, &host("h1")).unwrap(),
        Begun::NotWaiting
    );
    let unknown = RunId::parse("unknown").unwrap();
    let error = store.begin_on(&unknown, &host("h1")).unwrap_err();
    assert!(matches!(error, StoreError::NotFound { .. }), "{error:?}");
}

#[test]
fn eight_hosts_share_a_queue_and_begin_each_run_once() {
    const RUNS: usize = 96;
    let shared = Shared::new();
    let mut store = shared.first();
    for number in 0..RUNS {
        let issue = add(&mut store, &format!("issue {number}")).id;
        queued(&mut store, &format!("run-{number}"), &issue);
    }
    let taken: Vec<Vec<RunId>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|number| {
                let mut store = shared.open();
                scope.spawn(move || {
                    let me = host(&format!("h{number}"));
                    let mut mine = Vec::new();
                    while let Some(run) = store.take(&pool(), &me).unwrap() {
                        assert!(matches!(
                            store.beat(&run.id, run.fence).unwrap(),
                            Beat::Live { cancel: false, .. }
                        ));
                        mine.push(run.id);
                    }
                    mine
                })
            })
            .collect();
        threads.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let all: Vec<&RunId> = taken.iter().flatten().collect();
    assert_eq!(all.len(), RUNS, "each once");
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), RUNS);
    for (number, mine) in taken.iter().enumerate() {
        let recorded = store.runs_begun_on(&host(&format!("h{number}"))).unwrap();
        let recorded: BTreeSet<RunId> = recorded.into_iter().map(|run| run.id).collect();
        assert_eq!(recorded, mine.iter().cloned().collect(), "h{number}");
    }
}

#[test]
fn a_beat_brings_back_what_was_asked_and_spent() {
    let (shared, mut store, run) = with_one();
    assert_eq!(
        store.beat(&run.id, run.fence).unwrap(),
        Beat::Lost,
        "not begun"
    );
    store.take(&pool(), &host("h1")).unwrap().unwrap();
    let progress = RunProgress {
        last_event: "reads".into(),
        usage: Usage {
            input_tokens: Tokens::new(700),
            output_tokens: Tokens::new(30),
            cost: Some(UsdMicros::new(5)),
            ..Usage::default()
        },
    };
    // spent on the day that the database has, which no host's clock decides
    let now = shared.now();
    let mut context = system(0);
    context.now = now;
    store.record_progress(&context, &run.id, &progress).unwrap();
    let spent = store.spent_so_far(&run.id, now).unwrap();
    assert_eq!(spent.day.tokens, Tokens::new(730));
    let live = |cancel| Beat::Live { cancel, spent };
    assert_eq!(store.beat(&run.id, run.fence).unwrap(), live(false));
    store.request_cancel(&human(5), &run.id).unwrap();
    assert_eq!(store.beat(&run.id, run.fence).unwrap(), live(true));
    let other = Fence::new(run.fence.get() + 1);
    assert_eq!(store.beat(&run.id, other).unwrap(), Beat::Lost);
    ended(&mut store, &run);
    assert_eq!(store.beat(&run.id, run.fence).unwrap(), Beat::Lost);
}

#[test]
fn a_beat_ends_silence() {
    let (shared, mut store, run) = with_one();
    let lease = Lease::default();
    shared.sql("UPDATE run SET started_at = 0");
    assert_eq!(store.silent(lease).unwrap(), [], "it waits for a worker");
    store.take(&pool(), &host("h1")).unwrap().unwrap();
    assert_eq!(store.silent(lease).unwrap(), []);
    for (age, expected) in [
        (80_000, None),
        (90_000, Some(Liveness::Silent)),
        (200_000, Some(Liveness::Silent)),
        (210_000, Some(Liveness::Lost)),
    ] {
        store.beat(&run.id, run.fence).unwrap();
        shared.age(age);
        let found = store.silent(lease).unwrap();
        assert_eq!(found.first().map(|run| run.liveness), expected, "{age}");
        if let Some(found) = found.first() {
            assert_eq!((&found.run, found.fence), (&run.id, run.fence));
            assert_eq!((&found.pool, &found.host), (&pool(), &host("h1")));
            assert!((age..age + 5_000).contains(&found.age_ms), "{found:?}");
        }
    }
    store.beat(&run.id, run.fence).unwrap();
    assert_eq!(store.silent(lease).unwrap(), []);
}

#[test]
fn a_run_that_was_taken_back_accepts_nothing_from_its_old_host() {
    let (shared, mut store, run) = with_one();
    let (lease, control) = (Lease::default(), host("control"));
    store.take(&pool(), &host("h1")).unwrap().unwrap();
    let issue = run.target.issue().unwrap();
    store
        .add_comment(&by(&run, 3), issue, "still here")
        .unwrap();
    let back = |store: &mut Store, fence| store.take_back(&run.id, fence, &control, lease);
    shared.age(200_000);
    assert_eq!(
        back(&mut store, run.fence).unwrap(),
        None,
        "it may come back"
    );
    shared.age(10_000);
    let other = Fence::new(run.fence.get() + 7);
    assert_eq!(back(&mut store, other).unwrap(), None, "not that one");
    let raised = back(&mut store, run.fence).unwrap().unwrap();
    assert!(raised > run.fence);
    assert_eq!(back(&mut store, run.fence).unwrap(), None, "once");
    // the old host wakes up
    assert_eq!(store.beat(&run.id, run.fence).unwrap(), Beat::Lost);
    let log = store.append_run_log(&run.id, run.fence, 0, b"late");
    assert_eq!(log.unwrap(), Appended::Lost);
    let late = store.add_comment(&by(&run, 4), issue, "too late");
    assert!(
        matches!(late, Err(StoreError::Superseded { .. })),
        "{late:?}"
    );
    // the control has it now, and the next claim gets a higher number
    let taken = store.run(&run.id).unwrap();
    assert_eq!(taken.fence, raised);
    assert!(matches!(
        store.beat(&run.id, raised).unwrap(),
        Beat::Live { .. }
    ));
    let of_control = store.runs_begun_on(&control).unwrap();
    assert_eq!(of_control, std::slice::from_ref(&taken));
    ended(&mut store, &taken);
    let next = add(&mut store, "Two").id;
    let second = queued(&mut store, "two", &next);
    assert!(second.fence > raised);
    ended(&mut store, &second);
    assert_sound(&mut store);
}

#[test]
fn two_workers_of_one_name_are_not_there_at_once() {
    let shared = Shared::new();
    let mut store = shared.first();
    let mut shown = |folder: &str| {
        let worker = Worker {
            pool: pool(),
            host: host("h1"),
            version: 1,
            clock_ahead_ms: 0,
            unprepared: 0,
            slots: 1,
            folder: folder.to_owned(),
            fence_ms: 60_000,
        };
        store.worker_seen(&worker, Lease::default()).unwrap()
    };
    // one of an older version says no folder
    for (folder, expected) in [
        ("", Shown::Here),
        ("a", Shown::Here),
        ("b", Shown::Other),
        ("a", Shown::Here),
    ] {
        assert_eq!(shown(folder), expected, "{folder}");
    }
    shared.sql("UPDATE worker SET seen_at = seen_at - 60000");
    assert_eq!(shown("b"), Shown::Other);
    shared.sql("UPDATE worker SET seen_at = seen_at - 51000");
    assert_eq!(shown("b"), Shown::Here, "the other one is gone");
    assert_eq!(shown("a"), Shown::Other);
}

#[test]
fn a_run_whose_supervisor_may_just_have_begun_is_not_taken_for_one_without() {
    let shared = Shared::new();
    let mut store = shared.first();
    let issue = add(&mut store, "One").id;
    let run = queued(&mut store, "one", &issue);
    let signs = |store: &Store| store.signs_of_life(&run.id, Lease::default()).unwrap();
    assert_eq!(signs(&store), SignsOfLife::Awaited);
    let taken = store.take(&pool(), &host("h1")).unwrap().unwrap();
    assert_eq!(signs(&store), SignsOfLife::Awaited);
    // as a supervisor that has just begun does
    store.beat(&run.id, taken.fence).unwrap();
    assert_eq!(signs(&store), SignsOfLife::Awaited);
    let earlier = "UPDATE run SET begun_at = begun_at - 85000, beat_at = beat_at - 85000";
    shared.sql(earlier);
    assert_eq!(signs(&store), SignsOfLife::Awaited, "it may still beat");
    let lease = Lease::default();
    let again = |store: &mut Store, fence| store.begin_again(&run.id, fence, lease).unwrap();
    assert_eq!(again(&mut store, taken.fence), None);
    shared.sql("UPDATE run SET begun_at = begun_at - 6000, beat_at = beat_at - 6000");
    assert_eq!(signs(&store), SignsOfLife::Never, "its lease is over");
    let raised = again(&mut store, taken.fence).unwrap();
    assert!(raised > taken.fence);
    assert_eq!(signs(&store), SignsOfLife::Awaited);
    // a supervisor that was started after all, and waited for the database
    assert_eq!(store.beat(&run.id, taken.fence).unwrap(), Beat::Lost);
    assert_eq!(again(&mut store, taken.fence), None);
    shared.sql("UPDATE run SET begun_at = begun_at - 91000, beat_at = beat_at - 91000");
    store.beat(&run.id, raised).unwrap();
    assert_eq!(signs(&store), SignsOfLife::Seen);
    assert_eq!(again(&mut store, raised), None);
}

#[test]
fn a_worker_is_known_by_pool_and_host() {
    let shared = Shared::new();
    let mut store = shared.first();
    let worker = |name: &str, version| Worker {
        pool: pool(),
        host: host(name),
        version,
        clock_ahead_ms: 0,
        unprepared: 0,
        slots: 1,
        folder: String::new(),
        fence_ms: 60_000,
    };
    for seen in [worker("h2", 1), worker("h1", 1), worker("h2", 2)] {
        store.worker_seen(&seen, Lease::default()).unwrap();
    }
    shared.sql("UPDATE worker SET seen_at = seen_at - 90000 WHERE host = 'h1'");
    let found = store.workers().unwrap();
    let named: Vec<_> = found.iter().map(|seen| seen.worker.clone()).collect();
    assert_eq!(named, [worker("h1", 1), worker("h2", 2)]);
    let gone: Vec<bool> = found
        .iter()
        .map(|seen| Lease::default().is_worker_gone(seen.age_ms))
        .collect();
    assert_eq!(gone, [true, false]);
}

/// The places and bytes of pieces.
fn pieces(chunks: &[LogChunk]) -> Vec<(u64, &[u8])> {
    chunks
        .iter()
        .map(|chunk| (chunk.seq, chunk.bytes.as_slice()))
        .collect()
}

#[test]
fn a_log_is_whole_however_often_a_piece_is_sent() {
    let (_shared, mut store, run) = with_one();
    store.take(&pool(), &host("h1")).unwrap().unwrap();
    let append = |store: &mut Store, seq, bytes: &[u8]| {
        store
            .append_run_log(&run.id, run.fence, seq, bytes)
            .unwrap()
    };
    assert_eq!(
        append(&mut store, 0, b"one\n"),
        Appended::Stored { next: 4 }
    );
    assert_eq!(
        append(&mut store, 0, b"one\n"),
        Appended::Stored { next: 4 }
    );
    assert_eq!(append(&mut store, 9, b"x"), Appended::Gap { next: 4 });
    let broken = b"\x00\xff\xc3";
    assert_eq!(append(&mut store, 4, broken), Appended::Stored { next: 7 });
    let two: [(u64, &[u8]); 2] = [(0, b"one\n"), (4, broken)];
    for (from, expected) in [
        (0, &two[..]),
        (3, &two[..]),
        (4, &two[1..]),
        (6, &two[1..]),
        (7, &[]),
        (99, &[]),
    ] {
        let found = store.run_log(&run.id, from, 10).unwrap();
        assert_eq!(pieces(&found), expected, "from {from}");
    }
    assert_eq!(pieces(&store.run_log(&run.id, 0, 1).unwrap()), &two[..1]);
    let too_large = vec![b'x'; RUN_LOG_CHUNK_MAX + 1];
    let refused = store.append_run_log(&run.id, run.fence, 7, &too_large);
    assert!(refused.unwrap_err().to_string().contains("65537 bytes"));
    ended(&mut store, &run);
    let late = store
        .append_run_log(&run.id, run.fence, 7, b"late")
        .unwrap();
    assert_eq!(late, Appended::Lost);
}

#[test]
fn a_log_ends_at_its_limit_and_goes_with_its_issue() {
    let (_shared, mut store, run) = with_one();
    store.take(&pool(), &host("h1")).unwrap().unwrap();
    let piece = vec![b'x'; RUN_LOG_CHUNK_MAX];
    let mut end = 0;
    while end < RUN_LOG_MAX {
        let stored = store
            .append_run_log(&run.id, run.fence, end, &piece)
            .unwrap();
        end += piece.len() as u64;
        assert_eq!(stored, Appended::Stored { next: end });
    }
    let full = store.append_run_log(&run.id, run.fence, end, b"x").unwrap();
    assert_eq!(full, Appended::Full);
    ended(&mut store, &run);
    let issue = run.target.issue().unwrap();
    store
        .move_issue(&human(20), issue, &IssueEvent::Cancelled)
        .unwrap();
    store
        .delete_issue(&human(21), issue, Links::Refuse)
        .unwrap();
    assert_eq!(store.run_log(&run.id, 0, 10).unwrap(), []);
}

#[test]
fn logs_go_with_the_time_for_which_logs_are_kept() {
    let (_shared, mut store, first) = with_one();
    let issue = add(&mut store, "Two").id;
    let second = queued(&mut store, "two", &issue);
    for run in [&first, &second] {
        store.take(&pool(), &host("h1")).unwrap().unwrap();
        let stored = store.append_run_log(&run.id, run.fence, 0, b"one\n");
        assert_eq!(stored.unwrap(), Appended::Stored { next: 4 });
    }
    // ended at 9; the other one lives
    ended(&mut store, &first);
    for (before, expected) in [(9, 0), (10, 1), (10, 0)] {
        assert_eq!(store.remove_run_logs(at(before)).unwrap(), expected);
    }
    assert_eq!(store.run_log(&first.id, 0, 10).unwrap(), []);
    assert_eq!(store.run_log(&second.id, 0, 10).unwrap().len(), 1);
    ended(&mut store, &second);
    assert_sound(&mut store);
}

#[test]
fn a_run_that_is_not_of_a_pool_is_claimed_as_before() {
    let shared = Shared::new();
    let mut store = shared.first();
    let issue = add(&mut store, "One").id;
    let run = try_claim(
        &mut store,
        "one",
        RunTarget::Issue(issue),
        AgentType::Worker,
    )
    .unwrap();
    assert_eq!(
        shared.text("SELECT coalesce(pool, host, 'none') FROM run"),
        "none"
    );
    assert_eq!(run.started_at, at(2));
}

#[test]
fn only_the_host_of_a_run_records_its_commits() {
    let (_shared, mut store, run) = with_one();
    assert_eq!(store.run_commits(&run.id).unwrap(), RunCommits::default());
    store.take(&pool(), &host("h1")).unwrap().unwrap();
    for (start, result) in [("a1", "b1"), ("a2", "b2")] {
        store
            .record_start_commit(&run.id, run.fence, start)
            .unwrap();
        store
            .record_result_commit(&run.id, run.fence, result)
            .unwrap();
    }
    let recorded = RunCommits {
        start: Some("a1".to_owned()),
        result: Some("b2".to_owned()),
    };
    assert_eq!(store.run_commits(&run.id).unwrap(), recorded);
    let older = Fence::new(run.fence.get() - 1);
    for fence in [older, run.fence] {
        if fence == run.fence {
            ended(&mut store, &run);
        }
        for refused in [
            store.record_start_commit(&run.id, fence, "c1"),
            store.record_result_commit(&run.id, fence, "c2"),
        ] {
            assert!(
                matches!(refused, Err(StoreError::Superseded { .. })),
                "{refused:?}"
            );
        }
    }
    assert_eq!(store.run_commits(&run.id).unwrap(), recorded);
}

#[test]
fn a_project_is_handed_again_only_when_it_changed() {
    let shared = Shared::new();
    let mut store = shared.first();
    assert_eq!(store.handed_project(&project()).unwrap(), None);
    let (one, two) = (json!([{ "a": 1 }]), json!([{ "a": 2 }]));
    let hub = Some("/srv/hub.git");
    for (layers, hub, revision) in [
        (&one, None, 1),
        (&one, hub, 1),
        (&two, hub, 2),
        (&two, hub, 2),
        (&one, None, 3),
    ] {
        let handed = store.hand_project(&project(), layers, hub).unwrap();
        assert_eq!(handed, revision);
        let found = store.handed_project(&project()).unwrap().unwrap();
        let expected = (revision, layers, hub);
        assert_eq!(
            (found.revision, &found.layers, found.hub.as_deref()),
            expected
        );
    }
    let unknown = ProjectId::parse("unknown").unwrap();
    let error = store.hand_project(&unknown, &one, None).unwrap_err();
    assert!(matches!(error, StoreError::NotFound { .. }), "{error:?}");
}

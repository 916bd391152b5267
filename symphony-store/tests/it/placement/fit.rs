//! Workers that take nothing: of another protocol, with a wrong clock, or on a host that cannot prepare runs.

use symphony_core::placement::PROTOCOL;

use super::*;

/// Has the control require another protocol, as one of another version does.
fn require(shared: &Shared, protocol: u32) {
    shared.sql("DELETE FROM setting WHERE key = 'worker_protocol'");
    shared.sql(&format!(
        "INSERT INTO setting (key, value) VALUES ('worker_protocol', '{protocol}')"
    ));
}

#[test]
fn a_worker_of_another_protocol_begins_nothing() {
    let (shared, mut store, run) = with_one();
    assert_eq!(store.required_protocol().unwrap(), None);
    for other in [PROTOCOL + 1, PROTOCOL - 1] {
        require(&shared, other);
        assert_eq!(store.take(&pool(), &host("h1")).unwrap(), None, "{other}");
        assert_eq!(
            store.begin_on(&run.id, &host("h1")).unwrap(),
            Begun::NotNow,
            "{other}"
        );
    }
    assert_eq!(store.run(&run.id).unwrap(), run, "it waits as before");
    // a control of this version lets its workers begin
    store.require_of_workers(Lease::default()).unwrap();
    store.require_of_workers(Lease::default()).unwrap();
    assert_eq!(store.required_protocol().unwrap(), Some(PROTOCOL));
    assert_eq!(
        store.take(&pool(), &host("h1")).unwrap(),
        Some(begun(&run, "h1"))
    );
    // what has begun goes on, whatever is required later
    require(&shared, PROTOCOL + 1);
    let beat = store.beat(&run.id, run.fence).unwrap();
    assert!(matches!(beat, Beat::Live { .. }), "{beat:?}");
    ended(&mut store, &run);
    assert_sound(&mut store);
}

#[test]
fn the_control_takes_runs_out_of_a_pool_whatever_workers_speak() {
    let (shared, mut store, run) = with_one();
    let control = host("control.c");
    require(&shared, PROTOCOL + 1);
    let expected = Begun::Now(Box::new(begun(&run, "control.c")));
    assert_eq!(store.withdraw(&run.id, &control).unwrap(), expected);
    assert_eq!(
        store.withdraw(&run.id, &control).unwrap(),
        Begun::Before(control)
    );
}

#[test]
fn workers_that_take_nothing_are_known() {
    let shared = Shared::new();
    let mut store = shared.first();
    let lease = Lease::default();
    for (name, version, clock_ahead_ms, unprepared) in [
        ("ahead", PROTOCOL, 31_000, 0),
        ("cut", PROTOCOL, 0, 2),
        ("fits", PROTOCOL, -30_000, 0),
        ("old", PROTOCOL - 1, 0, 0),
    ] {
        let worker = Worker {
            pool: pool(),
            host: host(name),
            version,
            clock_ahead_ms,
            unprepared,
            slots: 1,
            folder: String::new(),
            fence_ms: 60_000,
        };
        store.worker_seen(&worker, Lease::default()).unwrap();
    }
    store.require_of_workers(Lease::default()).unwrap();
    let takes = |store: &Store| -> Vec<bool> {
        let seen = store.workers().unwrap();
        seen.iter().map(|seen| seen.takes_runs(lease)).collect()
    };
    assert_eq!(takes(&store), [false, false, true, false]);
    require(&shared, PROTOCOL - 1);
    assert_eq!(takes(&store), [false, false, false, true]);
}

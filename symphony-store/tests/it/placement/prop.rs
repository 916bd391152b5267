//! Whatever hosts and the control do in whatever order, a run is one host's at a time, and each guard decides as a simple model does.

use proptest::prelude::*;
use symphony_core::placement::{Host, Lease};
use symphony_core::run::{Fence, Run};
use symphony_store::{Appended, Beat, Begun, Store};

use super::shared::Shared;
use super::{ended, host, pool, queued};
use crate::support::{add, assert_sound};

const RUNS: usize = 3;
const HOSTS: [&str; 3] = ["h0", "h1", "control"];

#[derive(Debug, Clone, Copy)]
enum Deed {
    Take(usize),
    Begin(usize, usize),
    /// A beat with the fence that a host knows, which may be an old one.
    Beat(usize, usize),
    Append(usize, usize),
    /// All beats get older by so much.
    Age(i64),
    TakeBack(usize, usize),
    End(usize),
}

fn deed() -> impl Strategy<Value = Deed> {
    let (run, by) = (0..RUNS, 0..HOSTS.len());
    let pair = (run.clone(), by.clone());
    prop_oneof![
        2 => by.prop_map(Deed::Take),
        2 => pair.clone().prop_map(|(run, by)| Deed::Begin(run, by)),
        4 => pair.clone().prop_map(|(run, by)| Deed::Beat(run, by)),
        3 => pair.clone().prop_map(|(run, by)| Deed::Append(run, by)),
        3 => prop_oneof![Just(50_000), Just(100_000), Just(250_000)].prop_map(Deed::Age),
        3 => pair.prop_map(|(run, by)| Deed::TakeBack(run, by)),
        1 => run.prop_map(Deed::End),
    ]
}

/// What a run should be.
struct Known {
    run: Run,
    /// The host that has it, and the fence that the database has.
    of: Option<usize>,
    fence: Fence,
    /// The fence that each host learned last.
    learned: [Option<Fence>; HOSTS.len()],
    age: i64,
    is_live: bool,
    log: u64,
}

impl Known {
    fn lives_for(&self, by: usize) -> bool {
        self.is_live && self.of.is_some() && self.learned[by] == Some(self.fence)
    }

    fn begin(&mut self, by: usize) {
        self.of = Some(by);
        self.learned[by] = Some(self.fence);
        self.age = 0;
    }
}

fn name(by: usize) -> Host {
    host(HOSTS[by])
}

fn act(deed: Deed, shared: &Shared, store: &mut Store, known: &mut [Known]) {
    match deed {
        Deed::Take(by) => {
            let mut waiting = known
                .iter_mut()
                .filter(|run| run.is_live && run.of.is_none());
            let expected = waiting.next();
            let taken = store.take(&pool(), &name(by)).unwrap();
            let found = taken.map(|run| run.id);
            assert_eq!(found.as_ref(), expected.as_ref().map(|known| &known.run.id));
            if let Some(known) = expected {
                known.begin(by);
            }
        }
        Deed::Begin(run, by) => {
            let known = &mut known[run];
            let begun = store.begin_on(&known.run.id, &name(by)).unwrap();
            match (known.is_live, known.of) {
                (true, None) => {
                    assert!(matches!(begun, Begun::Now(_)), "{begun:?}");
                    known.begin(by);
                }
                (true, Some(of)) => assert_eq!(begun, Begun::Before(name(of))),
                (false, _) => assert_eq!(begun, Begun::NotWaiting),
            }
        }
        Deed::Beat(run, by) => {
            let known = &mut known[run];
            let fence = known.learned[by].unwrap_or(Fence::new(0));
            let beat = store.beat(&known.run.id, fence).unwrap();
            assert_eq!(matches!(beat, Beat::Live { .. }), known.lives_for(by));
            if known.lives_for(by) {
                known.age = 0;
            }
        }
        Deed::Append(run, by) => {
            let known = &mut known[run];
            let fence = known.learned[by].unwrap_or(Fence::new(0));
            let done = store.append_run_log(&known.run.id, fence, known.log, b"line\n");
            if known.lives_for(by) {
                known.log += 5;
                assert_eq!(done.unwrap(), Appended::Stored { next: known.log });
            } else {
                assert_eq!(done.unwrap(), Appended::Lost);
            }
        }
        Deed::Age(ms) => {
            shared.age(ms);
            for known in known {
                known.age += ms;
            }
        }
        Deed::TakeBack(run, by) => {
            let known = &mut known[run];
            let lease = Lease::default();
            let is_lost = known.is_live && known.of.is_some() && known.age >= 210_000;
            let raised = store.take_back(&known.run.id, known.fence, &name(by), lease);
            let raised = raised.unwrap();
            assert_eq!(raised.is_some(), is_lost);
            if let Some(raised) = raised {
                assert!(raised > known.fence);
                known.fence = raised;
                known.begin(by);
            }
        }
        Deed::End(run) => {
            let known = &mut known[run];
            let run = Run {
                fence: known.fence,
                ..known.run.clone()
            };
            ended(store, &run);
            known.is_live = false;
        }
    }
}

fn config() -> ProptestConfig {
    // each case on a server makes all tables
    let cases = if std::env::var_os("SYMPHONY_TEST_DATABASE").is_some() {
        12
    } else {
        16
    };
    ProptestConfig::with_cases(cases)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_run_is_one_hosts_at_a_time(deeds in prop::collection::vec(deed(), 1..40)) {
        let shared = Shared::new();
        let mut store = shared.first();
        let mut known: Vec<Known> = (0..RUNS)
            .map(|number| {
                let issue = add(&mut store, &format!("issue {number}")).id;
                let run = queued(&mut store, &format!("run-{number}"), &issue);
                Known {
                    fence: run.fence,
                    run,
                    of: None,
                    learned: [None; HOSTS.len()],
                    age: 0,
                    is_live: true,
                    log: 0,
                }
            })
            .collect();
        for deed in deeds {
            act(deed, &shared, &mut store, &mut known);
            for by in 0..HOSTS.len() {
                let expected = known.iter().filter(|run| run.is_live && run.of == Some(by));
                let found = store.runs_begun_on(&name(by)).unwrap();
                prop_assert_eq!(found.len(), expected.count());
            }
            let lease = Lease::default();
            let silent = |known: &&Known| known.is_live && known.of.is_some() && known.age >= 90_000;
            prop_assert_eq!(
                store.silent(lease).unwrap().len(),
                known.iter().filter(silent).count()
            );
        }
        for run in store.live_runs().unwrap() {
            ended(&mut store, &run);
        }
        assert_sound(&mut store);
    }
}

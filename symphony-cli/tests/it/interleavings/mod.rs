//! Random interleavings of people at a tracker, people and runs here, faults and deaths, over real HTTP and a real database.
//!
//! A case has a seed, from which all of it follows. People edit at a tracker that is a real server (`symphony-fakes`), people and runs
//! edit here by the functions that commands use, and rounds of the real helper come in between: with answers that are refused, cut off,
//! late, repeated or in another order, and with deaths at the named points of a round, by unwinding, and by `kill -9` of the real program.
//! Then the tracker heals, and an oracle that knows only what people did says whether anything was lost or done twice.
//!
//! `SYMPHONY_INTERLEAVINGS` says how many cases there are, `SYMPHONY_INTERLEAVING_SEED` repeats a single one.
//!
//! Bugs planted by hand, each of which 150 cases catch: a lost answer that is not searched for; an edit that is overwritten before the log
//! has it; a part that counts as made while it has no parent; a page that counts as read before it was carried out; and steps of a
//! dead round that are taken for edits of ours.

mod bench;
mod case;
mod deeds;
mod faults;
mod oracle;
mod there;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use bench::Bench;
use case::Case;

/// How many cases there are where nothing else is asked for.
const CASES: u64 = 100;

/// What happened in all cases, so that a run that meets no fault does not pass for a good one.
#[derive(Debug, Default)]
pub(super) struct Tally(BTreeMap<&'static str, u64>);

impl Tally {
    fn add(&mut self, what: &'static str) {
        *self.0.entry(what).or_default() += 1;
    }

    fn join(&mut self, other: Self) {
        for (what, count) in other.0 {
            *self.0.entry(what).or_default() += count;
        }
    }
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{variable} is a number")),
    )
}

#[test]
fn whatever_happens_on_both_sides_nothing_is_lost_and_nothing_is_done_twice() {
    let single = number("SYMPHONY_INTERLEAVING_SEED");
    let count = single.map_or_else(|| number("SYMPHONY_INTERLEAVINGS").unwrap_or(CASES), |_| 1);
    let first = single.unwrap_or(0);
    let next = AtomicU64::new(0);
    let (failed, tally) = (Mutex::new(Vec::new()), Mutex::new(Tally::default()));
    let begun = Instant::now();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads.min(usize::try_from(count).unwrap_or(1)) {
            scope.spawn(|| {
                let bench = Bench::new();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return;
                    }
                    let seed = first + number;
                    let mut case = Case::new(&bench, seed);
                    let lived = catch_unwind(AssertUnwindSafe(|| case.live()));
                    tally.lock().unwrap().join(case.tally());
                    if lived.is_err() {
                        println!("SYMPHONY_INTERLEAVING_SEED={seed}\n{}", case.story());
                        failed.lock().unwrap().push(seed);
                    }
                }
            });
        }
    });
    let tally = tally.into_inner().unwrap();
    println!("{count} cases in {:.1?}: {:#?}", begun.elapsed(), tally.0);
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "cases that failed: {failed:?}");
    if count >= CASES {
        for what in [
            "a death by kill -9",
            "a death by unwinding",
            "a fault",
            "a conflict",
        ] {
            assert!(tally.0.contains_key(what), "{what} never happened");
        }
    }
}

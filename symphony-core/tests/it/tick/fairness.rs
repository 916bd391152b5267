//! What holds cost whom, over a whole course: ticks, probes, failures and outages, without a database.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use symphony_core::agent::AgentType;
use symphony_core::hold::{Fault, HoldScope, LONE_PROBES_MAX, ProbeItem, Trials, lone_item};
use symphony_core::retry::{after, hold_ms};
use symphony_core::tick::{Action, Snapshot, StartRun, plan_tick};

use super::support::{NOW, at, candidate, hold, live, run_id, snapshot};

/// Time between two ticks, in seconds; the first hold is as long.
const ROUND: i64 = 60;
/// Failures in a row at which an item is for a person.
const BREAKER: u32 = 3;

/// A run at work.
#[derive(Debug)]
struct AtWork {
    start: StartRun,
    number: u64,
    fence: i64,
    ends: usize,
}

/// Issues with one run each that succeeds, unless they are poisonous or the provider is out.
struct Course {
    snapshot: Snapshot,
    trials: Trials,
    poisonous: BTreeSet<u64>,
    outage: std::ops::Range<usize>,
    durations: Vec<usize>,
    round: usize,
    fence: i64,
    at_work: Vec<AtWork>,
    done: BTreeSet<u64>,
    /// Failures that count.
    counted: BTreeMap<u64, u32>,
    /// How often an item that could start was held up by the failure of another one.
    delays: BTreeMap<(u64, u64), u32>,
}

impl Course {
    fn new(items: u64, poisonous: BTreeSet<u64>, slots: u32) -> Self {
        let mut snapshot = snapshot();
        snapshot.slots.total = slots;
        snapshot.candidates = (1..=items).map(candidate).collect();
        Self {
            snapshot,
            trials: Trials::default(),
            poisonous,
            outage: 0..0,
            durations: vec![1],
            round: 0,
            fence: 0,
            at_work: Vec::new(),
            done: BTreeSet::new(),
            counted: BTreeMap::new(),
            delays: BTreeMap::new(),
        }
    }

    fn play(&mut self, rounds: usize) {
        for _ in 0..rounds {
            self.round += 1;
            self.tick();
            self.end_runs();
        }
    }

    fn now(&self) -> symphony_core::Timestamp {
        at(NOW + i64::try_from(self.round).unwrap() * ROUND)
    }

    fn tick(&mut self) {
        for action in plan_tick(&self.snapshot, self.now()).actions {
            let Action::StartRun(start) = action else {
                continue;
            };
            self.fence += 1;
            let name = format!("r{}", self.fence);
            let number = start.target.issue().unwrap().number();
            for hold in &mut self.snapshot.holds {
                if start.probes.contains(&hold.scope) {
                    hold.canary = Some(run_id(&name));
                    self.trials.begin(&start.item(), self.fence);
                }
            }
            let run = live(&name, Some(number), AgentType::Worker);
            self.snapshot.live.push(run);
            let at = usize::try_from(self.fence).unwrap() % self.durations.len();
            let duration = self.durations[at];
            self.at_work.push(AtWork {
                start,
                number,
                fence: self.fence,
                ends: self.round + duration - 1,
            });
            self.share_trials();
        }
    }

    fn end_runs(&mut self) {
        let round = self.round;
        while let Some(ended) = self.at_work.iter().position(|run| run.ends <= round) {
            let run = self.at_work.remove(ended);
            let name = run_id(&format!("r{}", run.fence));
            self.snapshot.live.retain(|live| live.run != name);
            let is_out = self.outage.contains(&round);
            if is_out || self.poisonous.contains(&run.number) {
                self.fail(&run);
            } else {
                self.succeed(&run);
            }
            self.share_trials();
        }
    }

    fn fail(&mut self, run: &AtWork) {
        let name = run_id(&format!("r{}", run.fence));
        let canary = |hold: &&mut symphony_core::tick::Hold| hold.canary.as_ref() == Some(&name);
        if let Fault::Item { .. } = self.trials.fail(&run.start.item(), self.fence) {
            if let Some(hold) = self.snapshot.holds.iter_mut().find(canary) {
                hold.canary = None;
            }
            let failures = self.counted.entry(run.number).or_default();
            *failures += 1;
            if *failures == BREAKER {
                self.remove(run.number);
            }
            return;
        }
        let now = self.now();
        let ms = ROUND.unsigned_abs() * 1_000;
        match self.snapshot.holds.first_mut() {
            None => {
                let until = NOW + (i64::try_from(self.round).unwrap() + 1) * ROUND;
                let scope = HoldScope::Model {
                    provider: "claude-cli".into(),
                    model: None,
                };
                self.snapshot.holds.push(hold(scope, until));
            }
            Some(hold) if hold.canary.as_ref() == Some(&name) => {
                hold.probes += 1;
                hold.canary = None;
                hold.until = after(now, hold_ms(ms, hold.probes));
            }
            // it was at work when the hold was placed: no one waits any longer for it
            Some(_) => return,
        }
        let waiting = self.snapshot.candidates.iter();
        let waiting = waiting.map(|candidate| candidate.issue.number());
        let waiting = waiting.filter(|n| *n != run.number && !self.is_at_work(*n));
        for number in waiting.collect::<Vec<_>>() {
            *self.delays.entry((number, run.number)).or_default() += 1;
        }
    }

    fn succeed(&mut self, run: &AtWork) {
        let name = run_id(&format!("r{}", run.fence));
        self.trials.reach(&run.start.item(), &name, run.fence);
        let before = self.snapshot.holds.len();
        let is_probe = |hold: &symphony_core::tick::Hold| hold.canary.as_ref() == Some(&name);
        self.snapshot.holds.retain(|hold| !is_probe(hold));
        if self.snapshot.holds.len() < before {
            self.trials.lift();
        }
        self.done.insert(run.number);
        self.remove(run.number);
    }

    fn is_at_work(&self, number: u64) -> bool {
        self.at_work.iter().any(|run| run.number == number)
    }

    fn remove(&mut self, number: u64) {
        let candidates = &mut self.snapshot.candidates;
        candidates.retain(|candidate| candidate.issue.number() != number);
    }

    /// As the store reads them.
    fn share_trials(&mut self) {
        for hold in &mut self.snapshot.holds {
            hold.trials = self.trials.as_slice().to_vec();
        }
    }

    fn lone(&self) -> Option<String> {
        let hold = self.snapshot.holds.first()?;
        lone_item(hold).map(|trial| trial.item.to_string())
    }
}

fn some_of(mask: u8, items: u64) -> BTreeSet<u64> {
    (1..=items).filter(|n| mask >> (n - 1) & 1 == 1).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    /// No item waits for more than one failure of another one; whoever fails alone comes to a person; nothing that
    /// works is ever blamed.
    #[test]
    fn poisonous_items_delay_each_other_item_by_one_probe_at_most(
        items in 1_u64..8,
        mask in any::<u8>(),
        slots in 1_u32..5,
        durations in proptest::collection::vec(1_usize..4, 1..6),
    ) {
        let poisonous = some_of(mask, items);
        let mut course = Course::new(items, poisonous.clone(), slots);
        course.durations = durations;
        course.play(600);
        for number in (1..=items).filter(|number| !poisonous.contains(number)) {
            prop_assert!(course.done.contains(&number), "{} starves", number);
            prop_assert_eq!(course.counted.get(&number), None);
        }
        for ((waits, fails), times) in &course.delays {
            let is_good = !poisonous.contains(waits);
            prop_assert!(!is_good || *times <= 1, "{} waited {} times for {}", waits, times, fails);
        }
        // What is left fails together: the hold itself is in the inbox, and names the only one.
        let left = &course.snapshot.candidates;
        match left.as_slice() {
            [] => prop_assert!(course.snapshot.holds.is_empty()),
            [only] => prop_assert_eq!(course.lone(), Some(only.issue.to_string())),
            _ => prop_assert!(!course.snapshot.holds.is_empty()),
        }
    }

    /// Waiting is not failing: an outage uses no attempt of any item that works, however many run and wait.
    #[test]
    fn an_outage_uses_no_attempt(
        items in 1_u64..8,
        mask in any::<u8>(),
        slots in 1_u32..5,
        durations in proptest::collection::vec(1_usize..4, 1..6),
        begins in 1_usize..12,
        length in 0_usize..40,
    ) {
        let poisonous = some_of(mask & 1, items);
        let mut course = Course::new(items, poisonous.clone(), slots);
        course.durations = durations;
        course.outage = begins..begins + length;
        course.play(600);
        for number in (1..=items).filter(|number| !poisonous.contains(number)) {
            prop_assert!(course.done.contains(&number), "{} starves", number);
            prop_assert_eq!(course.counted.get(&number), None, "{} is blamed", number);
        }
    }
}

#[test]
fn a_poisonous_item_comes_to_a_person_in_finitely_many_probes() {
    // beside one that works: its first failure counts for nothing, three more for the breaker
    let mut course = Course::new(2, BTreeSet::from([1]), 1);
    course.play(12);
    assert_eq!(course.counted, BTreeMap::from([(1, BREAKER)]));
    assert_eq!(course.snapshot.candidates, []);
    // alone: after five failed probes
    let mut course = Course::new(1, BTreeSet::from([1]), 1);
    while course.lone().is_none() {
        course.play(1);
        assert!(course.round < 100, "{:?}", course.snapshot.holds);
    }
    assert_eq!(course.snapshot.holds[0].probes, LONE_PROBES_MAX);
    assert_eq!(course.counted, BTreeMap::new());
}

#[test]
fn an_item_is_alone_as_soon_as_the_others_no_longer_wait() {
    let mut course = Course::new(2, BTreeSet::from([1, 2]), 1);
    course.play(30);
    assert_eq!(course.lone(), None, "both fail: it looks like an outage");
    // A person moves one to the backlog. It has met the hold, but says nothing any more.
    course.remove(2);
    course.play(200);
    assert_eq!(course.lone().as_deref(), Some("SYM-1"));
    let of_other = ProbeItem::Issue(super::support::issue(2));
    let trials = &course.snapshot.holds[0].trials;
    assert!(
        trials
            .iter()
            .any(|trial| trial.item == of_other && trial.held > 0)
    );
}

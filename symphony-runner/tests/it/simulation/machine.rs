//! The machine of a simulation: its clock, its locks, its supervisors and what they leave.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use symphony_core::Timestamp;
use symphony_core::id::{PrId, RunId};
use symphony_core::run::Run;
use symphony_core::watchdog::{StepRecord, Suspicion};
use symphony_runner::supervise::SuperviseMode;

use super::agent::Step;
use super::random::Random;

/// Entries of the history that a failure prints.
const HISTORY_MAX: usize = 60;

/// A supervisor that is at work.
#[derive(Debug)]
pub(super) struct Supervisor {
    pub(super) run: Run,
    pub(super) mode: SuperviseMode,
    /// What is still to happen, and when (milliseconds that passed).
    pub(super) steps: VecDeque<(i64, Step)>,
}

/// What processes, locks and git are otherwise.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) random: Random,
    /// Milliseconds that passed; the wall clock is `skew` away from it.
    pub(super) passed: i64,
    pub(super) skew: i64,
    pub(super) locks: BTreeSet<RunId>,
    pub(super) supervisors: BTreeMap<RunId, Supervisor>,
    /// Runs of which processes are left.
    pub(super) strays: BTreeSet<RunId>,
    /// Supervisors that are stopped.
    pub(super) stopped: BTreeSet<RunId>,
    /// The steps that supervisors recorded.
    pub(super) records: BTreeMap<RunId, StepRecord>,
    /// What ticks found suspicious.
    pub(super) suspicions: BTreeMap<RunId, Suspicion>,
    /// How often the machine was started again, and when that was.
    pub(super) boots: u64,
    pub(super) booted_at: i64,
    /// Supervisors that a tick started and that have not read their run yet.
    pub(super) born: Vec<(RunId, SuperviseMode)>,
    /// What was merged into the base: heads of pull requests.
    pub(super) merged: BTreeSet<(PrId, String)>,
    pub(super) next_number: u64,
    pub(super) summary: BTreeMap<&'static str, u64>,
    pub(super) seed: u64,
    history: VecDeque<String>,
}

impl Machine {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            passed: 0,
            // the middle of the clock's range: it jumps both ways
            skew: 1_800_000_000_000,
            locks: BTreeSet::new(),
            supervisors: BTreeMap::new(),
            strays: BTreeSet::new(),
            stopped: BTreeSet::new(),
            records: BTreeMap::new(),
            suspicions: BTreeMap::new(),
            boots: 0,
            booted_at: 0,
            born: Vec::new(),
            merged: BTreeSet::new(),
            next_number: 0,
            summary: BTreeMap::new(),
            seed,
            history: VecDeque::new(),
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(self.passed + self.skew).unwrap()
    }

    /// A number that was not given out before.
    pub(super) fn number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }

    /// Counts something that happened.
    pub(super) fn count(&mut self, what: &'static str) {
        *self.summary.entry(what).or_default() += 1;
    }

    /// Writes down what happens, for the message of a failure.
    pub(super) fn note(&mut self, what: impl std::fmt::Display) {
        if self.history.len() == HISTORY_MAX {
            self.history.pop_front();
        }
        let minute = self.passed / 60_000;
        self.history.push_back(format!("{minute} {what}"));
    }

    pub(super) fn history(&self) -> Vec<String> {
        self.history.iter().cloned().collect()
    }

    /// Kills a supervisor: its lock is free at once, its agent goes on as a stray.
    pub(super) fn kill(&mut self, run: &RunId) {
        self.note(format_args!("the supervisor of {run} is killed"));
        self.count("supervisor killed");
        self.supervisors.remove(run);
        self.stopped.remove(run);
        self.locks.remove(run);
        self.strays.insert(run.clone());
    }

    /// Ends a simulation that found a fault.
    pub(super) fn fail(&self, what: impl std::fmt::Display) -> ! {
        panic!(
            "seed {}, minute {}: {what}\nwhat happened last:\n{}",
            self.seed,
            self.passed / 60_000,
            self.history().join("\n")
        )
    }
}

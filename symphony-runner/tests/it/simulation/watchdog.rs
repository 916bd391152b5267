//! Supervisors that are stopped and never move again, agents that forge what is recorded of them, machines that reboot: the
//! decision about them is the real one.

use symphony_core::id::RunId;
use symphony_core::watchdog::{Moment, Step, StepRecord, Stuck, Watch, WatchLimits, watch};

use super::machine::Machine;

/// Longer than any step of a simulated supervisor takes.
const STEP_LIMIT_MS: u64 = 40 * 60_000;

const LIMITS: WatchLimits = WatchLimits {
    grace_ms: 2 * 60_000,
    believed_max_ms: 60 * 60_000,
    unrecorded_ms: STEP_LIMIT_MS,
};

impl Machine {
    fn moment(&self) -> Moment {
        Moment {
            boot: format!("boot {}", self.boots),
            at_ms: u64::try_from(self.passed - self.booted_at).unwrap(),
        }
    }

    /// Who starts a supervisor records its first step: that of another process.
    pub(super) fn record_start(&mut self, run: &RunId) {
        self.record(run, Step::Start);
    }

    /// A supervisor records that a step begins.
    pub(super) fn record_step(&mut self, run: &RunId) {
        self.record(run, Step::Agent);
    }

    fn record(&mut self, run: &RunId, step: Step) {
        let earlier = self.records.get(run);
        let number = earlier.map_or(0, |record| record.number + 1);
        let processes = earlier.map_or(0, |record| record.start_time);
        let record = StepRecord {
            pid: 1,
            start_time: processes + u64::from(step == Step::Start),
            number,
            step,
            begun: self.moment(),
            limit_ms: STEP_LIMIT_MS,
        };
        self.records.insert(run.clone(), record);
    }

    /// What a tick sees of a supervisor that has a lock.
    pub(super) fn watch(&self, run: &RunId) -> Watch {
        let (record, earlier) = (self.records.get(run), self.suspicions.get(run));
        watch(record, earlier, &self.moment(), &LIMITS)
    }

    /// Says whether a supervisor that a tick found stuck is still there, and has not moved.
    pub(super) fn is_still_stuck(&self, run: &RunId, stuck: &Stuck) -> bool {
        stuck.is_still(self.records.get(run), &self.moment())
    }

    /// An agent stops its supervisor, which keeps its lock; now and then it forges the record, too.
    pub(super) fn stop_supervisor(&mut self, run: &RunId) {
        self.note(format_args!("the supervisor of {run} is stopped"));
        self.count("supervisor stopped");
        self.stopped.insert(run.clone());
        let forged = self.random.below(4);
        let Some(record) = self.records.get_mut(run) else {
            return;
        };
        match forged {
            0 => record.limit_ms = u64::MAX,
            1 => record.begun.at_ms = u64::MAX,
            2 => drop(self.records.remove(run)),
            _ => {}
        }
    }

    /// Kills a supervisor that the watchdog found stuck.
    pub(super) fn end_stuck(&mut self, run: &RunId) {
        if !self.stopped.remove(run) {
            self.fail(format_args!(
                "the watchdog ends the supervisor of {run}, which works"
            ));
        }
        self.count("stuck supervisor ended");
        self.kill(run);
    }

    /// The machine goes down and comes up again: nothing runs any more, and its clock begins at zero.
    pub(super) fn reboot(&mut self) {
        self.note("the machine reboots");
        self.count("rebooted");
        let runs: Vec<RunId> = self.supervisors.keys().cloned().collect();
        for run in &runs {
            self.kill(run);
        }
        self.born.clear();
        self.locks.clear();
        self.strays.clear();
        self.stopped.clear();
        self.boots += 1;
        self.booted_at = self.passed;
    }
}

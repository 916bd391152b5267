//! What follows from what was seen.

use serde::{Deserialize, Serialize};

use super::step::{Moment, Step, StepRecord};

/// The limits that a look is made with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WatchLimits {
    /// Least time that has to pass between two looks that see the same step past its limit.
    pub grace_ms: u64,
    /// Longest limit that a record is believed.
    pub believed_max_ms: u64,
    /// Limit of a process without a readable record, from the first look that found it so.
    pub unrecorded_ms: u64,
}

/// What an earlier look found suspicious.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspicion {
    /// The record that was seen; `None` if there was no readable one.
    pub record: Option<StepRecord>,
    /// When it was first seen so.
    pub since: Moment,
}

/// A process that has stopped making progress.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stuck {
    /// The process, as it recorded itself; `None` if nothing can be read. Must be checked before it is signalled.
    pub pid: Option<i32>,
    /// When that process started, in clock ticks since boot.
    pub start_time: Option<u64>,
    /// The step that it did not get past.
    pub step: Option<Step>,
    /// How long it has been in that step, in milliseconds.
    pub for_ms: u64,
}

impl Stuck {
    /// A process that has been in its recorded step for this many milliseconds.
    pub fn of(record: &StepRecord, for_ms: u64) -> Self {
        Self {
            pid: Some(record.pid),
            start_time: Some(record.start_time),
            step: Some(record.step),
            for_ms,
        }
    }

    /// Returns whether the current record is the one that this was found in: the same process, in the same step ever
    /// since. Otherwise it must be left alone: someone else may have ended the process meanwhile, and started another
    /// supervisor for its exit handling.
    pub fn is_still(&self, record: Option<&StepRecord>, now: &Moment) -> bool {
        let record = record.filter(|record| is_possible(record, now));
        let in_step_for = record.map_or(u64::MAX, |record| now.at_ms - record.begun.at_ms);
        self.pid == record.map(|record| record.pid)
            && self.start_time == record.map(|record| record.start_time)
            && self.step == record.map(|record| record.step)
            && in_step_for >= self.for_ms
    }

    /// Describes how long nothing has happened, to follow "the supervisor" or "the tick of process 1".
    pub fn words(&self) -> String {
        let seconds = self.for_ms / 1000;
        match self.step {
            Some(step) => format!("did not get past {} for {seconds} s", step.words()),
            None => format!("recorded no step for {seconds} s"),
        }
    }
}

/// What follows from a look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Watch {
    /// The step is within its limit.
    InTime,
    /// The step is past its limit, or unknown. The suspicion is kept for the next look.
    Suspect(Suspicion),
    /// Two looks have seen it past its limit: it must be ended.
    Stuck(Stuck),
}

/// Decides what follows from the record of a process that is alive, and from the suspicion of an earlier look.
///
/// - A step within its limit is left alone, and so is one that differs from the suspected step, even in its number: the
///   process makes progress.
/// - A step past its limit becomes a suspicion, and a suspicion that is at least `grace_ms` old becomes
///   [`Watch::Stuck`]. Both looks use the clock that stops during a suspension, so a laptop that was asleep finds every
///   step where it was.
/// - A limit beyond `believed_max_ms` counts as `believed_max_ms`. A record that is unreadable, of another boot or from
///   the future counts as none: time then runs from the first look that found it so. An agent that forges a record once
///   thus gains at most `believed_max_ms`. One that keeps forging gains more, and one that forges another run's record
///   can end that run, as `kill` could: only a sandbox that hides the folder of runs stops these.
pub fn watch(
    record: Option<&StepRecord>,
    earlier: Option<&Suspicion>,
    now: &Moment,
    limits: &WatchLimits,
) -> Watch {
    let record = record.filter(|record| is_possible(record, now));
    let same = |earlier: &&Suspicion| {
        earlier.record.as_ref() == record
            && earlier.since.boot == now.boot
            && earlier.since.at_ms <= now.at_ms
    };
    let earlier = earlier.filter(same);
    let suspect = || {
        let fresh = || Suspicion {
            record: record.cloned(),
            since: now.clone(),
        };
        Watch::Suspect(earlier.cloned().unwrap_or_else(fresh))
    };
    let seen_for = earlier.map(|earlier| now.at_ms - earlier.since.at_ms);
    match (record, seen_for) {
        (Some(record), _) if overdue(record, now, limits).is_none() => Watch::InTime,
        (Some(record), Some(seen_for)) if seen_for >= limits.grace_ms => {
            Watch::Stuck(Stuck::of(record, now.at_ms - record.begun.at_ms))
        }
        (None, Some(seen_for))
            if seen_for >= limits.unrecorded_ms.saturating_add(limits.grace_ms) =>
        {
            Watch::Stuck(Stuck {
                pid: None,
                start_time: None,
                step: None,
                for_ms: seen_for,
            })
        }
        _ => suspect(),
    }
}

/// Returns how long a step that is past its limit has taken, in milliseconds; `None` while it is within its limit, or
/// when the record is of another boot.
pub fn overdue(record: &StepRecord, now: &Moment, limits: &WatchLimits) -> Option<u64> {
    if !is_possible(record, now) {
        return None;
    }
    let passed = now.at_ms - record.begun.at_ms;
    (passed >= record.limit_ms.min(limits.believed_max_ms)).then_some(passed)
}

/// Returns whether a living process can have written this record: in this boot, and not in the future.
fn is_possible(record: &StepRecord, now: &Moment) -> bool {
    record.begun.boot == now.boot && record.begun.at_ms <= now.at_ms
}

//! The tick that has the turn, as other ticks see it: in time, late or stuck.

use std::path::{Path, PathBuf};

use symphony_core::watchdog::{StepRecord, Stuck, Watch, overdue, watch};
use symphony_workspace::Failpoint;

use super::notes::read_notes;
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::process::{end_lock_holder, is_lock_holder, open_without_waiting};
use crate::watchdog::{earlier_suspicion, keep, moment};

/// The state of the tick that has the turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Holder {
    /// It makes progress.
    InTime,
    /// Its step exceeds its limit.
    Late(Stuck),
    /// Two checks, some time apart, found the same step over its limit.
    Stuck(Stuck),
}

/// Checks the tick that has the turn, and keeps a suspicion for the next check.
pub(super) fn look_at_holder(installation: &Installation) -> Result<Holder, RunnerError> {
    let record = read_holder(&installation.tick_lock());
    let limits = installation.config.watchdog.limits_of_tick();
    let path = suspicion_file(installation);
    let now = moment()?;
    let earlier = earlier_suspicion(&path);
    Ok(
        match watch(record.as_ref(), earlier.as_ref(), &now, &limits) {
            Watch::InTime => Holder::InTime,
            Watch::Stuck(stuck) => Holder::Stuck(stuck),
            Watch::Suspect(suspicion) => {
                if let Err(error) = keep(&path, &suspicion) {
                    tracing::warn!(%error, "a tick that may be stuck is not noted");
                }
                let late = record
                    .and_then(|record| Some(Stuck::of(&record, overdue(&record, &now, &limits)?)));
                late.map_or(Holder::InTime, Holder::Late)
            }
        },
    )
}

/// Returns the tick that has the turn if it exceeds a time limit.
///
/// It takes no lock: a tick that wants its turn at the same moment would take this check for another tick.
pub fn stuck_tick(installation: &Installation) -> Option<Stuck> {
    let lock = installation.tick_lock();
    let record = read_holder(&lock)?;
    let limits = installation.config.watchdog.limits_of_tick();
    let for_ms = overdue(&record, &moment().ok()?, &limits)?;
    let is_holder = is_lock_holder(record.pid, record.start_time, &lock).ok()?;
    is_holder.then(|| Stuck::of(&record, for_ms))
}

/// Kills a stuck tick. Returns false when the recorded process does not have the turn, or that cannot be determined.
pub(super) fn end_holder(lock: &Path, stuck: &Stuck) -> Result<bool, RunnerError> {
    let (Some(pid), Some(start_time)) = (stuck.pid, stuck.start_time) else {
        return Ok(false);
    };
    let ended = end_lock_holder(pid, start_time, lock)?;
    if ended {
        Failpoint::WatchdogTickKilled.reach();
    }
    Ok(ended)
}

fn read_holder(lock: &Path) -> Option<StepRecord> {
    let file = open_without_waiting(lock).ok()?;
    read_notes(&file).ok()?.record
}

fn suspicion_file(installation: &Installation) -> PathBuf {
    installation.tick_lock().with_extension("suspicion.json")
}

//! A tick from beginning to end, in its turn.

use std::fs::{File, OpenOptions, TryLockError};
use std::time::{Duration, Instant};

use symphony_core::Timestamp;
use symphony_core::run::Run;
use symphony_core::tick::{Plan, plan_tick};
use symphony_workspace::Failpoint;

use super::act::act;
use super::hands::LocalHands;
use super::observe::observe;
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::process::DetachedSupervisor;

/// How long `--wait` waits for its turn: longer than any tick takes.
const TURN_WAIT_MAX: Duration = Duration::from_mins(1);
/// Time between two looks at the lock.
const LOOK: Duration = Duration::from_millis(100);

/// How a tick is made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TickOptions {
    /// Only plan.
    pub dry_run: bool,
    /// Wait for the turn when another tick is at work.
    pub wait_for_lock: bool,
}

/// What came of a tick.
#[derive(Debug)]
pub enum TickOutcome {
    /// It was made.
    Done(TickReport),
    /// Another one is at work.
    Busy,
}

/// What a tick did.
#[derive(Debug, Default)]
pub struct TickReport {
    /// What was planned.
    pub plan: Plan,
    /// The runs that were started.
    pub started: Vec<Run>,
    /// Their supervisors, and those that finish crashed runs. A process that goes on asks them now and then whether
    /// they have ended ([`DetachedSupervisor::try_wait`]); they outlive one that does not.
    pub supervisors: Vec<DetachedSupervisor>,
    /// What was done, a line each.
    pub lines: Vec<String>,
    /// What could not be done, a line each; the next tick tries again.
    pub problems: Vec<String>,
}

/// Makes one tick.
///
/// # Errors
/// When the database can not be read or written, or no turn came within a minute.
pub fn tick(installation: &Installation, options: TickOptions) -> Result<TickOutcome, RunnerError> {
    let mut store = installation.open_store()?;
    let Some(_turn) = take_turn(installation, options)? else {
        return Ok(TickOutcome::Busy);
    };
    let now = Timestamp::now();
    let mut hands = LocalHands::new(installation);
    let (world, problems) = observe(installation, &mut store, &mut hands, now)?;
    let plan = plan_tick(&world.snapshot, now);
    let mut report = TickReport {
        plan,
        problems,
        ..TickReport::default()
    };
    if !options.dry_run {
        store.record_tick(now)?;
        Failpoint::TickRecorded.reach();
        let done = act(&mut store, &mut hands, &world, &report.plan.actions)?;
        report.started = done.started;
        report.lines = done.lines;
        report.problems.extend(done.problems);
        report.supervisors = hands.into_supervisors();
    }
    Ok(TickOutcome::Done(report))
}

/// Takes the lock that makes ticks take turns; it is given up when the value is dropped.
fn take_turn(
    installation: &Installation,
    options: TickOptions,
) -> Result<Option<File>, RunnerError> {
    let path = installation.tick_lock();
    let failed = |error| RunnerError::io("lock", &path, error);
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(failed)?;
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(RunnerError::io("lock", &path, error)),
        }
        if !options.wait_for_lock || begun.elapsed() > TURN_WAIT_MAX {
            return Ok(None);
        }
        std::thread::sleep(LOOK);
    }
}

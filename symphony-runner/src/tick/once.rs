//! A complete tick, from taking its turn to the end.

use symphony_core::Timestamp;
use symphony_core::run::Run;
use symphony_core::tick::{Schedule, Snapshot, plan_tick};
use symphony_core::watchdog::{Step, Stuck};
use symphony_store::Store;
use symphony_workspace::{Failpoint, SilentHubs};

use super::act::act;
use super::effects::LocalEffects;
use super::observe::observe;
use super::observed::Observed;
use super::turn::{Taken, Turn, TurnWish, take_among_hosts};
use crate::database::{back_up_if_due, note_mark};
use crate::error::RunnerError;
use crate::forge::start_forge;
use crate::installation::Installation;
use crate::merge::{MergesUnderWay, settle_merges};
use crate::outreach::notify::notify;
use crate::outreach::publish::start_publisher;
use crate::paths::STATE_DIR;
use crate::placement::control::take_host;
use crate::placement::hub::hand_over_projects;
use crate::placement::old_refs::remove_old_refs;
use crate::placement::promote::bring_in_results;
use crate::plan::tick_plans;
use crate::process::DetachedSupervisor;
use crate::step_event::StepEvent;
use crate::tracker::start_sync;
use crate::upkeep::kept_documents::keep_documents;
use crate::upkeep::retention::{daily_clean_up, is_clean_up_due};

/// Options of a tick.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TickOptions {
    /// Only plan, without acting.
    pub dry_run: bool,
    /// Wait for the turn if another tick has it.
    pub wait_for_lock: bool,
    /// Since when only the scanner and background research had work, for a loop that is to end. Each of them then runs
    /// once.
    pub idle_since: Option<Timestamp>,
}

/// The result of a tick.
#[derive(Debug)]
pub enum TickOutcome {
    /// It ran.
    Done(TickReport),
    /// Another tick has the turn. If that one exceeds a time limit, with its step.
    Busy(Option<Stuck>),
}

/// What a tick did.
#[derive(Debug, Default)]
pub struct TickReport {
    /// What was planned.
    pub schedule: Schedule,
    /// What the plan was made from, so that callers need not observe again.
    pub snapshot: Box<Snapshot>,
    /// The runs that were started, including phases of plans.
    pub started: Vec<Run>,
    /// Their supervisors, and those that finish crashed runs. A process that continues must check now and then whether
    /// they have ended ([`DetachedSupervisor::try_wait`]); they outlive one that does not continue.
    pub supervisors: Vec<DetachedSupervisor>,
    /// What was done.
    pub events: Vec<StepEvent>,
    /// What could not be done. The next tick tries again.
    pub problems: Vec<String>,
    /// The problems that the last tick did not report.
    pub new_problems: Vec<String>,
}

/// Runs one tick on the installation's database.
///
/// # Errors
/// When the database cannot be read or written, or the turn was not free within a minute.
pub fn tick(
    installation: &Installation,
    store: &mut Store,
    options: TickOptions,
) -> Result<TickOutcome, RunnerError> {
    installation.refuse_network()?;
    let wish = match options {
        TickOptions { dry_run: true, .. } => TurnWish::Now,
        TickOptions {
            wait_for_lock: true,
            ..
        } => TurnWish::Wait,
        _ => TurnWish::EndStuck,
    };
    let turn = match Turn::take(installation, wish)? {
        Taken::Turn(turn) => turn,
        Taken::Busy(late) => return Ok(TickOutcome::Busy(late)),
    };
    // Second: while it waits for another host, this host's file shows that a tick is there.
    if !take_among_hosts(store, wish)? {
        return Ok(TickOutcome::Busy(None));
    }
    let done = tick_in_turn(installation, store, options, turn);
    store.end_host_turn();
    done
}

fn tick_in_turn(
    installation: &Installation,
    store: &mut Store,
    options: TickOptions,
    mut turn: Turn,
) -> Result<TickOutcome, RunnerError> {
    if !options.dry_run {
        take_host(installation, store)?;
    }
    // First, because the store refuses any other change to a pull request whose merge was interrupted.
    let settled = if options.dry_run {
        Settled::default()
    } else {
        settle_all(installation, store, &turn)?
    };
    let mut hubs = SilentHubs::default();
    // Before anything is observed: an issue goes on with the work of its last run, wherever that was.
    let (brought, not_handed) = if options.dry_run {
        Default::default()
    } else {
        let brought = bring_in_results(installation, store, &turn, &mut hubs)?;
        let not_handed = hand_over_projects(installation, store, &turn, &mut hubs)?;
        (brought, not_handed)
    };
    turn.enter(Step::Observe);
    let now = Timestamp::now();
    let mut effects = LocalEffects::new(installation);
    effects.leave_alone(hubs);
    let (mut observed, problems) = observe(installation, store, &mut effects, now)?;
    for view in observed.snapshot.projects.values_mut() {
        view.agents.idle_since = options.idle_since;
    }
    let schedule = plan_tick(&observed.snapshot, now);
    let mut report = TickReport {
        schedule,
        problems,
        ..TickReport::default()
    };
    if !options.dry_run {
        turn.note(now);
        Failpoint::TickRecorded.reach();
        effects.record_steps_in(&turn);
        let done = act(store, &mut effects, &observed, &report.schedule.actions)?;
        report.started = done.started;
        let ended = turn.ended().cloned();
        report.events = ended.map(StepEvent::TickEnded).into_iter().collect();
        report.events.extend(settled.events);
        report.problems.extend(settled.problems);
        report.events.extend(brought.events);
        report.problems.extend(brought.problems);
        report.problems.extend(not_handed);
        report.events.extend(done.events);
        report.problems.extend(done.problems);
        let mut hubs = effects.left_alone();
        report.supervisors = effects.into_supervisors();
        turn.enter(Step::Plans);
        let plans = tick_plans(installation, store)?;
        report.events.extend(plans.events);
        report.problems.extend(plans.problems);
        report.started.extend(plans.started);
        report.supervisors.extend(plans.supervisors);
        turn.enter(Step::Upkeep);
        // What a run spent counts without it.
        if let Err(error) = store.settle_spending(now) {
            report
                .problems
                .push(format!("spending of ended runs: {error}"));
        }
        match notify(installation, store, &observed, &report.schedule, now) {
            Ok(deliverer) => report.supervisors.extend(deliverer),
            // The notification is lost for now, but the work continues.
            Err(error) => report.problems.push(format!("notify: {error}")),
        }
        match start_publisher(installation, store) {
            Ok(publisher) => report.supervisors.extend(publisher),
            Err(error) => report.problems.push(format!("publish: {error}")),
        }
        match start_sync(installation, store, &observed, now) {
            Ok(helper) => report.supervisors.extend(helper),
            Err(error) => report.problems.push(format!("trackers: {error}")),
        }
        match start_forge(installation, store, &observed, now) {
            Ok(helper) => report.supervisors.extend(helper),
            Err(error) => report.problems.push(format!("forge: {error}")),
        }
        report.problems.extend(keep_all_documents(store, &observed));
        remove_all_unwritten(&observed);
        // Last, as other clean-ups, since nothing waits for it.
        let days = installation.config.log_retention_days;
        if is_clean_up_due(store, now)? {
            let problems = remove_old_refs(installation, store, now, &turn, &mut hubs)?;
            report.problems.extend(problems);
        }
        let (events, problems) = daily_clean_up(store, days, now)?;
        report.events.extend(events);
        report.problems.extend(problems);
        turn.enter(Step::Upkeep);
        match back_up_if_due(installation, store, now) {
            Ok(helper) => report.supervisors.extend(helper),
            Err(error) => report
                .problems
                .push(format!("back the database up: {error}")),
        }
        note_mark(installation, store);
        report.new_problems = turn.note_problems(&report.problems);
    }
    report.snapshot = Box::new(observed.snapshot);
    Ok(TickOutcome::Done(report))
}

/// Keeps the commits of documents in all projects: those that a dead process missed, and those that a person approved.
fn keep_all_documents(store: &Store, observed: &Observed) -> Vec<String> {
    let projects = observed.projects.values();
    let known = projects.filter_map(|(project, config)| Some((project, config.as_ref()?)));
    known
        .filter_map(|(project, config)| {
            let error = keep_documents(store, project, config).err()?;
            let id = &project.id;
            Some(format!(
                "project {id}: commits of documents were not preserved: {error}"
            ))
        })
        .collect()
}

/// Removes the temporary files that dead processes left beside the projects' files, since the next write there may be a
/// month away.
fn remove_all_unwritten(observed: &Observed) {
    for (project, _) in observed.projects.values() {
        symphony_workspace::remove_unwritten(&project.root);
        symphony_workspace::remove_unwritten(&project.root.join(STATE_DIR));
    }
}

/// What happened to interrupted merges.
#[derive(Debug, Default)]
struct Settled {
    events: Vec<StepEvent>,
    problems: Vec<String>,
}

/// Settles the interrupted merges of all projects.
fn settle_all(
    installation: &Installation,
    store: &mut Store,
    turn: &Turn,
) -> Result<Settled, RunnerError> {
    let mut settled = Settled::default();
    for project in store.projects()? {
        turn.enter(Step::Observe);
        match settle_merges(installation, store, &project, MergesUnderWay::Left) {
            Ok(events) => settled.events.extend(events),
            Err(error) => settled.problems.push(format!(
                "project {}: an interrupted merge could not be settled: {error}",
                project.id
            )),
        }
    }
    Ok(settled)
}

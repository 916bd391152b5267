//! Starts runs: they are claimed in portions, each in one transaction; then those of this host get their supervisors, and the others wait for a worker.

use std::collections::BTreeMap;

use symphony_core::id::ProjectId;
use symphony_core::placement::{Place, Pool, place_of};
use symphony_core::run::{ProtectionLevel, Run};
use symphony_core::tick::StartRun;
use symphony_store::{ClaimLimits, ClaimRequest, Context, Project, Store};
use symphony_workspace::Failpoint;

use super::effects::Effects;
use super::observed::Observed;
use super::report::ActReport;
use crate::error::RunnerError;
use crate::step_event::{StartEnd, StartSubject, StepEvent};
use crate::supervise::SuperviseMode;

/// How many runs are claimed in one transaction. On a server a long one loses against short ones again and again: 128 claims kept a tick busy
/// for up to 49 s.
const CLAIMS_MAX: usize = 16;

/// Claims runs, a portion in each transaction, and starts the supervisors of those that are not for a pool.
pub(super) fn start_runs(
    store: &mut Store,
    effects: &mut impl Effects,
    observed: &Observed,
    starts: &[&StartRun],
    report: &mut ActReport,
) -> Result<(), RunnerError> {
    let pools = pools_of(observed);
    let mut requests = Vec::new();
    let mut locks = Vec::new();
    for start in starts {
        let Some((project, _)) = observed.projects.get(&start.project) else {
            continue;
        };
        let run = effects.run_id();
        let lock = match place_of(&start.target, &start.agent, pools.get(&start.project)) {
            // The worker that begins it locks it, on its own host.
            Place::Pool(_) => None,
            // Locked before it is claimed, so that a live run is never without a holder of its lock.
            Place::Control => match effects.lock(project, &run) {
                Ok(lock) => Some(lock),
                Err(error) => {
                    report.problems.push(format!("{}: {error}", project.id));
                    continue;
                }
            },
        };
        Failpoint::TickLocked.reach();
        locks.push((project, lock));
        requests.push(ClaimRequest {
            run,
            start: (*start).clone(),
            protection: ProtectionLevel::None,
        });
    }
    let context = Context::system(effects.now());
    let limits = ClaimLimits::of(&observed.snapshot);
    let mut locks = locks.into_iter();
    for portion in requests.chunks(CLAIMS_MAX) {
        let claims = store.claim_for_pools(&context, portion, &limits, &pools)?;
        Failpoint::TickClaimed.reach();
        // The claimed runs are live from here on. If this process dies before their supervisors start, it releases their
        // locks, and the next tick finds live runs with free locks and does their exit handling. Those of pools wait there.
        // So each portion is started before the next one is claimed, which may fail.
        for ((claim, request), (project, lock)) in
            claims.into_iter().zip(portion).zip(locks.by_ref())
        {
            let on = StartSubject::of(&request.start);
            match (claim, lock) {
                (Err(refusal), lock) => {
                    if let Some(lock) = lock {
                        effects.give_up(project, &request.run, lock);
                    }
                    let end = StartEnd::Refused(refusal);
                    report.events.push(StepEvent::Start(on, end));
                }
                (Ok(run), Some(lock)) => start_here(effects, project, (on, run), lock, report),
                (Ok(run), None) => queue(effects, on, run, report),
            }
        }
    }
    Ok(())
}

/// Starts the supervisor of a claimed run. One that cannot be started counts as a crash, and the next tick does the exit handling.
fn start_here<E: Effects>(
    effects: &mut E,
    project: &Project,
    (on, run): (StartSubject, Run),
    lock: E::Lock,
    report: &mut ActReport,
) {
    match effects.start_supervisor(project, &run.id, lock, SuperviseMode::Run) {
        Ok(()) => {
            Failpoint::TickLaunched.reach();
            let end = StartEnd::Started(run.id.clone());
            report.events.push(StepEvent::Start(on, end));
            report.started.push(run);
        }
        Err(error) => report.problems.push(format!("{on}: {error}")),
    }
}

/// Hands a claimed run over to the workers of its pool. If that fails, the next tick does it.
fn queue(effects: &impl Effects, on: StartSubject, run: Run, report: &mut ActReport) {
    if let Some(pool) = run.pool.clone() {
        if let Err(error) = effects.placement().submit(&run.id, &pool) {
            report.note_once(error.to_string());
        }
        let end = StartEnd::Queued(run.id.clone(), pool);
        report.events.push(StepEvent::Start(on, end));
    }
    report.started.push(run);
}

fn pools_of(observed: &Observed) -> BTreeMap<ProjectId, Pool> {
    let views = observed.snapshot.projects.iter();
    views
        .filter_map(|(id, view)| Some((id.clone(), view.pool.clone()?)))
        .collect()
}

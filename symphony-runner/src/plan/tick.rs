//! Plans moved on by ticks (`plan.by_tick`).

use symphony_core::id::PlanId;
use symphony_core::plan::state::OnFailure;
use symphony_core::run::Run;
use symphony_store::{Project, Store};

use super::conclude::Conclusion;
use super::drive::PlanDrive;
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::process::DetachedSupervisor;

/// What a tick did with plans.
#[derive(Debug, Default)]
pub struct PlanTick {
    /// What was done, a line each.
    pub lines: Vec<String>,
    /// What could not be done, a line each; the next tick tries again.
    pub problems: Vec<String>,
    /// The runs that were started.
    pub started: Vec<Run>,
    /// Their supervisors.
    pub supervisors: Vec<DetachedSupervisor>,
}

/// Makes a round of each plan that is under way and that nobody else moves on, in the projects that let ticks do so.
///
/// # Errors
/// When the database can not be read.
pub fn tick_plans(installation: &Installation, store: &mut Store) -> Result<PlanTick, RunnerError> {
    let mut tick = PlanTick::default();
    for project in store.projects()? {
        // a broken configuration is told by the tick itself
        let by_tick = installation
            .project_config(&project)
            .is_ok_and(|config| config.plan.by_tick);
        if !by_tick {
            continue;
        }
        for plan in store.open_plans(&project.id)? {
            if let Err(error) = move_on(installation, store, &project, &plan, &mut tick) {
                tick.problems.push(format!("plan {plan}: {error}"));
            }
        }
        // what this tick or an earlier one has completed
        for plan in store.unmerged_plans(&project.id)? {
            if let Err(error) = conclude(installation, store, &project, &plan, &mut tick) {
                tick.problems.push(format!("plan {plan}: {error}"));
            }
        }
    }
    Ok(tick)
}

fn move_on(
    installation: &Installation,
    store: &mut Store,
    project: &Project,
    plan: &PlanId,
    tick: &mut PlanTick,
) -> Result<(), RunnerError> {
    let Some(mut drive) = PlanDrive::take(installation, project, plan)? else {
        return Ok(());
    };
    // nobody is there to be asked
    let asks = store.plan(plan)?.options.on_failure == OnFailure::Ask;
    let round = drive.round(store, asks.then_some(OnFailure::Wait))?;
    let named = |line: String| format!("plan {plan}: {line}");
    tick.lines.extend(round.lines.into_iter().map(named));
    tick.problems.extend(round.problems.into_iter().map(named));
    let status = round.record.state.status;
    if status.is_ended() {
        tick.lines.push(format!("plan {plan}: {status}"));
    }
    tick.started.extend(round.started);
    tick.supervisors.extend(drive.into_supervisors());
    Ok(())
}

/// Gives the user's branch the work of a plan that has completed, unless somebody else does.
fn conclude(
    installation: &Installation,
    store: &mut Store,
    project: &Project,
    plan: &PlanId,
    tick: &mut PlanTick,
) -> Result<(), RunnerError> {
    let Some(mut drive) = PlanDrive::take(installation, project, plan)? else {
        return Ok(());
    };
    match drive.conclude(store)? {
        Conclusion::Nothing => {}
        Conclusion::Merged { branch, commit } => {
            tick.lines
                .push(format!("plan {plan}: its work is on {branch} ({commit})"));
        }
        Conclusion::Left {
            reason, command, ..
        } => tick.problems.push(format!(
            "plan {plan}: {reason}: `{command}` takes its work over"
        )),
    }
    Ok(())
}

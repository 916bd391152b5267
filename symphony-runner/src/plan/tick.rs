//! Plans that ticks move on (`plan.by_tick`).

use symphony_core::id::PlanId;
use symphony_core::plan::state::{OnFailure, PlanStatus};
use symphony_core::run::Run;
use symphony_store::Store;

use super::conclude::Conclusion;
use super::drive::PlanDrive;
use super::taken_over::notice_taken_over;
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::process::DetachedSupervisor;
use crate::step_event::{PlanStepEvent, StepEvent};

/// What a tick did with plans.
#[derive(Debug, Default)]
pub struct PlanTick {
    /// What was done.
    pub events: Vec<StepEvent>,
    /// What failed, a line each; the next tick tries again.
    pub problems: Vec<String>,
    /// The runs that were started.
    pub started: Vec<Run>,
    /// Their supervisors.
    pub supervisors: Vec<DetachedSupervisor>,
}

/// Records which ended plans a person took over. Makes a round of each active plan that no one else moves on, in the
/// projects that let ticks do so, and cleans up after those that have completed.
///
/// # Errors
/// When the database cannot be read.
pub fn tick_plans(installation: &Installation, store: &mut Store) -> Result<PlanTick, RunnerError> {
    let mut tick = PlanTick::default();
    for project in store.projects()? {
        if let Err(error) = notice_taken_over(installation, store, &project) {
            tracing::debug!(%error, project = %project.id, "the work of ended plans was not looked at");
        }
        // The tick itself reports a broken configuration.
        let Ok(config) = installation.project_config(&project) else {
            continue;
        };
        // A complete plan is concluded whoever began it: its review is the ticks' work anyway.
        let mut plans = if config.plan.by_tick {
            store.open_plans(&project.id)?
        } else {
            store.plans_awaiting_review(&project.id)?
        };
        plans.extend(store.plans_to_clean_up(&project.id)?);
        for plan in store.plans_in_review(&project.id)? {
            if !plans.contains(&plan) {
                plans.push(plan);
            }
        }
        for plan in plans {
            let moved = match PlanDrive::take(installation, &project, &plan) {
                Ok(Some(drive)) => tick.move_on(drive, store),
                Ok(None) => Ok(()),
                Err(error) => Err(error),
            };
            if let Err(error) = moved {
                tick.problems.push(format!("plan {plan}: {error}"));
            }
        }
    }
    Ok(tick)
}

impl PlanTick {
    fn note(&mut self, plan: &PlanId, event: PlanStepEvent) {
        self.events.push(StepEvent::Plan(plan.clone(), event));
    }

    fn move_on(&mut self, mut drive: PlanDrive<'_>, store: &mut Store) -> Result<(), RunnerError> {
        let done = self.go_on(&mut drive, store);
        self.supervisors.extend(drive.into_supervisors());
        done
    }

    fn go_on(&mut self, drive: &mut PlanDrive<'_>, store: &mut Store) -> Result<(), RunnerError> {
        let record = store.plan(drive.plan())?;
        let is_under_way = !record.state.status.is_ended()
            && record.state.status != PlanStatus::Review
            && !record.state.awaits_review(record.completion());
        if is_under_way {
            // No one is there to ask.
            let asks = record.options.on_failure == OnFailure::Ask;
            let round = drive.round(store, asks.then_some(OnFailure::Wait))?;
            let named = |problem: String| format!("plan {}: {problem}", record.id);
            for event in round.events {
                self.note(&record.id, event);
            }
            self.problems.extend(round.problems.into_iter().map(named));
            self.started.extend(round.started);
            let status = round.record.state.status;
            if status.is_ended() {
                self.note(&record.id, PlanStepEvent::Ended(status));
            }
        }
        match drive.conclude(store)? {
            Conclusion::Nothing => {}
            Conclusion::InReview {
                pr,
                branch,
                is_renewed,
            } => {
                if is_renewed {
                    self.note(&record.id, PlanStepEvent::ReviewRenewed { pr });
                }
                if record.state.status != PlanStatus::Review {
                    self.note(&record.id, PlanStepEvent::ReviewOpened { pr, branch });
                }
            }
            Conclusion::Merged { branch, commit } => {
                self.note(&record.id, PlanStepEvent::Merged { branch, commit });
            }
            Conclusion::Unchanged { branch } => {
                self.note(&record.id, PlanStepEvent::Unchanged { branch });
            }
            Conclusion::Asked { reason } => self.problems.push(format!(
                "plan {}: {reason}; then run `symphony plan resume --plan {}`",
                record.id, record.id
            )),
            Conclusion::Left {
                reason, command, ..
            } => self.problems.push(format!(
                "plan {}: {reason}: `{command}` takes its work over",
                record.id
            )),
        }
        Ok(())
    }
}

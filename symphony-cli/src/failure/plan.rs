//! Exit codes and hints of plan files and state files.

use std::error::Error;

use symphony_core::plan::PlanError;
use symphony_core::plan::state::PlanTransitionError;
use symphony_core::plan::state_file::StateFileError;

use super::{Exit, Verdict};

/// Judges one error of a chain; none when it is not about a plan.
pub(super) fn judge_cause(cause: &(dyn Error + 'static)) -> Option<Verdict> {
    let plan = cause.downcast_ref::<PlanError>().map(of_plan);
    let state = || cause.downcast_ref::<StateFileError>().map(of_state_file);
    let transition = || {
        cause
            .downcast_ref::<PlanTransitionError>()
            .map(of_transition)
    };
    plan.or_else(state).or_else(transition)
}

fn of_plan(error: &PlanError) -> Verdict {
    Verdict {
        exit: Exit::Failed,
        hint: plan_hint(error).map(str::to_owned),
    }
}

/// Says what to do about a text that is no plan.
pub(crate) const fn plan_hint(error: &PlanError) -> Option<&'static str> {
    match error {
        PlanError::NoBlock { .. } => Some(
            "a plan file has a fenced block that begins with a line ```symphony-phases and holds JSON",
        ),
        PlanError::UnclosedBlock { .. } => Some("end the block with a line ```"),
        PlanError::NotAPlan { .. } => {
            Some("the block holds an array of phases, or an object with `phases`")
        }
        PlanError::Invalid { .. } => Some("`symphony plan check FILE` names the lines"),
        _ => None,
    }
}

fn of_state_file(error: &StateFileError) -> Verdict {
    match error {
        StateFileError::UnknownPhase { .. } => Verdict::plain(Exit::NotFound),
        StateFileError::Managed { .. } => Verdict::new(
            Exit::Refused,
            "the plan is run by `symphony plan run`; a skill works on a file of its own: `symphony plan init-state FILE -o STATE`",
        ),
        StateFileError::NeedsForce { phase, .. } => Verdict::new(
            Exit::Refused,
            format!(
                "`symphony plan retry-phase STATE {phase} --force`, or for one that awaits a decision `symphony plan resolve STATE {phase} CHOICE`"
            ),
        ),
        StateFileError::NotDue { phase, .. } => Verdict::new(
            Exit::Refused,
            format!("`symphony plan retry-phase STATE {phase} --force` does not wait"),
        ),
        StateFileError::Transition(error) => of_transition(error),
        StateFileError::Malformed { .. } | StateFileError::Graph(_) => Verdict::new(
            Exit::Failed,
            "mend the file, or make a new one with `symphony plan init-state FILE`",
        ),
        StateFileError::Artifacts(_) => Verdict::new(
            Exit::Failed,
            "an artifact is {\"type\": \"file_created\", \"path\": \"src/a.rs\"}; types: file_created, file_modified, file_deleted, export, note",
        ),
        _ => Verdict::plain(Exit::Failed),
    }
}

fn of_transition(error: &PlanTransitionError) -> Verdict {
    match error {
        PlanTransitionError::UnknownPhase { .. } => Verdict::plain(Exit::NotFound),
        _ => Verdict::plain(Exit::Refused),
    }
}

//! Exit codes and hints of plan files and state files.

use std::error::Error;

use symphony_core::id::{PlanId, PlanPhaseId};
use symphony_core::plan::PlanError;
use symphony_core::plan::state::{PhaseStatus, PlanStatus, PlanTransitionError};
use symphony_core::plan::state_file::StateFileError;
use symphony_view::text::Clock;

use super::Exit;
use super::verdict::Verdict;

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
        _ => None,
    }
}

fn of_state_file(error: &StateFileError) -> Verdict {
    match error {
        StateFileError::UnknownPhase { .. } => Verdict::plain(Exit::NotFound),
        StateFileError::Managed { .. } => Verdict::new(
            Exit::Refused,
            "`symphony plan run` manages this plan; a skill uses a file of its own: `symphony plan init-state FILE -o \
             STATE`",
        ),
        StateFileError::NeedsForce { phase, .. } => Verdict::new(
            Exit::Refused,
            format!(
                "`symphony plan retry-phase STATE {phase} --force`, or for one that awaits a decision `symphony plan resolve STATE {phase} CHOICE`"
            ),
        ),
        StateFileError::NotRunning { .. } => Verdict::new(
            Exit::Refused,
            "`symphony plan ready STATE --start --lease 30m` hands out the phases that can start",
        ),
        StateFileError::NotDue { phase, due_at } => Verdict::new(
            Exit::Refused,
            format!(
                "it is due {}; `symphony plan retry-phase STATE {phase} --force` retries it now",
                Clock::system().until(*due_at)
            ),
        ),
        StateFileError::Transition(error) => of_transition(error),
        StateFileError::Malformed { .. } | StateFileError::Graph(_) => Verdict::new(
            Exit::Failed,
            "fix the file, or create a new one with `symphony plan init-state FILE`",
        ),
        StateFileError::Artifacts(_) => Verdict::new(
            Exit::Failed,
            "an artifact is {\"type\": \"file_created\", \"path\": \"src/a.rs\"}; types: file_created, file_modified, file_deleted, export, note",
        ),
        _ => Verdict::plain(Exit::Failed),
    }
}

/// Judges what does not fit a state file.
fn of_transition(error: &PlanTransitionError) -> Verdict {
    match error {
        PlanTransitionError::UnknownPhase { .. } => Verdict::plain(Exit::NotFound),
        PlanTransitionError::Phase {
            phase,
            from: PhaseStatus::AwaitingDecision,
            ..
        } => Verdict::new(
            Exit::Refused,
            format!("`symphony plan resolve STATE {phase} CHOICE` answers it"),
        ),
        _ => Verdict::new(
            Exit::Refused,
            "`symphony plan graph --state STATE` shows the state of every phase",
        ),
    }
}

/// Judges an order that does not fit the state of a plan, and says which ones do.
pub(super) fn of_order(plan: &PlanId, error: &PlanTransitionError) -> Verdict {
    let status = format!("`symphony plan status --plan {plan}`");
    match error {
        PlanTransitionError::UnknownPhase { .. } => {
            Verdict::new(Exit::NotFound, format!("{status} names its phases"))
        }
        PlanTransitionError::Phase { phase, from, .. } => {
            Verdict::new(Exit::Refused, orders_of_phase(plan, phase, *from))
        }
        PlanTransitionError::Plan { from, .. } | PlanTransitionError::NothingLeft { from } => {
            Verdict::new(Exit::Refused, orders_of_plan(plan, *from))
        }
        _ => Verdict::new(
            Exit::Refused,
            format!("{status} shows the state of every phase"),
        ),
    }
}

/// What can be ordered for a phase in a given state.
fn orders_of_phase(plan: &PlanId, phase: &PlanPhaseId, from: PhaseStatus) -> String {
    let typed = |verb: &str| format!("`symphony plan {verb} --plan {plan} {phase}`");
    let (retry, skip, abort) = (typed("retry"), typed("skip"), typed("abort"));
    match from {
        PhaseStatus::Pending | PhaseStatus::Ready => format!(
            "it starts automatically when it can; {skip} continues without it, {abort} aborts it"
        ),
        PhaseStatus::Running => {
            format!("{abort} ends its run; then you can skip it or retry it")
        }
        PhaseStatus::Retrying => {
            format!("{retry} tries again now, {skip} continues without it, {abort} aborts it")
        }
        PhaseStatus::AwaitingDecision => {
            format!("`symphony plan decide --plan {plan} {phase} CHOICE` answers it")
        }
        PhaseStatus::Failed | PhaseStatus::Aborted => {
            format!("{retry} tries it again, {skip} continues without it")
        }
        PhaseStatus::Blocked => format!(
            "`symphony plan status --plan {plan}` shows the phase that blocks it: retry or skip that one"
        ),
        PhaseStatus::Complete => format!(
            "a complete phase stays as it is; `symphony plan status --plan {plan}` shows the others"
        ),
    }
}

/// Says which orders a plan with this status accepts.
fn orders_of_plan(plan: &PlanId, from: PlanStatus) -> String {
    match from {
        PlanStatus::Paused => format!("`symphony plan resume --plan {plan}` continues it"),
        PlanStatus::Completed => {
            "a completed plan stays as it is; `symphony plan run FILE --new` starts another plan"
                .to_owned()
        }
        PlanStatus::Failed | PlanStatus::Aborted => format!(
            "`symphony plan retry --plan {plan}` retries what failed, `symphony plan run FILE --new` starts another \
             plan"
        ),
        PlanStatus::Review => format!(
            "its pull request is open: `symphony plan status --plan {plan}` shows it, `symphony plan retry PHASE \
             --plan {plan}` withdraws it"
        ),
        PlanStatus::Running | PlanStatus::AwaitingUserDecision => {
            format!("`symphony plan status --plan {plan}` shows its state")
        }
    }
}

/// Says how a plan that is not carried out can be.
pub(super) fn run_hint(error: &symphony_runner::plan::PlanRunRefusal) -> Option<String> {
    use symphony_runner::plan::PlanRunRefusal;
    let hint = match error {
        PlanRunRefusal::WorkLeft { command, .. } => {
            format!("`{command}` brings that work to its target branch, `--new` starts without it")
        }
        PlanRunRefusal::FileChanged {
            has_ended: true, ..
        } => "`--accept-changes` continues with what is complete, `--new` starts another plan"
            .to_owned(),
        PlanRunRefusal::FileChanged { .. } => {
            "`--accept-changes` continues with the file as it is now; complete phases stay complete"
                .to_owned()
        }
        PlanRunRefusal::OnPlanBranch(_) => {
            "`git switch` to the branch that should get the work".to_owned()
        }
        PlanRunRefusal::NotConfined(_) => {
            "leave out `--isolation none`, or run `symphony config set sandbox.level off`"
                .to_owned()
        }
        PlanRunRefusal::ForeignStateFile(_) => "move it away first".to_owned(),
        _ => return None,
    };
    Some(hint)
}

/// Says how something that was refused about the record of a plan can go on.
pub(super) fn record_hint(error: &symphony_store::PlanRefusal) -> Option<String> {
    use symphony_store::PlanRefusal;
    let hint = match error {
        PlanRefusal::UnderWay {
            other,
            waiting: Some(plan),
            ..
        } => format!(
            "let it end, or abort it with `symphony plan abort --plan {other}`; then plan {plan} can continue"
        ),
        PlanRefusal::UnderWay { other, .. } => {
            format!("let it end, or abort it with `symphony plan abort --plan {other}`")
        }
        PlanRefusal::Replaced { newest, .. } => {
            format!("`symphony pr approve {newest} --force --comment TEXT` approves that one")
        }
        PlanRefusal::HasContinued { plan, .. } => {
            format!("`symphony plan status --plan {plan}` shows its state")
        }
        _ => return None,
    };
    Some(hint)
}

//! What follows for an issue when a run on it ends.

use super::effect::{Appointment, Effect};
use super::facts::{IssueFacts, Mover};
use super::moving::Cascade;
use crate::contract::DeliveryState;
use crate::id::RunId;
use crate::issue::TransitionError;
use crate::outcome::Routing;
use crate::run::{Run, RunStatus};

/// Decides whether the open delivery of a run that ends cannot count: it was never settled, or the run changed
/// configuration that runs programs. This comes before the routing, which asks whether the phase is accepted.
pub fn delivery_at_end(facts: &IssueFacts, run: &RunId, status: RunStatus) -> Option<Effect> {
    let delivery = facts.delivery.as_ref()?;
    if delivery.run.as_ref() != Some(run) {
        return None;
    }
    let reason = if status == RunStatus::Tampered {
        "its run changed configuration that runs programs"
    } else if delivery.state == DeliveryState::Submitted {
        "its run ended before the delivery was settled"
    } else {
        return None;
    };
    Some(Effect::RejectDelivery {
        delivery: delivery.id,
        reason,
    })
}

/// Decides what follows for the issue of a run that ended, once its end is recorded.
///
/// # Errors
/// When the issue cannot take the step that the routing asks for.
pub fn consequences_of_run_end(
    facts: &IssueFacts,
    run: &Run,
    routing: &Routing,
    mover: Mover,
) -> Result<Vec<Effect>, TransitionError> {
    let mut cascade = Cascade::from(facts);
    if routing.advance.is_some() {
        cascade.step(mover)?;
    }
    // Counts first: a move by the circuit breaker must not count against a fresh start.
    cascade.push(Effect::SetCounts(routing.counts));
    if let Some(event) = &routing.event {
        cascade.move_issue(event, mover)?;
    }
    if let Some(plan) = &routing.retry {
        cascade.push(Effect::Appoint(Appointment {
            agent: run.agent.clone(),
            attempt: run.attempt,
            plan: plan.clone(),
        }));
    }
    if let Some(comment) = &routing.comment {
        cascade.push(Effect::Comment(comment.clone()));
    }
    Ok(cascade.into_effects())
}

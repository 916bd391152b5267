//! Which tickets a run begins on now, and why others wait (sections 8.2 and 8.3).

use std::cmp::Ordering;

use super::rules::{Rules, Standing};
use super::state::{Room, State};
use crate::config::StateName;
use crate::ticket::{Blocker, Ticket};

/// The state whose tickets wait for their blockers.
const WAITS_FOR_BLOCKERS: &str = "todo";
/// Priorities that come in their order; every other number, and none, comes after them.
const PRIORITIES: std::ops::RangeInclusive<i64> = 1..=4;

/// What is decided about all tickets of one look at the tracker.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dispatch {
    /// Tickets on which a run begins, in this order.
    pub start: Vec<Ticket>,
    /// The other tickets, in the same order, each with the first reason that keeps it.
    pub waiting: Vec<(Ticket, Waiting)>,
}

/// Why no run begins on a ticket.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Waiting {
    /// It has no id, identifier, title or state.
    Incomplete,
    /// It has ended.
    Ended,
    /// Its state is none in which it is worked on.
    NotActive,
    /// A run works on it already.
    Runs,
    /// Its next run has a time.
    WaitsForRetry,
    /// Another ticket has to end first.
    Blocked {
        /// What people call it; absent where the tracker does not show it.
        by: Option<String>,
    },
    /// As many agents work as may.
    NoSlot,
    /// As many agents work on tickets in this state as may.
    NoSlotInState {
        /// The state.
        state: StateName,
    },
}

/// Decides on which tickets a run begins. The tickets may come in any order, and twice.
pub fn plan_dispatch(tickets: &[Ticket], state: &State, rules: &Rules) -> Dispatch {
    let mut sorted: Vec<&Ticket> = tickets.iter().collect();
    sorted.sort_by(|one, other| in_order(one, other));
    let mut room = Room::of(state);
    let mut dispatch = Dispatch::default();
    for ticket in sorted {
        let reason = unfit(ticket, rules).or_else(|| kept_back(ticket, state, &room, rules));
        if let Some(reason) = reason {
            dispatch.waiting.push((ticket.clone(), reason));
        } else {
            room.take(&ticket.id, &ticket.state_name());
            dispatch.start.push(ticket.clone());
        }
    }
    dispatch
}

/// Orders tickets: by priority, then the oldest, then by identifier. The id decides between equals, so that the order does
/// not depend on the tracker's.
fn in_order(one: &Ticket, other: &Ticket) -> Ordering {
    let key = |ticket: &Ticket| {
        let priority = ticket
            .priority
            .filter(|priority| PRIORITIES.contains(priority));
        (
            priority.unwrap_or(i64::MAX),
            ticket.created_at.is_none(),
            ticket.created_at,
        )
    };
    let by_key = key(one).cmp(&key(other));
    let by_name = || one.identifier.cmp(&other.identifier);
    by_key
        .then_with(by_name)
        .then_with(|| one.id.cmp(&other.id))
}

/// Says why a ticket is none to work on, whatever else is going on.
pub(super) fn unfit(ticket: &Ticket, rules: &Rules) -> Option<Waiting> {
    let needed = [&ticket.id, &ticket.identifier, &ticket.title, &ticket.state];
    if needed.iter().any(|text| text.trim().is_empty()) {
        return Some(Waiting::Incomplete);
    }
    let state = ticket.state_name();
    match rules.standing(&state) {
        Standing::Terminal => return Some(Waiting::Ended),
        Standing::Other => return Some(Waiting::NotActive),
        Standing::Active => {}
    }
    if state.as_str() == WAITS_FOR_BLOCKERS {
        let blocker = ticket
            .blocked_by
            .iter()
            .find(|blocker| !has_ended(blocker, rules))?;
        return Some(Waiting::Blocked {
            by: blocker.identifier.clone(),
        });
    }
    None
}

/// A blocker whose state the tracker does not show may still be open.
fn has_ended(blocker: &Blocker, rules: &Rules) -> bool {
    let state = blocker.state.as_deref().map(StateName::new);
    state.is_some_and(|state| rules.standing(&state) == Standing::Terminal)
}

fn kept_back(ticket: &Ticket, state: &State, room: &Room, rules: &Rules) -> Option<Waiting> {
    if room.taken.contains(&ticket.id) {
        return Some(Waiting::Runs);
    }
    if state.retries.contains_key(&ticket.id) {
        return Some(Waiting::WaitsForRetry);
    }
    no_slot(ticket, room, rules)
}

/// Says which limit keeps a ticket from having a run.
pub(super) fn no_slot(ticket: &Ticket, room: &Room, rules: &Rules) -> Option<Waiting> {
    let state = ticket.state_name();
    if room.is_full(rules) {
        return Some(Waiting::NoSlot);
    }
    room.is_full_in(&state, rules)
        .then_some(Waiting::NoSlotInState { state })
}

//! What is going on: runs, and tickets that wait for their next one.

use std::collections::{BTreeMap, BTreeSet};

use symphony_core::Timestamp;

use super::rules::Rules;
use crate::config::StateName;
use crate::ticket::Ticket;

/// Runs and retries, by the tracker's ids of their tickets. A ticket that is in either is claimed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct State {
    /// Runs.
    pub running: BTreeMap<String, Running>,
    /// Tickets whose next run has a time.
    pub retries: BTreeMap<String, Retry>,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Running {
    /// Its ticket, as the tracker showed it last.
    pub ticket: Ticket,
    /// Which attempt it is; absent for the first.
    pub attempt: Option<u32>,
    /// When it began.
    pub started_at: Timestamp,
    /// When its agent sent something last.
    pub last_event_at: Option<Timestamp>,
}

/// A ticket whose next run has a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retry {
    /// What people call the ticket.
    pub identifier: String,
    /// Which attempt the next run is, counted from 1.
    pub attempt: u32,
    /// When it is due.
    pub due: Timestamp,
    /// Why there is another attempt; absent after a run that ended well.
    pub error: Option<String>,
}

/// Room for runs: what is taken, while more of it is given out.
#[derive(Debug, Clone)]
pub(super) struct Room {
    all: usize,
    by_state: BTreeMap<StateName, usize>,
    pub(super) taken: BTreeSet<String>,
}

impl Room {
    /// Counts runs by the state that their tickets have now.
    pub(super) fn of(state: &State) -> Self {
        let mut room = Self {
            all: 0,
            by_state: BTreeMap::new(),
            taken: BTreeSet::new(),
        };
        for (id, run) in &state.running {
            room.take(id, &run.ticket.state_name());
        }
        room
    }

    pub(super) fn take(&mut self, id: &str, state: &StateName) {
        self.all += 1;
        *self.by_state.entry(state.clone()).or_default() += 1;
        self.taken.insert(id.to_owned());
    }

    pub(super) fn is_full(&self, rules: &Rules) -> bool {
        self.all >= usize::try_from(rules.concurrent_max()).unwrap_or(usize::MAX)
    }

    pub(super) fn is_full_in(&self, state: &StateName, rules: &Rules) -> bool {
        let used = self.by_state.get(state).copied().unwrap_or(0);
        used >= usize::try_from(rules.concurrent_max_in(state)).unwrap_or(usize::MAX)
    }
}

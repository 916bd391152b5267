//! Whether runs continue, from what the tracker says of their tickets (sections 7.1, 8.5 and 8.6).

use std::collections::BTreeSet;

use symphony_core::Timestamp;

use super::rules::{Rules, Standing};
use super::state::{Running, State};
use crate::ticket::Ticket;
use crate::workspace::WorkspaceKey;

/// What a look at the tracker means for one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refresh {
    /// The ticket has ended: the run is stopped, and its workspace removed.
    StopAndClean,
    /// The ticket waits for something else: the run is stopped, and its workspace stays.
    Stop,
    /// The run goes on, with the ticket as it is now.
    Update(Box<Ticket>),
}

/// Whether a run has another turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextTurn {
    /// Another turn begins in the same session.
    Continue,
    /// The run ends.
    End,
}

/// Returns the ids of runs whose agents have been silent for too long. They are stopped, and tried again.
pub fn stalled(state: &State, now: Timestamp, rules: &Rules) -> Vec<String> {
    let Some(timeout) = rules.stall_timeout else {
        return Vec::new();
    };
    let timeout = i64::try_from(timeout.as_millis()).unwrap_or(i64::MAX);
    let is_silent = |run: &Running| {
        let since = run.last_event_at.unwrap_or(run.started_at);
        // a clock that was set back makes no agent silent
        now.as_millisecond().saturating_sub(since.as_millisecond()) > timeout
    };
    let silent = state.running.iter().filter(|(_, run)| is_silent(run));
    silent.map(|(id, _)| id.clone()).collect()
}

/// Decides about runs whose tickets the tracker was asked for. A run whose ticket is not in the answer goes on as it is,
/// and so do all when the tracker did not answer: then this is not called.
pub fn plan_refresh(state: &State, answer: &[Ticket], rules: &Rules) -> Vec<(String, Refresh)> {
    let mut seen = BTreeSet::new();
    let runs = answer
        .iter()
        .filter(|ticket| state.running.contains_key(&ticket.id));
    let firsts = runs.filter(|ticket| seen.insert(ticket.id.as_str()));
    let step = |ticket: &Ticket| match rules.standing(&ticket.state_name()) {
        Standing::Terminal => Refresh::StopAndClean,
        Standing::Other => Refresh::Stop,
        Standing::Active => Refresh::Update(Box::new(ticket.clone())),
    };
    firsts
        .map(|ticket| (ticket.id.clone(), step(ticket)))
        .collect()
}

/// Decides, after a turn that ended well, whether there is another one. `refreshed` is the ticket as the tracker shows it
/// now, or as it was where the tracker no longer shows it; turns are counted from 1.
pub fn after_turn(refreshed: &Ticket, turn: u32, rules: &Rules) -> NextTurn {
    let is_active = rules.standing(&refreshed.state_name()) == Standing::Active;
    if is_active && turn < rules.turns_max {
        NextTurn::Continue
    } else {
        NextTurn::End
    }
}

/// Returns the workspaces that are removed at the start: those of tickets that have ended. `answer` are the tracker's
/// tickets in terminal states; one that has another state now is left alone.
pub fn stale_workspaces(answer: &[Ticket], rules: &Rules) -> BTreeSet<WorkspaceKey> {
    let ended = answer
        .iter()
        .filter(|ticket| rules.standing(&ticket.state_name()) == Standing::Terminal);
    ended
        .filter_map(|ticket| WorkspaceKey::of(&ticket.identifier).ok())
        .collect()
}

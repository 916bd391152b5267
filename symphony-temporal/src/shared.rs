//! What a worker and the thread that asks the service for it know of each other.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use symphony_core::id::RunId;
use tokio::sync::Notify;

use crate::error::TemporalError;

/// A run that the service offers. The service waits until [`Offers::end`] says what happened to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The run.
    pub run: RunId,
}

/// What happened to an offer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OfferEnd {
    /// The run was begun here and has ended, or it did not wait any more. There is nothing left to do for the service.
    Done,
    /// The worker could not begin it: the next tick hands it over again, if it still waits.
    Returned {
        /// Why, in words.
        why: String,
    },
}

/// What both sides hold.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    state: Mutex<State>,
    /// The worker has changed something of it.
    pub(crate) changed: Notify,
}

/// What the worker and its thread know of each other.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// How many more runs the worker can take, beside those that are offered.
    pub(crate) wanted: u32,
    pub(crate) offered: VecDeque<Offer>,
    /// What happened to offers, of which the service has not heard yet.
    pub(crate) ended: BTreeMap<RunId, OfferEnd>,
    /// Why the service cannot be asked.
    pub(crate) problem: Option<Problem>,
    pub(crate) is_closing: bool,
}

/// Why the service cannot be asked.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) text: String,
    is_away: bool,
}

impl State {
    /// Notes why the service cannot be asked. While it is away, the first words stay: an outage is one problem.
    pub(crate) fn note(&mut self, error: &TemporalError) {
        let is_away = error.is_away();
        let is_same = self
            .problem
            .as_ref()
            .is_some_and(|problem| problem.is_away && is_away);
        if !is_same {
            let text = error.to_string();
            self.problem = Some(Problem { text, is_away });
        }
    }
}

impl Shared {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        // Each change of the state is a single assignment or a push, so nothing is half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

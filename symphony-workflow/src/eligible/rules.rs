//! What the settings say about dispatch, in the form in which it is asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::config::{Config, StateName};

/// The part of the settings that decides about tickets and runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    active: BTreeSet<StateName>,
    terminal: BTreeSet<StateName>,
    concurrent_max: u32,
    by_state: BTreeMap<StateName, u32>,
    pub(super) retry_backoff_max: Duration,
    pub(super) stall_timeout: Option<Duration>,
    pub(super) turns_max: u32,
}

/// What a state means for work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// A ticket in it is worked on.
    Active,
    /// A ticket in it has ended.
    Terminal,
    /// A ticket in it waits for something else.
    Other,
}

impl Rules {
    /// Takes the rules from the settings.
    pub fn of(config: &Config) -> Self {
        let names = |names: &[String]| {
            let names = names.iter().map(|name| StateName::new(name));
            names.filter(|name| !name.is_blank()).collect()
        };
        Self {
            active: names(&config.tracker.active_states),
            terminal: names(&config.tracker.terminal_states),
            concurrent_max: config.agent.concurrent_max,
            by_state: config.agent.concurrent_max_by_state.clone(),
            retry_backoff_max: config.agent.retry_backoff_max,
            stall_timeout: config.codex.stall_timeout,
            turns_max: config.agent.turns_max,
        }
    }

    /// Says what a state means. A state that is named as both has ended.
    pub fn standing(&self, state: &StateName) -> Standing {
        if self.terminal.contains(state) {
            Standing::Terminal
        } else if self.active.contains(state) {
            Standing::Active
        } else {
            Standing::Other
        }
    }

    /// Returns how many agents may work at once.
    pub fn concurrent_max(&self) -> u32 {
        self.concurrent_max
    }

    /// Returns how many agents may work at once on tickets in a state.
    pub fn concurrent_max_in(&self, state: &StateName) -> u32 {
        self.by_state
            .get(state)
            .copied()
            .unwrap_or(self.concurrent_max)
    }
}

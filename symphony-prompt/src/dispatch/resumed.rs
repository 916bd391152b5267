//! Prompts for a session that continues: what every prompt has, and what is new.

use crate::dispatch::{PhaseDispatch, PlanPhaseDispatch, ProfileDispatch};
use crate::error::PromptError;
use crate::input::ResumedInput;
use crate::report::BuiltPrompt;
use crate::tokens::HeuristicCounter;

impl ProfileDispatch {
    /// Builds both prompts for a session that goes on. The lists of the dispatch must hold only what is new.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_resumed(&self, resumed: &ResumedInput) -> Result<BuiltPrompt, PromptError> {
        self.build_for(Some(resumed), &HeuristicCounter::default())
    }
}

impl PhaseDispatch {
    /// Builds both prompts for a session that goes on. The lists of the dispatch must hold only what is new.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_resumed(&self, resumed: &ResumedInput) -> Result<BuiltPrompt, PromptError> {
        self.build_for(Some(resumed), &HeuristicCounter::default())
    }
}

impl PlanPhaseDispatch {
    /// Builds both prompts for a session that goes on: the instructions of this attempt, without the rest of the template.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_resumed(&self, resumed: &ResumedInput) -> Result<BuiltPrompt, PromptError> {
        self.build_for(Some(resumed))
    }
}

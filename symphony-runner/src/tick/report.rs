//! What was done of a plan, and what could not be done.

use symphony_core::run::Run;

use crate::error::RunnerError;
use crate::step_event::StepEvent;

/// What was done of a plan.
#[derive(Debug, Default)]
pub struct ActReport {
    /// The runs that were started.
    pub started: Vec<Run>,
    /// What was done.
    pub events: Vec<StepEvent>,
    /// What could not be done. The next tick tries again.
    pub problems: Vec<String>,
}

impl ActReport {
    /// Notes what keeps several runs from being handed over, once for all of them.
    pub(super) fn note_once(&mut self, problem: String) {
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    pub(super) fn note(
        &mut self,
        what: impl std::fmt::Display,
        done: Result<impl IntoIterator<Item = StepEvent>, RunnerError>,
    ) {
        match done {
            Ok(events) => self.events.extend(events),
            Err(error) => self.problems.push(format!("{what}: {error}")),
        }
    }
}

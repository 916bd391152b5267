//! The last failure of an issue, in a sentence: `explain` and `issue show` name it.

use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::failure::ErrorClass;
use symphony_core::id::RunId;
use symphony_core::issue::Issue;
use symphony_core::run::{Run, RunStatus};
use symphony_core::tools::Tool;
use symphony_store::{RunFilter, Store, StoreError, refused_call};

use crate::text::ago;

/// Runs among which the last failure is looked for: live and cancelled ones are passed over.
const RUNS_MAX: u32 = 20;

/// How a run failed, or that its pull request was refused.
#[derive(Debug, Clone, Serialize)]
pub struct FailureView {
    run: RunId,
    class: ErrorClass,
    /// The first line of its error; what was refused, and why.
    message: String,
    at: Timestamp,
    /// What the run, which counts as a success all the same, ended without: the next run starts at once.
    #[serde(skip)]
    continued_without: Option<&'static str>,
    /// Whether it was a run of gates.
    #[serde(skip)]
    is_of_gates: bool,
}

impl FailureView {
    /// Reads how the newest run on an issue failed; none when it did not, or the issue has ended. A cancelled run says nothing
    /// about the one before it.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn load(store: &Store, issue: &Issue) -> Result<Option<Self>, StoreError> {
        if issue.state.status().is_terminal() {
            return Ok(None);
        }
        let newest = RunFilter {
            issue: Some(issue.id.clone()),
            limit: Some(RUNS_MAX),
            ..RunFilter::default()
        };
        let runs = store.runs(&newest)?;
        let ended = runs
            .iter()
            .find(|run| !run.status.is_live() && run.status != RunStatus::Cancelled);
        Ok(ended.and_then(Self::of))
    }

    fn of(run: &Run) -> Option<Self> {
        let (class, message, continued_without) = match &run.error {
            Some(error) if error.class == ErrorClass::Cancelled => return None,
            Some(error) => (error.class, error.message.clone(), None),
            None => {
                let refused = refused_call(&run.metadata)?;
                let missing = match refused.tool {
                    Tool::CreatePr => "a pull request",
                    Tool::CreateSubtask => "a sub-task",
                    _ => "an outcome",
                };
                (ErrorClass::NoOutcome, refused.to_string(), Some(missing))
            }
        };
        Some(Self {
            run: run.id.clone(),
            class,
            message: message.lines().next().unwrap_or_default().to_owned(),
            at: run.ended_at?,
            continued_without,
            is_of_gates: run.agent == AgentType::Gates,
        })
    }

    /// Says whether its gates failed as they do on the base: they run again when they pass there.
    pub fn is_of_base(&self) -> bool {
        self.is_of_gates && self.class == ErrorClass::BaseGatesFailed
    }

    /// Returns the sentence for a person.
    pub fn text(&self, now: Timestamp) -> String {
        let Self { class, message, .. } = self;
        let when = ago(self.at, now);
        match self.continued_without {
            Some(missing) => format!("Its last run ended {when} without {missing}: {message}"),
            None if self.is_of_base() => {
                format!("Its gates failed {when}, as they do on the base: {message}")
            }
            None if self.is_of_gates => {
                format!("Its gates failed {when} ({}): {message}", class.words())
            }
            None if class.precedes_the_agent() => format!(
                "Its last run ended {when} before its agent was started ({}): {message}",
                class.words()
            ),
            None => format!("Its last run failed {when} ({}): {message}", class.words()),
        }
    }
}

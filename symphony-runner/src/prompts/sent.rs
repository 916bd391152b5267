//! The prompts of a past run: the report on them, and the texts as they were sent, for as long as the run's logs are kept.

use std::path::Path;

use symphony_core::run::Run;
use symphony_prompt::{BuiltPrompt, Report};
use symphony_workspace::{Redactor, read_own_text};

use crate::error::RunnerError;
use crate::paths::{RunPaths, write_private};

/// The part of a run's metadata that holds the report on its prompts.
pub const PROMPT_REPORT: &str = "prompt";

/// The prompts that a run's agent was given.
#[derive(Debug, Clone)]
pub struct SentPrompts {
    /// What each layer and section came to.
    pub report: Report,
    /// The texts; none where they are no longer kept.
    pub texts: Option<PromptTexts>,
}

/// Two prompts, in which a placeholder takes the place of each secret value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptTexts {
    /// The system prompt.
    pub system: String,
    /// The user prompt.
    pub user: String,
}

impl SentPrompts {
    /// Reads the prompts of a run; none for one that ended before they were built.
    pub fn of(project_root: &Path, run: &Run) -> Option<Self> {
        let report = run.metadata.get(PROMPT_REPORT)?.clone();
        Some(Self {
            report: serde_json::from_value(report).ok()?,
            texts: PromptTexts::read(&RunPaths::new(project_root, &run.id)),
        })
    }
}

impl PromptTexts {
    fn read(paths: &RunPaths) -> Option<Self> {
        Some(Self {
            system: read_own_text(&paths.sent_system_prompt()).ok()?,
            user: read_own_text(&paths.sent_user_prompt()).ok()?,
        })
    }
}

/// Keeps the prompts of a run for people who look at it later.
///
/// # Errors
/// When they cannot be written.
pub(crate) fn keep_prompts(
    paths: &RunPaths,
    built: &BuiltPrompt,
    redactor: Option<&Redactor>,
) -> Result<(), RunnerError> {
    let kept = |text: &str| match redactor {
        Some(redactor) => String::from_utf8_lossy(&redactor.redact(text.as_bytes())).into_owned(),
        None => text.to_owned(),
    };
    write_private(&paths.sent_system_prompt(), &kept(&built.system))?;
    write_private(&paths.sent_user_prompt(), &kept(&built.user))
}

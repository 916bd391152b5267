//! The serde form of every dispatch, for callers without Rust: `symphony prompt build --input`.

use serde::{Deserialize, Serialize};

use crate::dispatch::{
    BackgroundDispatch, PhaseDispatch, PlanPhaseDispatch, ProfileDispatch, WizardDispatch,
};
use crate::error::PromptError;
use crate::report::BuiltPrompt;

/// One dispatch, as an object with a single key that names the path: `{"profile_dispatch": {…}}`.
///
/// The key is outside, so that errors of a deserialiser name the place inside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PromptInput {
    /// Path A: worker, judge or planner on an issue.
    ProfileDispatch(Box<ProfileDispatch>),
    /// Path B: a phase agent.
    PhaseDispatch(Box<PhaseDispatch>),
    /// Path C: scanner, or researcher without an issue.
    BackgroundDispatch(Box<BackgroundDispatch>),
    /// Path D: the setup wizard.
    SetupWizard(Box<WizardDispatch>),
    /// Path E: a phase of a plan file.
    PlanPhase(Box<PlanPhaseDispatch>),
}

/// Builds the prompts of a dispatch with the heuristic counter.
///
/// ```
/// let json = r#"{"setup_wizard": {"workspace": {"identifier": "_wizard", "path": "/w"}, "project": {"name": "api"}}}"#;
/// let built = symphony_prompt::build_document(&serde_json::from_str(json)?)?;
/// assert!(built.user.starts_with("# Set Up: api"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// When the agent does not belong to the path, or the fence marker cannot be used.
pub fn build_document(input: &PromptInput) -> Result<BuiltPrompt, PromptError> {
    match input {
        PromptInput::ProfileDispatch(dispatch) => dispatch.build(),
        PromptInput::PhaseDispatch(dispatch) => dispatch.build(),
        PromptInput::BackgroundDispatch(dispatch) => dispatch.build(),
        PromptInput::SetupWizard(dispatch) => dispatch.build(),
        PromptInput::PlanPhase(dispatch) => dispatch.build(),
    }
}

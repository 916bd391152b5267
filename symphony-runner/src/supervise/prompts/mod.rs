//! The prompts of a run: what the store, the project and the library hold becomes plain data for `symphony-prompt`.

mod dispatch;
mod knowledge;
mod phase;
mod phase_review;
mod plan_review;
mod project;
mod review_input;
mod vault;

pub(crate) use dispatch::{PromptRequest, Prompts, build};
pub(crate) use knowledge::budgets;
pub(crate) use phase::{PhasePart, build_phase};
pub(crate) use phase_review::phase_review;
pub(crate) use plan_review::{PlanReviewPrompt, build_plan_review};
pub(crate) use project::{ProjectRequest, build_background, build_wizard};
pub(crate) use review_input::review_input;
pub use vault::read_vault;

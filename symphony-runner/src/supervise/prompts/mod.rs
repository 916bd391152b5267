//! The prompts of a run: data of the store, the project and the library becomes the plain input of `symphony-prompt`.

mod dispatch;
mod done_review;
mod knowledge;
mod omissions;
mod phase;
mod phase_review;
mod plan_review;
mod points;
mod project;
mod review_input;
mod said;
mod vault;

pub(crate) use dispatch::{PromptRequest, Prompts, build};
pub(crate) use done_review::done_review;
pub(crate) use knowledge::{budgets, fence_marker};
pub(crate) use phase::{PhasePart, build_phase};
pub(crate) use phase_review::phase_review;
pub(crate) use plan_review::{PlanReviewPrompt, build_plan_review};
pub(crate) use points::point_inputs;
pub(crate) use project::{ProjectRequest, build_background, build_wizard};
pub use review_input::submodule_changes;
pub(crate) use review_input::{Cut, ShownDiff, review_input};
pub use vault::read_vault;

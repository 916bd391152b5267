//! The prompts of agents: profiles, contracts, the sets of trials, and previews.

pub(crate) mod folder;
pub mod library;
pub mod lint;
pub(crate) mod live_trial;
pub mod preview;
pub mod sent;
pub mod worker_prompt;

//! Agent profiles: the instructions of each type of agent, its tools, its provider and its model.
//!
//! A profile is a markdown file with front matter (`prompts/profiles/<type>.md`); its body is the prompt. Profiles
//! are loaded once into an immutable [`ProfileSet`]; overrides from the database carry instructions and a model.

mod agent_profile;
mod model;
mod model_layers;
mod overrides;
mod parse;
mod provider;
mod set;

pub use agent_profile::{AgentProfile, ToolWarning};
pub use model::{ModelChoice, ModelName, ModelSource};
pub use model_layers::{ModelLayers, ResolvedModel};
pub use overrides::ProfileOverride;
pub use parse::parse_profile;
pub use provider::{AgentChoice, MODEL_SOURCE, PROVIDER_SOURCE, ProviderLayers, ProviderSource};
pub use set::{ProfileProblem, ProfileSet};

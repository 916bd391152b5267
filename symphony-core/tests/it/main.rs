//! Integration tests of symphony-core.

mod config;
mod contract;
mod front_matter;
#[cfg(test)]
mod issue_state;
#[cfg(test)]
mod log;
#[cfg(test)]
mod orchestrator;
#[cfg(test)]
mod placement;
#[cfg(test)]
mod plan;
mod profile;
mod shipped_prompts;
#[cfg(test)]
mod standing;
#[cfg(test)]
mod tick;
mod tool_table;

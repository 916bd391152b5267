//! Integration tests of symphony-core.

mod config;
mod contract;
mod front_matter;
#[cfg(test)]
mod plan;
mod profile;
mod shipped_prompts;
mod tool_table;

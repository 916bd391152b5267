//! Integration tests of symphony-workspace.

mod agent_git;
#[cfg(test)]
mod agent_git_damage;
mod attacks;
mod broken;
mod config_file;
#[cfg(test)]
mod context_files;
mod copying;
#[cfg(test)]
mod detection;
#[cfg(test)]
mod documents;
#[cfg(test)]
#[cfg(feature = "failpoints")]
mod git_deaths;
mod hubs;
mod imports;
mod left;
mod main_job;
mod merges;
mod outside;
mod packing;
mod pristine;
mod project;
mod promote;
mod prop_names;
mod prop_secrets;
#[cfg(test)]
mod proposal;
#[cfg(test)]
mod remotes;
#[cfg(test)]
mod replicas;
mod repositories;
mod rescues;
mod secrets;
#[cfg(test)]
mod stale_locks;
#[cfg(test)]
mod state_files;
mod stray;
mod submodules;
mod tick_hubs;
mod user;
mod vectors;
#[cfg(test)]
mod warm;

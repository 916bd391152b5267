//! The clients against servers that keep state and fail by script.

#[cfg(test)]
mod forge_harness;
mod github_faults;
mod github_forge_checks;
mod github_forge_faults;
mod github_forge_git;
mod github_forge_merge;
mod github_forge_pulls;
mod github_forge_reviews;
mod github_read;
mod github_write;
#[cfg(test)]
mod harness;
mod linear_faults;
#[cfg(test)]
mod linear_polls;
#[cfg(test)]
mod linear_polls_client;
mod linear_read;
mod linear_write;
mod network;
#[cfg(test)]
mod raw;
mod token_leaks;

#[cfg(feature = "emulate")]
#[cfg(test)]
mod emulate;

//! Tests of the crate from outside.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests stop at the first surprise"
)]

mod arrival;
mod comments;
mod departure;
mod milestones;
mod prop_sync;
mod prop_text;
mod samples;
mod states;
mod sync_model;
mod taking;

//! Tests of the crate from outside.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "tests stop at the first surprise"
)]

mod arrival;
mod departure;
mod prop_text;
mod samples;
mod states;

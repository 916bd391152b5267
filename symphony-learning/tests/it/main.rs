//! Integration tests of symphony-learning.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "tests stop at the first surprise, and generate small numbers"
)]

mod document;
#[path = "../support/generate.rs"]
mod generate;
mod prop_rank;
mod reference;
mod usefulness;
mod ways;

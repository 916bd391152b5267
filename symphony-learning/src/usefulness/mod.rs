//! Whether a learning helped: issues whose agents had it against those whose agents did not, with the uncertainty.
//!
//! The statistics are general and know nothing about learnings: proportions ([`difference_of_proportions`]), means
//! ([`difference_of_means`]) and the quantile of Student's t that the latter needs. The sources of methods and test
//! values are in the design note on usefulness.

mod cases;
mod comparison;
mod difference;
mod mean;
mod needed;
mod paired;
mod proportion;
mod student;

pub(crate) use cases::as_float;
pub use cases::{Case, Group, Sample};
pub use comparison::{CASES_MIN, Comparison};
pub use difference::Difference;
pub use mean::{difference_of_means, estimate_of_mean};
pub use needed::{
    CASES_NEEDED_MAX, more_cases_for_means, more_cases_for_proportions, more_pairs_for_means,
    more_pairs_for_proportions,
};
pub use paired::{Pairs, difference_of_pairs};
pub use proportion::{Proportion, difference_of_proportions};

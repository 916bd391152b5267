//! Whether a learning helped: issues whose agents had it against those whose agents did not, with the uncertainty.
//!
//! The statistics are general and know nothing about learnings: proportions ([`difference_of_proportions`]), means
//! ([`difference_of_means`]) and the quantile of Student's t that the latter needs. The sources of methods and test
//! values are in the design note on usefulness.

mod cases;
mod comparison;
mod mean;
mod needed;
mod paired;
mod proportion;
mod student;

pub(crate) use cases::as_float;
pub use cases::{Case, Group, Sample};
pub use comparison::{CASES_MIN, Comparison};
pub use mean::{difference_of_means, estimate_of_mean};
pub use needed::{
    CASES_NEEDED_MAX, more_cases_for_means, more_cases_for_proportions, more_pairs_for_means,
    more_pairs_for_proportions,
};
pub use paired::{Pairs, difference_of_pairs};
pub use proportion::{Proportion, difference_of_proportions};

use serde::Serialize;

/// A difference with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Difference {
    /// What was found: the first group's value less the second's.
    pub estimate: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

impl Difference {
    /// Returns the end of the interval that is nearest to 0, and 0 when the interval holds it: as much of a difference as
    /// the cases bear out.
    pub fn borne_out(&self) -> f64 {
        if self.low > 0.0 {
            self.low
        } else if self.high < 0.0 {
            self.high
        } else {
            0.0
        }
    }

    /// Returns whether the interval holds a value.
    pub fn holds(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

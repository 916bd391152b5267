//! A difference with its interval.

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

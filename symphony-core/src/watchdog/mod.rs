//! The watchdog: has a supervisor, or a tick, stopped making progress?
//!
//! Each of them records its current step, with a time limit, on a clock that stops while the machine is suspended.
//! [`watch`] compares such a record with what an earlier look found: nothing is done before two looks, some real time
//! apart, have seen the same step past its limit.

mod step;
mod verdict;

pub use step::{Moment, Step, StepRecord};
pub use verdict::{Stuck, Suspicion, Watch, WatchLimits, overdue, watch};

#[cfg(test)]
mod tests;

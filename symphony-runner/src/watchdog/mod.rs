//! The I/O of the watchdog: recording steps, looking at processes, and ending one that is stuck. The decision is
//! [`symphony_core::watchdog::watch`].

mod finish;
mod look;
mod record;

pub use finish::{finish_dead, what_ended};
pub(crate) use look::{earlier_suspicion, keep};
pub use look::{end_stuck, look_at_run, suspect};
pub use record::{StepLog, moment, read_record};
pub(crate) use record::{parse_record, record_of};

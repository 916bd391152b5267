//! The watchdog's eyes and hands: who records which step, what looks at it, and how a process that is stuck is ended. The
//! decision is [`symphony_core::watchdog::watch`].

mod finish;
mod look;
mod record;

pub use finish::{finish_dead, what_ended};
pub(crate) use look::{earlier_suspicion, keep};
pub use look::{end_stuck, look_at_run, suspect};
pub use record::{StepLog, moment, read_record};
pub(crate) use record::{parse_record, record_of};

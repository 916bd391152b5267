//! What follows when an issue moves or a run ends: one pure decision, which the store carries out in one transaction.
//!
//! An issue does not move alone. Its open pull request and delivery, its retry, its counts, the issues that depend on
//! it and a live run follow. [`consequences_of_move`] and its siblings decide all of that from [`IssueFacts`]; the
//! order of the [`Effect`]s is the order in which they are written and logged.

mod effect;
mod facts;
mod moving;
mod run_end;

#[cfg(test)]
mod tests;

pub use effect::{Appointment, Effect};
pub use facts::{IssueFacts, LiveRun, Mover, OpenDelivery};
pub use moving::{consequences_of_move, consequences_of_step};
pub use run_end::{consequences_of_run_end, delivery_at_end};

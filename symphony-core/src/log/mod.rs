//! The event log: what happened, typed.
//!
//! Every change of the database appends one [`LogEvent`] in the same transaction. The log is append-only and outlives
//! the version that wrote it, so a kind's name and the fields of its payload are a format: never rename or retype one.

mod event;
mod fold;
mod gates;
mod kinds;
mod sentence;
mod set_by_people;
mod stored;
mod tracker;

pub use event::LogEvent;
pub use fold::{FoldError, Replay, RunEnd, fold_issue, fold_plan};
pub use sentence::{Subject, sentence, short_run};
pub use set_by_people::{PersonsChoice, SetByPeople, Writer};
pub use tracker::TrackerEntry;

//! Trackers that issues are mirrored with: rounds that observe, decide (in `symphony-tracker`), act and record
//! (design 0046).
//!
//! A round sends what waits in the outbox, reads what changed at the tracker, turns the log of mirrored issues into changes, and
//! sends these. Each step can be repeated, since any of them can be the last of a process.

mod act;
mod arrive;
mod client;
mod due;
mod gone;
mod hear;
mod helper;
mod leave;
mod milestones;
mod mirror;
mod place;
mod report;
mod send;
mod step;
mod text;
mod trouble;

pub use client::{TrackerAccess, TrackerLimits, check_tracker, filter_risk};
pub use helper::{sync_due, sync_now, sync_within};
pub use place::place_of;
pub use report::{RefusedWish, SyncReport, SyncWish};

pub(crate) use client::read_token;
pub(crate) use helper::start_sync;
pub(crate) use mirror::hold_after;
pub(crate) use trouble::{needs_a_person, trackers_in_trouble};

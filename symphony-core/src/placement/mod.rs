//! Where a run is placed, and whether it lives (`docs/design/0051`).
//!
//! A run may wait in a [`Pool`] until a worker on some [`Host`] begins it. From then on two clocks decide, and they are never compared:
//! the host's own, by which it must end its agent when no beat was answered ([`Held`]), and the database's, by which a run that sends no
//! beat is given up ([`Lease::liveness`]). The [`Lease`] leaves so much time between the two that no run has two agents.
//!
//! Runs of a single machine have no pool, and nothing here concerns them.

mod held;
mod lease;
mod liveness;
mod misfit;
mod name;
mod place;
mod rest;
mod staff;
mod whereabouts;

/// The version of what control and workers expect of each other: a worker of another one takes nothing.
pub const PROTOCOL: u32 = 1;
/// How far the clocks of two hosts may differ, in milliseconds: events and spending have the times of their writers.
pub const CLOCKS_APART_MS_MAX: u64 = 30_000;

pub use held::{BootMs, Held};
pub use lease::{
    BEAT_MS_MIN, CLOCK_PPM_MAX, END_MS_MAX, LEASE_MS_MAX, Lease, LeaseProblem, MARGIN_MS,
};
pub use liveness::Liveness;
pub use misfit::{Fit, Misfit};
pub use name::{Host, NAME_CHARS_MAX, Pool};
pub use place::{Place, place_of};
pub use rest::{MayTake, REST_MS_FIRST, REST_MS_MAX, Rest, RestEvent};
pub use staff::Staff;
pub use whereabouts::Whereabouts;

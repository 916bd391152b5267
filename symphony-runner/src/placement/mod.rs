//! Giving runs out to workers on other hosts (`docs/design/0051`).
//!
//! Whoever places a run only hands it over. Whether it lives is said by its beats, and whether it may begin by the store.

pub(crate) mod control;
mod end;
mod error;
mod failed_last;
pub(crate) mod hub;
pub(crate) mod old_refs;
pub(crate) mod promote;
mod queue;
pub(crate) mod saved;
mod secrets;
#[cfg(feature = "temporal")]
mod temporal;
#[cfg(not(feature = "temporal"))]
#[path = "no_temporal.rs"]
mod temporal;

use symphony_core::config::PlacementKind;
use symphony_core::id::RunId;
use symphony_core::placement::{Host, Pool, Whereabouts};
use symphony_store::{Store, StoreError};

pub(crate) use control::control_host;
pub(crate) use end::{Saved, UnattendedEnd, end_unattended, limits_of, limits_of_view};
pub use error::PlacementError;
pub use queue::Queue;
pub(crate) use temporal::{Incoming, Temporal};

use crate::installation::Installation;

/// Returns what gives out the runs of an installation's pools.
pub(crate) fn placement_of(installation: &Installation) -> Box<dyn Placement> {
    match installation.config.placement {
        PlacementKind::Queue => Box::new(Queue),
        PlacementKind::Temporal => Box::new(Temporal::new(installation)),
    }
}

/// What a run that waits is in the place where it waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// What is meant for it: a row of the database, or a standalone activity of a service.
    OfItsOwn,
    /// A workflow with one activity, at a service without standalone activities.
    Workflow,
}

/// Checks what gives out the runs of an installation's pools, and returns what a run is there.
///
/// # Errors
/// When it cannot be reached, or cannot do what is needed.
pub fn check_placement(installation: &Installation) -> Result<Entry, PlacementError> {
    placement_of(installation).check()
}

/// What gives claimed runs to the workers of a pool.
pub trait Placement: std::fmt::Debug {
    /// Hands over a run that waits in a pool. It may be handed over before: a tick does so with every run that waits, as whoever claimed
    /// it may have died in between.
    ///
    /// # Errors
    /// When it cannot be handed over. The next tick tries again.
    fn submit(&self, run: &RunId, pool: &Pool) -> Result<(), PlacementError>;

    /// Takes back a run that no worker has begun: from then on it is the control's, and no worker can begin it. Returns false when a worker was
    /// faster, or the run has ended.
    ///
    /// # Errors
    /// When the database cannot be written.
    fn withdraw(&self, store: &mut Store, run: &RunId, control: &Host) -> Result<bool, StoreError>;

    /// Checks that runs can be handed over, and returns what one is from then on.
    ///
    /// # Errors
    /// When they cannot.
    fn check(&self) -> Result<Entry, PlacementError> {
        Ok(Entry::OfItsOwn)
    }

    /// Returns whether a worker has a run, and it need not be handed over again.
    fn delivered(&self, whereabouts: &Whereabouts) -> bool;
}

//! In the place of a Temporal service, in a program that was built without its client.

use symphony_core::id::RunId;
use symphony_core::placement::{Host, Pool, Whereabouts};
use symphony_store::{Store, StoreError};

use super::queue::taken_out;
use super::{Entry, Placement, PlacementError};
use crate::error::RunnerError;
use crate::installation::Installation;

/// Hands nothing over, and says why.
#[derive(Debug)]
pub(crate) struct Temporal;

impl Temporal {
    pub(crate) const fn new(_installation: &Installation) -> Self {
        Self
    }
}

impl Placement for Temporal {
    fn submit(&self, _run: &RunId, _pool: &Pool) -> Result<(), PlacementError> {
        Err(PlacementError::NotBuilt)
    }

    fn check(&self) -> Result<Entry, PlacementError> {
        Err(PlacementError::NotBuilt)
    }

    fn withdraw(&self, store: &mut Store, run: &RunId, control: &Host) -> Result<bool, StoreError> {
        taken_out(store, run, control)
    }

    fn delivered(&self, whereabouts: &Whereabouts) -> bool {
        whereabouts.queued_in().is_none()
    }
}

/// What nothing can offer.
#[derive(Debug)]
pub(crate) enum Incoming {}

impl Incoming {
    pub(crate) fn open(
        _installation: &Installation,
        _pool: &Pool,
        _host: &Host,
    ) -> Result<Self, RunnerError> {
        Err(PlacementError::NotBuilt.into())
    }

    pub(crate) const fn want(&self, _count: u32) {
        match *self {}
    }

    pub(crate) const fn has_next(&self) -> bool {
        match *self {}
    }

    pub(crate) const fn next(&self) -> Option<RunId> {
        match *self {}
    }

    pub(crate) const fn done(&self, _run: &RunId) {
        match *self {}
    }

    pub(crate) fn give_back(&self, _run: &RunId, _why: String) {
        match *self {}
    }

    pub(crate) const fn problem(&self) -> Option<String> {
        match *self {}
    }
}

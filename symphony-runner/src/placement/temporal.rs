//! A Temporal service as what gives out runs (`docs/design/0054`).
//!
//! The service only places. Whether a run may begin is decided by the database, as with every other placement, and so is whether it lives.

use std::cell::RefCell;

use symphony_core::config::TemporalSettings;
use symphony_core::id::RunId;
use symphony_core::placement::{Host, Pool, Whereabouts};
use symphony_store::{Store, StoreError};
use symphony_temporal::{Control, Form, Offer, OfferEnd, Offers, TemporalError, Times};

use super::control::control_host;
use super::queue::taken_out;
use super::{Entry, Placement, PlacementError};
use crate::error::RunnerError;
use crate::installation::Installation;

impl From<TemporalError> for PlacementError {
    fn from(error: TemporalError) -> Self {
        match error {
            TemporalError::NoNamespace { address, namespace } => {
                Self::NoNamespace { address, namespace }
            }
            error => Self::Temporal(error),
        }
    }
}

/// Gives runs out through a service. It connects when it is first asked, so that ticks without runs for workers do not need the service.
#[derive(Debug)]
pub(crate) struct Temporal {
    settings: Option<TemporalSettings>,
    times: Times,
    line: RefCell<Line>,
}

#[derive(Debug)]
enum Line {
    Unasked,
    Open(Box<Control>),
    /// Asking again for each run of a tick would take a tick minutes.
    Away(String),
}

impl Temporal {
    pub(crate) fn new(installation: &Installation) -> Self {
        Self {
            settings: installation.config.temporal.clone(),
            times: installation.lease().into(),
            line: RefCell::new(Line::Unasked),
        }
    }

    fn ask<T>(
        &self,
        question: impl FnOnce(&mut Control) -> Result<T, TemporalError>,
    ) -> Result<T, PlacementError> {
        let settings = self.settings.as_ref().ok_or(PlacementError::NoAddress)?;
        let mut line = self.line.borrow_mut();
        let answer = match &mut *line {
            Line::Away(why) => return Err(PlacementError::Away(why.clone())),
            Line::Open(control) => question(control),
            Line::Unasked => {
                Control::connect(settings, control_host().as_str()).and_then(|mut control| {
                    let answer = question(&mut control);
                    *line = Line::Open(Box::new(control));
                    answer
                })
            }
        };
        answer.map_err(|error| {
            *line = Line::Away(error.to_string());
            error.into()
        })
    }
}

impl Placement for Temporal {
    fn submit(&self, run: &RunId, pool: &Pool) -> Result<(), PlacementError> {
        self.ask(|control| control.submit(run, pool, self.times).map(drop))
    }

    fn check(&self) -> Result<Entry, PlacementError> {
        self.ask(Control::check).map(|form| match form {
            Form::Activity => Entry::OfItsOwn,
            Form::Workflow => Entry::Workflow,
        })
    }

    /// The database decides first. Then the service forgets the run, so that no worker is asked for nothing; one that is asked all the same finds
    /// that the run does not wait.
    fn withdraw(&self, store: &mut Store, run: &RunId, control: &Host) -> Result<bool, StoreError> {
        let withdrawn = taken_out(store, run, control)?;
        if withdrawn
            && let Err(error) = self.ask(|control| control.cancel(run, "taken out of its pool"))
        {
            tracing::warn!(%run, %error, "a run that no worker may begin stays at Temporal");
        }
        Ok(withdrawn)
    }

    fn delivered(&self, whereabouts: &Whereabouts) -> bool {
        whereabouts.queued_in().is_none()
    }
}

/// What a service offers to the worker of a host.
#[derive(Debug)]
pub(crate) struct Incoming(Offers);

impl Incoming {
    /// Starts to ask the service that an installation names.
    pub(crate) fn open(
        installation: &Installation,
        pool: &Pool,
        host: &Host,
    ) -> Result<Self, RunnerError> {
        let settings = installation.config.temporal.clone();
        let settings = settings.ok_or(PlacementError::NoAddress)?;
        let times = installation.lease().into();
        let offers = Offers::open(settings, pool.clone(), host.to_string(), times);
        Ok(Self(offers.map_err(PlacementError::from)?))
    }

    /// Says how many more runs the worker can take.
    pub(crate) fn want(&self, count: u32) {
        self.0.want(count);
    }

    /// Returns whether a run was offered.
    pub(crate) fn has_next(&self) -> bool {
        self.0.has_next()
    }

    /// Returns the next run that was offered.
    pub(crate) fn next(&self) -> Option<RunId> {
        self.0.next().map(|Offer { run }| run)
    }

    /// Says that there is nothing left to do for a run.
    pub(crate) fn done(&self, run: &RunId) {
        self.0.end(run, OfferEnd::Done);
    }

    /// Gives a run back that could not be begun.
    pub(crate) fn give_back(&self, run: &RunId, why: String) {
        self.0.end(run, OfferEnd::Returned { why });
    }

    /// Returns why no runs come.
    pub(crate) fn problem(&self) -> Option<String> {
        self.0.problem()
    }
}

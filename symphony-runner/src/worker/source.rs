//! Where a worker's next run comes from: the database, or a service that offers it.

use std::collections::BTreeSet;

use symphony_core::config::PlacementKind;
use symphony_core::id::RunId;
use symphony_core::placement::{Host, Pool};
use symphony_core::run::Run;
use symphony_store::{Begun, Store};

use crate::error::RunnerError;
use crate::installation::Installation;
use crate::placement::Incoming;

/// Why a run that still waits goes back to the service.
const NOT_NOW: &str = "Symphony is paused, or its control requires another protocol";

/// Where runs come from.
#[derive(Debug)]
pub(super) enum Source {
    /// The database: a run is taken and begun by one statement.
    Queue,
    /// A service that offers runs. What it offers is begun only if the database agrees.
    Service {
        incoming: Incoming,
        /// Runs that the service has given to this worker, and has not heard the end of.
        given: BTreeSet<RunId>,
    },
}

impl Source {
    pub(super) fn open(
        installation: &Installation,
        pool: &Pool,
        host: &Host,
    ) -> Result<Self, RunnerError> {
        Ok(match installation.config.placement {
            PlacementKind::Queue => Self::Queue,
            PlacementKind::Temporal => Self::Service {
                incoming: Incoming::open(installation, pool, host)?,
                given: BTreeSet::new(),
            },
        })
    }

    /// Returns whether there may be a next run now.
    ///
    /// # Errors
    /// When the database cannot be asked.
    pub(super) fn has_next(&self, store: &Store, pool: &Pool) -> Result<bool, RunnerError> {
        match self {
            Self::Queue => Ok(store.has_waiting(pool)?),
            Self::Service { incoming, .. } => Ok(incoming.has_next()),
        }
    }

    /// Takes the next run and begins it on this host, if there is one now.
    pub(super) fn take(
        &mut self,
        store: &mut Store,
        pool: &Pool,
        host: &Host,
    ) -> Result<Option<Run>, RunnerError> {
        let (incoming, given) = match self {
            Self::Queue => return Ok(store.take(pool, host)?),
            Self::Service { incoming, given } => (incoming, given),
        };
        while let Some(id) = incoming.next() {
            match store.begin_on(&id, host) {
                Ok(Begun::Now(run)) => {
                    given.insert(id);
                    return Ok(Some(*run));
                }
                // This host began it before, and looks after it anyway.
                Ok(Begun::Before(at)) if at == *host => {
                    given.insert(id);
                }
                Ok(Begun::Before(_) | Begun::NotWaiting) => incoming.done(&id),
                // It still waits: the next tick hands it over again, or takes it out of the pool.
                Ok(Begun::NotNow) => incoming.give_back(&id, NOT_NOW.to_owned()),
                Err(error) => {
                    incoming.give_back(&id, error.to_string());
                    return Err(error.into());
                }
            }
        }
        Ok(None)
    }

    /// Says how many more runs this host can have, and which it has. What was offered beyond that goes to other hosts.
    pub(super) fn settle(&mut self, free: u32, own: &BTreeSet<RunId>) {
        let Self::Service { incoming, given } = self else {
            return;
        };
        given.retain(|id| {
            let is_here = own.contains(id);
            if !is_here {
                incoming.done(id);
            }
            is_here
        });
        incoming.want(free);
        if free == 0 {
            give_back(incoming, "the host has no free slot");
        }
    }

    /// Takes no more runs, since the database cannot be asked which may begin: those that were offered go to other hosts.
    pub(super) fn pause(&mut self) {
        if let Self::Service { incoming, .. } = self {
            incoming.want(0);
            give_back(incoming, "the database cannot be asked");
        }
    }

    /// Returns why no runs come; `None` while they can.
    pub(super) fn problem(&self) -> Option<String> {
        match self {
            Self::Queue => None,
            Self::Service { incoming, .. } => incoming.problem(),
        }
    }
}

fn give_back(incoming: &Incoming, why: &str) {
    while let Some(id) = incoming.next() {
        incoming.give_back(&id, why.to_owned());
    }
}

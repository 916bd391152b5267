//! Gives runs out through a Temporal service (`docs/design/0054`).
//!
//! Each run has one activity: a standalone one, or that of a workflow where the service has no standalone activities (`Form`). It only says
//! that the run waits for a worker of its pool, and which worker got it: whether the run may begin, and whether it lives, is for the
//! database alone. So an outage of the service keeps new runs waiting and ends none.
//!
//! Without the feature `client` this crate is empty: a build of the workspace builds no gRPC for it.
//!
//! - `Control` is for whoever claims runs: it hands them over, and takes back those that no worker has begun.
//! - `Offers` is for a worker: runs that the service offers to this host while it has free slots.

#![cfg(feature = "client")]

mod activity;
mod asking;
mod connect;
mod control;
mod decision;
#[cfg(feature = "dev-server")]
mod dev_server;
mod error;
mod form;
mod offers;
mod shared;
mod tasks;
mod ticket;
mod wire;
mod workflow;

pub use control::Control;
#[cfg(feature = "dev-server")]
pub use dev_server::{DevServer, Edition};
pub use error::TemporalError;
pub use form::{Form, Standing, Submitted};
pub use offers::Offers;
pub use shared::{Offer, OfferEnd};
pub use ticket::{Ticket, TicketProblem, Times, queue_of};

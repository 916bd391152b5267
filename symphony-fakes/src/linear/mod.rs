//! A Linear: teams with states, projects, issues, labels, relations, comments, users.
//!
//! Queries are parsed and answered field by field; an unknown field, argument or input is an error, as at the real one.
//! Fields that neither Symphony nor openai/symphony's client asks for do not exist here.

mod backend;
mod filter;
mod graphql;
mod mutate;
mod resolve;
mod world;

pub use world::{LinearComment, LinearIssue, LinearWorld};

use crate::http::fault::{Fault, On};
use crate::http::record::Exchange;
use crate::http::server::Server;

/// A running Linear. Its teams are Engineering (`ENG`) and Operations (`OPS`), each with the usual states, its project is
/// `web-1a2b3c`, its users are ada and mallory, and its key [`FakeLinear::TOKEN`] belongs to ada.
#[derive(Debug)]
pub struct FakeLinear(Server<LinearWorld>);

impl FakeLinear {
    /// The key that ada has.
    pub const TOKEN: &str = "lin_api_fakefakefakefakefakefakefakefake";

    /// Starts one.
    pub fn start() -> Self {
        Self(Server::start(LinearWorld::new(Self::TOKEN)))
    }

    /// Returns the address of the API.
    pub fn endpoint(&self) -> String {
        format!("{}/graphql", self.0.address())
    }

    /// Reads or changes what exists.
    pub fn with<T>(&self, act: impl FnOnce(&mut LinearWorld) -> T) -> T {
        self.0.with(act)
    }

    /// Plans a fault.
    pub fn fail(&self, on: On, fault: Fault) {
        self.0.fail(on, fault);
    }

    /// Forgets all planned faults.
    pub fn heal(&self) {
        self.0.heal();
    }

    /// Returns what was exchanged since the last call.
    pub fn take_exchanges(&self) -> Vec<Exchange> {
        self.0.take_exchanges()
    }
}

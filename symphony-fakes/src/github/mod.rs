//! A GitHub: repositories, issues, labels, comments, users, sub-issues, dependencies.
//!
//! Not here: enterprise differences beyond switched-off endpoints, pull requests (an issue can be one, so that lists have
//! some), reactions, milestones, webhooks.

mod comments;
mod issues;
mod json;
mod labels;
mod pages;
mod relations;
mod route;
mod world;

pub use world::{GithubComment, GithubIssue, GithubWorld, Role};

use crate::http::fault::{Fault, On};
use crate::http::record::Exchange;
use crate::http::server::Server;

/// A running GitHub. Its repository is `acme/web`, its users `octocat` (id 1, role write) and `mallory` (id 2, no role), its
/// token [`FakeGithub::TOKEN`] belongs to octocat.
#[derive(Debug)]
pub struct FakeGithub(Server<GithubWorld>);

impl FakeGithub {
    /// The token that octocat has.
    pub const TOKEN: &str = "ghp_fakefakefakefakefakefakefakefakefake";

    /// Starts one.
    pub fn start() -> Self {
        Self(Server::start(GithubWorld::new(Self::TOKEN)))
    }

    /// Returns the address of the API.
    pub fn endpoint(&self) -> String {
        self.0.address()
    }

    /// Reads or changes what exists.
    pub fn with<T>(&self, act: impl FnOnce(&mut GithubWorld) -> T) -> T {
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

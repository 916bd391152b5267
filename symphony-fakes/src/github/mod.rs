//! A GitHub: repositories, issues, labels, comments, users, sub-issues, dependencies.
//!
//! With a repository of git ([`FakeForge`]) it has pull requests, reviews and checks too.
//!
//! Not here: enterprise differences beyond switched-off endpoints, forks, reactions, milestones, webhooks.

mod comments;
mod forge;
mod issues;
mod json;
mod labels;
mod pages;
mod relations;
mod route;
mod world;

pub use forge::{
    FakeForge, GithubCheckRun, GithubMerge, GithubPull, GithubReview, GithubReviewComment,
    GithubStatus, MergeKind, Protection,
};
pub use world::{GithubComment, GithubIssue, GithubWorld, Role};

use crate::http::fault::{Fault, On};
use crate::http::record::Exchange;
use crate::http::server::{Handle, Server};

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

    /// Returns a way to what exists, for the server of git.
    fn handle(&self) -> Handle<GithubWorld> {
        self.0.handle()
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

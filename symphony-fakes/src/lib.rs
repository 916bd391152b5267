//! Issue trackers and forges for tests: real HTTP servers on loopback, stateful, that fail by script. For tests only.
//!
//! [`FakeGithub`] and [`FakeLinear`] answer what Symphony's clients ask, in the forms that the real API promises: CI compares
//! every recorded exchange ([`Exchange`], `SYMPHONY_FAKES_RECORD`) with GitHub's `OpenAPI` description and Linear's schema.
//!
//! [`FakeForge`] is a GitHub with a repository of git, which is served over TLS.
//!
//! A handle changes the state as people would, says what exists, lists the requests that came, and plans faults
//! ([`Fault`], [`On`]). Time is a counter ([`clock::Clock`]), so no test has to wait for a second to pass. A server ends with its handle.

pub mod clock;
mod git;
mod github;
mod http;
mod linear;

pub use git::GitFault;
pub use github::{
    FakeForge, FakeGithub, GithubCheckRun, GithubComment, GithubIssue, GithubMerge, GithubPull,
    GithubReview, GithubReviewComment, GithubStatus, GithubWorld, MergeKind, Protection, Role,
};
pub use http::fault::{Fault, On};
pub use http::record::Exchange;
pub use linear::{FakeLinear, LinearComment, LinearIssue, LinearWorld};

//! The forge of a GitHub: pull requests, reviews, checks, rules, and the repository of git that they are about.
//!
//! A pull request is an issue too. Its head and base are branches of a real repository, which git fetches from and pushes to
//! over TLS; merges are made there.

mod checks;
mod git;
mod json;
mod merge;
mod people;
mod pulls;
mod reviews;
pub(super) mod route;
mod rules;
mod run;
mod state;

pub use run::FakeForge;
pub(super) use state::Forge;
pub use state::{
    GithubCheckRun, GithubMerge, GithubPull, GithubReview, GithubReviewComment, GithubStatus,
    MergeKind, Protection,
};

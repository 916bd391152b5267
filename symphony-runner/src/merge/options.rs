//! Options of a merge.

use crate::network::NetworkLog;

/// Options of a merge.
#[derive(Debug, Clone, Default)]
pub struct MergeOptions {
    /// Merge despite red gates, unpublished commits of submodules, or commits that were taken out of the base and would
    /// return.
    pub force: bool,
    /// Squash all changes of the pull request into one commit.
    pub squash: Option<Squash>,
    /// What its gates reach for is added here, also when they fail.
    pub network: NetworkLog,
}

/// The single commit of a squashed pull request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Squash {
    /// Its message; `None` uses the pull request's title and body.
    pub message: Option<String>,
}

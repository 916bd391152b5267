//! How a merge is made.

/// How a merge is made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MergeOptions {
    /// Merge although a required gate is red, commits of submodules were never published, or commits return that were taken out of the base.
    pub force: bool,
    /// Make one commit of everything that the pull request changes.
    pub squash: Option<Squash>,
}

/// The one commit of a squashed pull request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Squash {
    /// Its message; without one the pull request's title and body.
    pub message: Option<String>,
}

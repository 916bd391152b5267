//! Options of a merge.

/// Options of a merge.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MergeOptions {
    /// Merge despite red gates, unpublished commits of submodules, or commits that were taken out of the base and would
    /// return.
    pub force: bool,
    /// Squash all changes of the pull request into one commit.
    pub squash: Option<Squash>,
}

/// The single commit of a squashed pull request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Squash {
    /// Its message; `None` uses the pull request's title and body.
    pub message: Option<String>,
}

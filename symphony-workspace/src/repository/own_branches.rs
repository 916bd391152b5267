//! The folder of Symphony's own branches.

/// The folder of branches that all of Symphony's are in; no branch can have this name beside them.
pub(crate) const OWN_BRANCHES: &str = "symphony";

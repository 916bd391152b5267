//! The folder of Symphony's own branches.

/// The folder of all of Symphony's branches; no branch can have this name beside them.
pub(crate) const OWN_BRANCHES: &str = "symphony";

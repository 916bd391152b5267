//! What is known of a pristine checkout's git folder.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::entry::Entry;

/// A git folder's entries as they were, once they are recorded.
#[derive(Debug, Default)]
pub(super) struct GitFolder {
    pub(super) entries: Option<BTreeMap<PathBuf, Entry>>,
}

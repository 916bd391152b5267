//! What a page is asked for with.

use std::collections::BTreeMap;

/// What a page is asked for with.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asked {
    /// The part of the address that names a thing; empty where there is none.
    pub(crate) id: String,
    pub(crate) query: BTreeMap<String, String>,
}

impl Asked {
    /// Returns a part of the query; none where it is missing or empty.
    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        let value = self.query.get(name).map(|value| value.trim());
        value.filter(|value| !value.is_empty())
    }
}

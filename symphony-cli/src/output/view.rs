//! Views: what is shown, before it is known how.

use serde::Serialize;

use super::page::Page;

/// Version of the JSON forms; a field that is removed or changes its meaning raises it.
const VERSION: u32 = 1;

/// A value that a command answers with.
pub(crate) trait View: Serialize {
    /// Writes it for a person.
    fn write(&self, page: &mut Page);
}

/// Several of a kind.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct List<T> {
    /// They.
    pub(crate) items: Vec<T>,
}

impl<T> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self {
            items: items.into_iter().collect(),
        }
    }
}

/// A document: the version, then the view's own fields.
#[derive(Debug, Serialize)]
pub(crate) struct Document<'a, T> {
    version: u32,
    #[serde(flatten)]
    fields: &'a T,
}

impl<'a, T> Document<'a, T> {
    pub(crate) const fn of(fields: &'a T) -> Self {
        Self {
            version: VERSION,
            fields,
        }
    }
}

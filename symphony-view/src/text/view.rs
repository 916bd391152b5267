//! Views: what is shown, independent of the form.

use serde::Serialize;

use super::page::Page;

/// Version of the JSON forms; a field that is removed or changes its meaning raises it.
const VERSION: u32 = 1;

/// A value that a command answers with.
pub trait View: Serialize {
    /// Writes it for a person.
    fn write(&self, page: &mut Page);
}

/// A thing that is shown with others of its kind.
pub trait Listed: Serialize + Sized {
    /// Writes all of them for a person; there may be none.
    fn write_all(items: &[Self], page: &mut Page);
}

/// Several of a kind.
#[derive(Debug, Clone, Serialize)]
pub struct List<T> {
    /// In the order that they are shown in.
    pub items: Vec<T>,
}

impl<T> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self {
            items: items.into_iter().collect(),
        }
    }
}

impl<T: Listed> View for List<T> {
    fn write(&self, page: &mut Page) {
        T::write_all(&self.items, page);
    }
}

/// A document: the version, then the view's own fields.
#[derive(Debug, Serialize)]
pub struct Document<'a, T> {
    version: u32,
    #[serde(flatten)]
    fields: &'a T,
}

impl<'a, T> Document<'a, T> {
    /// Makes the document of a view.
    pub const fn of(fields: &'a T) -> Self {
        Self {
            version: VERSION,
            fields,
        }
    }
}

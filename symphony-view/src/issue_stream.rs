//! All issues of a list as one JSON document that is written while they are read.

use std::cell::RefCell;

use serde::ser::{Error as _, SerializeStruct as _};
use serde::{Serialize, Serializer};
use symphony_store::{Issues, StoreError};

use super::issue::IssueView;

/// The same document as [`IssuePageView`](crate::IssuePageView), of issues that are read while it is written. It can be written once.
#[derive(Debug)]
pub struct IssueStreamView<'s> {
    issues: RefCell<Issues<'s>>,
    failed: RefCell<Option<StoreError>>,
}

impl<'s> IssueStreamView<'s> {
    /// Views issues that are still to be read.
    pub const fn new(issues: Issues<'s>) -> Self {
        Self {
            issues: RefCell::new(issues),
            failed: RefCell::new(None),
        }
    }

    /// Returns why the issues could not be read, if that is what ended the document.
    pub fn failure(self) -> Option<StoreError> {
        self.failed.into_inner()
    }
}

impl Serialize for IssueStreamView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut page = serializer.serialize_struct("IssuePageView", 2)?;
        page.serialize_field("items", &Items(self))?;
        if self.failed.borrow().is_some() {
            return Err(S::Error::custom("the issues cannot be read"));
        }
        // Known only now.
        page.serialize_field("next", &self.issues.borrow().rest())?;
        page.end()
    }
}

/// The list of the issues themselves. It ends early when one cannot be read.
struct Items<'a, 's>(&'a IssueStreamView<'s>);

impl Serialize for Items<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut issues = self.0.issues.borrow_mut();
        let read = std::iter::from_fn(|| match issues.next()? {
            Ok(issue) => Some(IssueView::from(issue)),
            Err(error) => {
                self.0.failed.replace(Some(error));
                None
            }
        });
        serializer.collect_seq(read)
    }
}

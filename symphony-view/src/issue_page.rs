//! One page of issues.

use serde::Serialize;
use symphony_core::id::IssueId;

use super::issue::IssueView;
use crate::text::{List, Page, View};

/// One page of issues.
#[derive(Debug, Clone, Serialize)]
pub struct IssuePageView {
    /// The issues.
    #[serde(flatten)]
    pub list: List<IssueView>,
    /// The last issue of this page, when there is another page.
    pub next: Option<IssueId>,
}

impl View for IssuePageView {
    fn write(&self, page: &mut Page) {
        self.list.write(page);
    }
}

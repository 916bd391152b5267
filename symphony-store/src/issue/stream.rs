//! All issues of a list, one after the other, in memory that does not depend on how many there are.

use std::vec::IntoIter;

use symphony_core::id::IssueId;
use symphony_core::issue::Issue;

use crate::database::open::Store;
use crate::error::StoreError;
use crate::issue::query::IssueFilter;

/// How many issues are held at once: a few hundred kilobytes, and few enough statements.
const PAGE_MAX: u32 = 500;

/// The issues of a filter, read in pages as they are asked for.
///
/// No transaction is open in between, because whoever reads the output may be slow, and the database could not shrink its log
/// until they have read it. An issue that changes meanwhile is listed as it is when its page is read; none is listed twice, since
/// numbers do not change.
#[derive(Debug)]
pub struct Issues<'s> {
    store: &'s Store,
    filter: IssueFilter,
    /// How many may still be returned.
    left: Option<u32>,
    page: IntoIter<Issue>,
    /// The last issue that was read, if there are more after it.
    next: Option<IssueId>,
    is_begun: bool,
}

impl Store {
    /// Lists issues as [`Store::list_issues`] does, one after the other.
    pub fn issues(&self, filter: &IssueFilter) -> Issues<'_> {
        Issues {
            store: self,
            left: filter.limit,
            filter: filter.clone(),
            page: Vec::new().into_iter(),
            next: None,
            is_begun: false,
        }
    }
}

impl Issues<'_> {
    /// Returns the cursor of the next page, once all issues of this one were returned.
    pub fn rest(&self) -> Option<&IssueId> {
        self.next.as_ref()
    }

    /// Reads the next page, if the limit leaves room and there are more.
    fn read(&mut self) -> Result<(), StoreError> {
        if self.is_begun && (self.left == Some(0) || self.next.is_none()) {
            return Ok(());
        }
        if let Some(next) = self.next.take() {
            self.filter.after = Some(next);
        }
        let wanted = self.left.map_or(PAGE_MAX, |left| left.min(PAGE_MAX));
        self.filter.limit = Some(wanted);
        let page = self.store.list_issues(&self.filter)?;
        self.is_begun = true;
        self.left = self.left.map(|left| left.saturating_sub(wanted));
        self.next = page.next;
        self.page = page.items.into_iter();
        Ok(())
    }
}

impl Iterator for Issues<'_> {
    type Item = Result<Issue, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(issue) = self.page.next() {
            return Some(Ok(issue));
        }
        match self.read() {
            Ok(()) => self.page.next().map(Ok),
            Err(error) => Some(Err(error)),
        }
    }
}

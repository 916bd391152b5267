//! Where the next page begins, so that nothing is skipped.
//!
//! GitHub sorts by the time of the last change and counts pages. An item that changes while pages are read moves to the end,
//! and every later page moves up by one: counted pages would skip an item. So the next page is asked for by the time of the
//! last item. Only where a whole page has one time, pages are counted, and each of them overlaps the one before: if the
//! last item of that one is not in it any more, the items have moved, and the count begins again.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use symphony_core::Timestamp;
use symphony_tracker::remote::Cursor;

/// Most items of a page, GitHub's maximum.
const PAGE_ITEMS_MAX: u32 = 100;

/// Pages of one time that overlap; more than 2,500 items of the same second follow without overlap.
const OVERLAPPING_PAGES_MAX: u32 = 50;

/// How much of what was read before is read again at the next look, in milliseconds: GitHub's copies can show a change a
/// little after later ones.
const OVERLAP_MS: i64 = 60_000;

/// Longest tag that is kept, in bytes.
const ETAG_BYTES_MAX: usize = 256;

/// How far issues and comments were read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Position {
    pub(super) issues: Walk,
    pub(super) comments: Walk,
}

/// How far one list was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Walk {
    /// Only what changed then or later is asked for.
    since: Option<Timestamp>,
    /// Which page of that.
    page: u32,
    /// The last item of the page before.
    last: Option<u64>,
    /// The tag of this page's answer, when it was the last one.
    etag: Option<String>,
}

impl Default for Walk {
    fn default() -> Self {
        Self {
            since: None,
            page: 1,
            last: None,
            etag: None,
        }
    }
}

/// An item of a page: its id, and when it was last changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) id: u64,
    pub(super) updated_at: Timestamp,
}

impl Position {
    /// Reads a cursor. One that this version does not know begins at the beginning, which only repeats.
    pub(super) fn read(cursor: &Cursor) -> Self {
        serde_json::from_str(cursor.as_str()).unwrap_or_default()
    }

    /// Writes the cursor.
    pub(super) fn cursor(&self) -> Cursor {
        Cursor::new(serde_json::to_string(self).expect("a position has string keys only"))
    }
}

impl Walk {
    /// Returns how many items a page has: one less with each page, so that it overlaps the page before.
    fn items_max(&self) -> u32 {
        PAGE_ITEMS_MAX + 1 - self.page.clamp(1, OVERLAPPING_PAGES_MAX)
    }

    /// Returns the parameters of the page.
    pub(super) fn query(&self) -> Vec<(&'static str, String)> {
        let mut query = vec![
            ("sort", "updated".to_owned()),
            ("direction", "asc".to_owned()),
            ("per_page", self.items_max().to_string()),
            ("page", self.page.max(1).to_string()),
        ];
        if let Some(since) = self.since {
            query.push(("since", since.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()));
        }
        query
    }

    /// Returns the tag with which the page was answered before.
    pub(super) fn etag(&self) -> Option<&str> {
        self.etag.as_deref()
    }

    /// Returns where to go on after a page with these items, in the order of the answer, and whether more is waiting there.
    pub(super) fn after(&self, items: &[Item], etag: Option<&str>) -> (Self, bool) {
        let newest = items.iter().map(|item| item.updated_at).max();
        let from = |since: Option<Timestamp>| Self {
            since,
            ..Self::default()
        };
        if self.has_moved(items) {
            return (from(self.since), true);
        }
        let is_full = items.len() >= self.items_max() as usize;
        if !is_full {
            return (self.rest(newest, etag), false);
        }
        if newest > self.since {
            return (from(newest), true);
        }
        let next = Self {
            since: self.since,
            page: self.page + 1,
            last: items.last().map(|item| item.id),
            etag: None,
        };
        (next, true)
    }

    /// Whether the item that this page should repeat is gone from it.
    fn has_moved(&self, items: &[Item]) -> bool {
        let ids: BTreeSet<u64> = items.iter().map(|item| item.id).collect();
        self.page <= OVERLAPPING_PAGES_MAX && self.last.is_some_and(|last| !ids.contains(&last))
    }

    /// Returns where the next look begins once everything was read.
    fn rest(&self, newest: Option<Timestamp>, etag: Option<&str>) -> Self {
        let before = |at: Timestamp| {
            Timestamp::from_millisecond(at.as_millisecond() - OVERLAP_MS).unwrap_or(at)
        };
        let since = newest.map(before).or(self.since);
        let is_same_page = since == self.since && self.page == 1;
        Self {
            since,
            page: 1,
            last: None,
            etag: etag
                .filter(|etag| is_same_page && etag.len() <= ETAG_BYTES_MAX)
                .map(str::to_owned),
        }
    }
}

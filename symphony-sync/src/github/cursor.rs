//! Where the next page begins, so that nothing is skipped.
//!
//! GitHub sorts by the time of the last change and counts pages. An item that changes while pages are read moves to the end,
//! and every later page moves up by one: counted pages would skip an item. So the next page is asked for by the time of the
//! last item. Only where a whole page has one time, pages are counted, and each of them overlaps the one before: if the
//! last item of that one is not in its place any more, the items have moved, and the count begins again.
//!
//! What joins the very second that is being read can be placed before what was read. Each look reads the last minute of the
//! one before again, so it is seen unless the look is interrupted for longer than that.

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

    /// Whether the item that this page should repeat is gone from it, or is here only because it changed.
    fn has_moved(&self, items: &[Item]) -> bool {
        let is_in_place = |last: u64| {
            let found = items.iter().find(|item| item.id == last);
            found.is_some_and(|item| Some(item.updated_at) == self.since)
        };
        self.page <= OVERLAPPING_PAGES_MAX && self.last.is_some_and(|last| !is_in_place(last))
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// Longer than what is read again at each look, which would hide that an item was skipped.
    const LONG_S: i64 = OVERLAP_MS / 1000 + 40;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    /// A list of GitHub's: for each item the second of its last change.
    #[derive(Debug, Clone, Default)]
    struct Server(BTreeMap<u64, i64>);

    impl Server {
        fn page(&self, walk: &Walk) -> Vec<Item> {
            let mut items: Vec<Item> = self
                .0
                .iter()
                .map(|(id, second)| Item {
                    id: *id,
                    updated_at: at(*second),
                })
                .filter(|item| walk.since.is_none_or(|since| item.updated_at >= since))
                .collect();
            items.sort_by_key(|item| (item.updated_at, item.id));
            let size = walk.items_max() as usize;
            items
                .into_iter()
                .skip((walk.page as usize - 1) * size)
                .take(size)
                .collect()
        }
    }

    /// What happens while pages are read.
    #[derive(Debug, Clone)]
    enum Event {
        Change { first: u64, count: u64 },
        Remove(u64),
        Add(u64),
    }

    fn event() -> impl Strategy<Value = Event> {
        prop_oneof![
            (0..700_u64, 1..120_u64).prop_map(|(first, count)| Event::Change { first, count }),
            (0..700_u64).prop_map(Event::Remove),
            (1..150_u64).prop_map(Event::Add),
        ]
    }

    fn happen(server: &mut Server, event: &Event, second: i64) {
        match event {
            Event::Change { first, count } => {
                for (_, changed) in server.0.range_mut(*first..first + count) {
                    *changed = second;
                }
            }
            Event::Remove(id) => _ = server.0.remove(id),
            Event::Add(count) => {
                let begin = server.0.keys().next_back().map_or(0, |last| last + 1);
                server
                    .0
                    .extend((begin..begin + count).map(|id| (id, second)));
            }
        }
    }

    proptest! {
        /// Whatever changes between pages and looks: after two looks in which nothing changed, every item was read as it is.
        #[test]
        fn nothing_is_skipped(
            seconds in prop::collection::vec((0..4_i64, 1..160_usize), 1..5),
            events in prop::collection::vec(prop::option::weighted(0.6, event()), 0..25),
        ) {
            let mut server = Server::default();
            for (second, count) in &seconds {
                let begin = server.0.len() as u64;
                server.0.extend((begin..begin + *count as u64).map(|id| (id, *second * LONG_S)));
            }
            let mut events = events.iter();
            let mut now = 10 * LONG_S;
            let mut read: BTreeMap<u64, Timestamp> = BTreeMap::new();
            let mut walk = Walk::default();
            let mut quiet_looks = 0;
            let mut pages = 0;
            while quiet_looks < 2 {
                let items = server.page(&walk);
                read.extend(items.iter().map(|item| (item.id, item.updated_at)));
                let (next, has_more) = walk.after(&items, Some("tag"));
                walk = serde_json::from_str(&serde_json::to_string(&next).unwrap()).unwrap();
                if !has_more {
                    now += LONG_S;
                }
                if let Some(happened) = events.next() {
                    quiet_looks = 0;
                    // several events share a second
                    now += i64::from(happened.is_none());
                    if let Some(event) = happened {
                        happen(&mut server, event, now);
                    }
                } else if !has_more {
                    quiet_looks += 1;
                }
                pages += 1;
                prop_assert!(pages < 500, "the walk ends");
            }
            for (id, second) in &server.0 {
                prop_assert_eq!(read.get(id), Some(&at(*second)), "item {}", id);
            }
        }
    }

    #[test]
    fn each_page_of_one_time_overlaps_the_page_before() {
        let mut end = 0;
        for page in 1..=OVERLAPPING_PAGES_MAX {
            let walk = Walk {
                page,
                ..Walk::default()
            };
            let begin = (page - 1) * walk.items_max();
            assert!(page == 1 || begin < end, "page {page} begins at {begin}");
            end = begin + walk.items_max();
        }
    }

    #[test]
    fn a_tag_is_kept_only_for_the_same_page() {
        let item = |second| Item {
            id: 1,
            updated_at: at(second),
        };
        let (first, has_more) = Walk::default().after(&[item(0)], Some("one"));
        assert_eq!((first.etag(), has_more), (None, false));
        let (second, _) = first.after(&[item(0)], Some("two"));
        assert_eq!(second.etag(), Some("two"));
        let (third, _) = second.after(&[item(0), item(5)], Some("three"));
        assert_eq!(third.etag(), None);
        let long = "x".repeat(ETAG_BYTES_MAX + 1);
        assert_eq!(first.after(&[item(0)], Some(&long)).0.etag(), None);
    }
}

//! Where the next page begins, so that nothing is skipped.
//!
//! Linear sorts by the time of the last change, the newest first. An item that changes while pages are read moves to the
//! top, above what was read: it is newer than anything seen, so the next walk reads it, and no other item moves past the
//! cursor. A walk goes from the newest change to those that the walk before ended with; only then its time counts.

use serde::{Deserialize, Serialize};
use symphony_core::Timestamp;
use symphony_tracker::remote::Cursor;

/// How much of what was read before is read again, in milliseconds: a change can become visible a little after later ones.
const OVERLAP_MS: i64 = 60_000;

/// How far issues and comments were read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Position {
    pub(super) issues: Walk,
    pub(super) comments: Walk,
}

/// How far one list was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Walk {
    /// The newest change of all finished walks.
    newest: Option<Newest>,
    /// The newest change of the walk under way.
    seen: Option<Newest>,
    /// Where the walk under way goes on.
    after: Option<String>,
    /// Whether the last finished walk found nothing new.
    is_settled: bool,
}

/// The newest item of a list.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Newest {
    pub(super) updated_at: Timestamp,
    pub(super) id: String,
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

    /// Whether nothing can have changed as long as the newest items are these.
    pub(super) fn is_rest(&self, issue: Option<&Newest>, comment: Option<&Newest>) -> bool {
        self.issues.is_rest(issue) && self.comments.is_rest(comment)
    }

    /// Whether a look at the newest items can spare a walk.
    pub(super) const fn is_settled(&self) -> bool {
        self.issues.is_settled && self.comments.is_settled
    }
}

impl Walk {
    /// Returns the time from which changes are asked for.
    pub(super) fn since(&self) -> Timestamp {
        let before = |at: Timestamp| Timestamp::from_millisecond(at.as_millisecond() - OVERLAP_MS);
        let newest = self.newest.as_ref();
        newest
            .and_then(|newest| before(newest.updated_at).ok())
            .unwrap_or(Timestamp::UNIX_EPOCH)
    }

    /// Returns where the walk under way goes on.
    pub(super) fn page_after(&self) -> Option<&str> {
        self.after.as_deref()
    }

    fn is_rest(&self, newest: Option<&Newest>) -> bool {
        self.is_settled && self.after.is_none() && self.newest.as_ref() == newest
    }

    /// Returns where to go on after a page: further down, or with a new walk at the next look.
    pub(super) fn after(&self, page: impl IntoIterator<Item = Newest>, next: Option<&str>) -> Self {
        let seen = page.into_iter().chain(self.seen.clone()).max();
        if let Some(next) = next {
            return Self {
                newest: self.newest.clone(),
                seen,
                after: Some(next.to_owned()),
                is_settled: false,
            };
        }
        let newest = seen.max(self.newest.clone());
        Self {
            is_settled: newest == self.newest,
            newest,
            seen: None,
            after: None,
        }
    }

    /// Returns the beginning of the walk under way: the item at its cursor is gone.
    pub(super) fn again(&self) -> Self {
        Self {
            newest: self.newest.clone(),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// Items of a page.
    const PAGE: usize = 10;

    /// Returns a moment; two of them are further apart than what is read again at each look, which would hide a skipped item.
    fn at(step: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + step * 100).unwrap()
    }

    /// A list of Linear's: for each item the time of its last change.
    #[derive(Debug, Clone, Default)]
    struct Server(BTreeMap<String, i64>);

    impl Server {
        /// Returns a page with the cursor of the next one, or nothing if the walk's own cursor is gone.
        fn page(&self, walk: &Walk) -> Option<(Vec<Newest>, Option<String>)> {
            let mut items: Vec<Newest> = self
                .0
                .iter()
                .map(|(id, ms)| Newest {
                    updated_at: at(*ms),
                    id: id.clone(),
                })
                .filter(|item| item.updated_at >= walk.since())
                .collect();
            items.sort_by(|a, b| b.cmp(a));
            let start = match walk.page_after() {
                Some(after) => items.iter().position(|item| item.id == after)? + 1,
                None => 0,
            };
            let has_next = items.len() > start + PAGE;
            let page: Vec<Newest> = items.into_iter().skip(start).take(PAGE).collect();
            let next = page.last().filter(|_| has_next).map(|item| item.id.clone());
            Some((page, next))
        }
    }

    proptest! {
        /// Whatever changes between pages and looks: after three looks in which nothing changed, every item was read as it is,
        /// and the walk rests. The first of them can be the end of a walk that a change was too new for.
        #[test]
        fn nothing_is_skipped(
            times in prop::collection::vec(0..6_i64, 1..80),
            events in prop::collection::vec(prop::option::weighted(0.6, (0..80_usize, 0..3_u8)), 0..30),
        ) {
            let name = |place: usize| format!("{place:03}");
            let mut server = Server::default();
            server.0.extend(times.iter().enumerate().map(|(place, ms)| (name(place), *ms)));
            let mut events = events.iter();
            let mut now = 100;
            let mut read: BTreeMap<String, Timestamp> = BTreeMap::new();
            let mut walk = Walk::default();
            let mut quiet_looks = 0;
            let mut pages = 0;
            while quiet_looks < 3 {
                let mut has_more = true;
                if let Some((page, next)) = server.page(&walk) {
                    read.extend(page.iter().map(|item| (item.id.clone(), item.updated_at)));
                    has_more = next.is_some();
                    walk = walk.after(page, next.as_deref());
                } else {
                    walk = walk.again();
                }
                walk = serde_json::from_str(&serde_json::to_string(&walk).unwrap()).unwrap();
                match events.next() {
                    Some(None) => { now += 1; quiet_looks = 0; }
                    Some(Some((place, 0))) => { server.0.remove(&name(*place)); quiet_looks = 0; }
                    Some(Some((place, _))) => { server.0.insert(name(*place), now); quiet_looks = 0; }
                    None if !has_more => quiet_looks += 1,
                    None => {}
                }
                pages += 1;
                prop_assert!(pages < 500, "the walk ends");
            }
            for (id, ms) in &server.0 {
                prop_assert_eq!(read.get(id), Some(&at(*ms)), "item {}", id);
            }
            let newest = server.0.iter().map(|(id, ms)| Newest { updated_at: at(*ms), id: id.clone() }).max();
            if newest.is_some() && newest >= walk.newest {
                prop_assert!(walk.is_rest(newest.as_ref()), "{:?}", walk);
            }
        }
    }
}

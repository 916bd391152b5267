//! The two rules of the user budget: a text keeps its end, a list keeps its newest or its best items.

use std::borrow::Cow;

use symphony_core::unit::Tokens;

use crate::fence::Fenced;
use crate::hidden::{escape_hidden, has_comment, has_hidden, strip_hidden};
use crate::report::ItemsKept;
use crate::section::Fit;
use crate::tokens::TokenCounter;
use crate::truncate::truncate_tail;

/// Stands for a fence where its tokens are counted. Both markers fill at most half of it.
const FRAME: &str = "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm\
    mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm\
    mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm";

/// What the fitting functions share: the counter and the length of the marker that will stand round each text.
#[derive(Clone, Copy)]
pub(crate) struct Fitter<'c> {
    pub(crate) counter: &'c dyn TokenCounter,
    pub(crate) marker_chars: usize,
}

/// What the text rule can keep of a text, stripped of what is hidden: its end, when nothing before that matters.
///
/// A comment matters from far off, because its beginning may be cut off and its hidden end stay; so it is searched in all.
pub(crate) fn stripped_end<'a>(
    text: &'a str,
    cap: Tokens,
    counter: &dyn TokenCounter,
) -> Cow<'a, str> {
    match deciding_end(text, cap, counter) {
        Some(end) if !has_comment(text) && !has_hidden(end) => Cow::Borrowed(end),
        _ => strip_hidden(text),
    }
}

/// What the text rule can keep of a text, with what is hidden escaped: an escape reaches no further than its character.
pub(crate) fn escaped_end<'a>(
    text: &'a str,
    cap: Tokens,
    counter: &dyn TokenCounter,
) -> Cow<'a, str> {
    match deciding_end(text, cap, counter) {
        Some(end) if !has_comment(end) && !has_hidden(end) => Cow::Borrowed(end),
        _ => escape_hidden(text),
    }
}

/// A little more of the end than `cap` leaves room for; nothing when the text has no more than that.
fn deciding_end<'a>(text: &'a str, cap: Tokens, counter: &dyn TokenCounter) -> Option<&'a str> {
    let start = counter.suffix_start(text, Tokens::new(cap.get().saturating_add(2)), "");
    text.get(start..).filter(|_| start > 0)
}

/// Text rule: keeps the end of a text.
pub(crate) fn fit_text<'a>(
    text: Cow<'a, str>,
    cap: Tokens,
    counter: &dyn TokenCounter,
) -> (Cow<'a, str>, Fit) {
    let cut = match truncate_tail(&text, cap, counter) {
        Cow::Borrowed(kept) if kept.len() == text.len() => None,
        Cow::Borrowed(_) => Some(String::new()),
        Cow::Owned(cut) => Some(cut),
    };
    match cut {
        None => {
            let fit = Fit {
                cap: Some(cap),
                used: counter.count(&text),
                ..Fit::default()
            };
            (text, fit)
        }
        Some(cut) => {
            let fit = Fit {
                used: counter.count(&cut),
                cap: Some(cap),
                cut: Some((counter.count(&text), counter.count(&cut))),
                items: None,
            };
            (Cow::Owned(cut), fit)
        }
    }
}

impl Fitter<'_> {
    /// Tokens of an item as it will stand in the prompt.
    fn cost(&self, item: &Fenced<'_>) -> Tokens {
        self.counter.count(&item.text) + self.overhead(item)
    }

    /// Tokens of an item's fence, and of the blank line that separates it from the next.
    fn overhead(&self, item: &Fenced<'_>) -> Tokens {
        let chars = item.overhead_chars(self.marker_chars) + 2;
        match FRAME.get(..chars) {
            Some(frame) => self.counter.count(frame),
            None => self.counter.count(&"m".repeat(chars)),
        }
    }

    /// List rule: takes items from the newest (last) on until the next would pass the cap, and keeps their order.
    ///
    /// `given` is how many there were before a hard limit. Items are made only as long as there
    /// is room; of the others only the raw text is counted.
    pub(crate) fn fit_newest<'a, T>(
        &self,
        items: &'a [T],
        given: usize,
        cap: Tokens,
        raw: impl Fn(&T) -> &str,
        make: impl Fn(&'a T) -> Fenced<'a>,
    ) -> (Vec<Fenced<'a>>, Fit) {
        let mut kept = Vec::new();
        let mut used = Tokens::ZERO;
        let mut from = Tokens::ZERO;
        let mut full = false;
        for item in items.iter().rev() {
            if full {
                from = from + self.counter.count(raw(item));
                continue;
            }
            let mut item = make(item);
            let cost = self.cost(&item);
            from = from + cost;
            if used + cost <= cap {
                used = used + cost;
                kept.push(item);
                continue;
            }
            full = true;
            if kept.is_empty() {
                let room = cap.get().saturating_sub(self.overhead(&item).get());
                let text = truncate_tail(&item.text, Tokens::new(room), self.counter).into_owned();
                if !text.is_empty() {
                    item.text = Cow::Owned(text);
                    used = self.cost(&item);
                    kept.push(item);
                }
            }
        }
        kept.reverse();
        let fit = Fit {
            cap: Some(cap),
            used,
            cut: (full || items.len() < given).then_some((from, used)),
            items: Some(ItemsKept::counted(given, kept.len())),
        };
        (kept, fit)
    }
}

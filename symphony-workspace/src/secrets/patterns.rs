//! All forms of some values as one automaton, and what is shown in their place.

use std::collections::BTreeMap;
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};

use super::needles::forms;
use super::wrapped::Unwrapped;
use crate::error::WorkspaceError;

/// Most characters of a name that replace its value.
const NAME_CHARS_MAX: usize = 60;
/// Bytes of a form that say that it may have begun. A form is at least one byte longer.
pub(super) const BEGINNING_BYTES: usize = 6;

/// The forms of some values.
pub(super) struct Patterns {
    forms: Vec<Vec<u8>>,
    /// The replacement of each form.
    replacements: Vec<String>,
    automaton: AhoCorasick,
    /// The first bytes of the forms, each once.
    beginnings: AhoCorasick,
    /// The forms that begin in each of these ways.
    begun: Vec<Vec<usize>>,
    longest: usize,
}

impl Patterns {
    /// Creates the patterns of named values; `None` without values.
    ///
    /// # Errors
    /// When there are too many values to look for.
    pub(super) fn of<'v>(
        values: impl IntoIterator<Item = (&'v str, &'v str)>,
    ) -> Result<Option<Self>, WorkspaceError> {
        // a form that two values share is shown under the first name
        let mut all: BTreeMap<Vec<u8>, String> = BTreeMap::new();
        for (name, value) in values {
            let replacement = format!("[redacted: {}]", plain_name(name));
            for form in forms(value) {
                all.entry(form).or_insert_with(|| replacement.clone());
            }
        }
        if all.is_empty() {
            return Ok(None);
        }
        let (forms, replacements): (Vec<Vec<u8>>, Vec<String>) = all.into_iter().unzip();
        let mut beginnings: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
        for (number, form) in forms.iter().enumerate() {
            if let Some(begin) = form.get(..BEGINNING_BYTES) {
                beginnings.entry(begin).or_default().push(number);
            }
        }
        let automaton = build(MatchKind::LeftmostLongest, forms.iter().map(Vec::as_slice))?;
        let starts = build(MatchKind::Standard, beginnings.keys().copied())?;
        Ok(Some(Self {
            automaton,
            beginnings: starts,
            begun: beginnings.into_values().collect(),
            longest: forms.iter().map(Vec::len).max().unwrap_or(0),
            forms,
            replacements,
        }))
    }

    pub(super) fn len(&self) -> usize {
        self.forms.len()
    }

    /// Returns whether a text holds a value, even a wrapped one.
    pub(super) fn is_in(&self, text: &[u8]) -> bool {
        self.automaton.is_match(text)
            || Unwrapped::of(text).is_some_and(|text| self.automaton.is_match(&text.bytes))
    }

    /// Finds what to replace, in order and without overlaps, with the replacements.
    pub(super) fn find(&self, text: &[u8]) -> Vec<(Range<usize>, &str)> {
        let shown = |pattern: usize| self.replacements.get(pattern).map_or("", String::as_str);
        let mut hits: Vec<(Range<usize>, &str)> = self
            .automaton
            .find_iter(text)
            .map(|hit| (hit.range(), shown(hit.pattern().as_usize())))
            .collect();
        if let Some(unwrapped) = Unwrapped::of(text) {
            let wrapped = self.automaton.find_iter(&unwrapped.bytes).map(|hit| {
                let last = hit.end().saturating_sub(1);
                let place = unwrapped.place(hit.start())..unwrapped.place(last) + 1;
                (place, shown(hit.pattern().as_usize()))
            });
            hits.extend(wrapped);
            hits.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
        }
        let mut apart: Vec<(Range<usize>, &str)> = Vec::with_capacity(hits.len());
        for (range, name) in hits {
            match apart.last_mut() {
                Some((last, _)) if range.start < last.end => last.end = last.end.max(range.end),
                _ => apart.push((range, name)),
            }
        }
        apart
    }

    /// Returns whether a text ends with the beginning of a value, so that what follows decides.
    pub(super) fn may_go_on(&self, text: &[u8]) -> bool {
        // breaks take a few bytes more
        let end = text
            .get(text.len().saturating_sub(2 * self.longest)..)
            .unwrap_or_default();
        let unwrapped = Unwrapped::of(end);
        let end = unwrapped.as_ref().map_or(end, |text| &text.bytes);
        self.beginnings.find_overlapping_iter(end).any(|hit| {
            let rest = end.get(hit.start()..).unwrap_or_default();
            let begun = self.begun.get(hit.pattern().as_usize());
            begun.into_iter().flatten().any(|number| {
                let form = self.forms.get(*number).map_or(&[][..], Vec::as_slice);
                rest.len() < form.len() && form.starts_with(rest)
            })
        })
    }
}

fn build<'p>(
    kind: MatchKind,
    patterns: impl Iterator<Item = &'p [u8]>,
) -> Result<AhoCorasick, WorkspaceError> {
    AhoCorasick::builder()
        .match_kind(kind)
        .build(patterns)
        .map_err(|error| WorkspaceError::Pattern {
            pattern: "the values of the copied files".to_owned(),
            reason: error.to_string(),
        })
}

/// Keeps of a name what needs no escape in JSON, in a terminal or in a log.
fn plain_name(name: &str) -> String {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    name.chars().filter(is_plain).take(NAME_CHARS_MAX).collect()
}

//! One tag of a template, taken apart, and what is wrong with it by itself.

use super::language_names::{BLOCKS, FILTERS, INSIDE, TAGS};
use super::shown::shown;

/// Most digits of a number: more would not fit into 64 bits.
const DIGITS_MAX: usize = 18;

/// A tag as it was found.
pub(super) struct Found<'a> {
    pub(super) text: &'a str,
    pub(super) length: usize,
    pub(super) opening: &'static str,
    pub(super) inner: &'a str,
    pub(super) closing: &'static str,
    pub(super) trims_before: bool,
    pub(super) trims_after: bool,
}

impl<'a> Found<'a> {
    /// Takes a tag apart whose closing begins at a place.
    pub(super) fn new(text: &'a str, closing_at: usize) -> Self {
        let is_output = text.starts_with("{{");
        let inner = text.get(2..closing_at).unwrap_or_default();
        let (trims_before, inner) = match inner.strip_prefix('-') {
            Some(inner) => (true, inner),
            None => (false, inner),
        };
        let (trims_after, inner) = match inner.strip_suffix('-') {
            Some(inner) => (true, inner),
            None => (false, inner),
        };
        let (opening, closing) = if is_output {
            ("{{", "}}")
        } else {
            ("{%", "%}")
        };
        Self {
            text: text.get(..closing_at + 2).unwrap_or(text),
            length: closing_at + 2,
            opening,
            inner,
            closing,
            trims_before,
            trims_after,
        }
    }

    /// Returns the name of a tag; `None` for one that writes a value.
    pub(super) fn name(&self) -> Option<&'a str> {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        let inner = self.inner.trim_start();
        let end = inner.find(|c| !is_part(c)).unwrap_or(inner.len());
        (self.opening == "{%").then(|| inner.get(..end).unwrap_or_default())
    }

    /// Says what is wrong with a tag by itself.
    pub(super) fn fault(&self) -> Option<String> {
        if let Some(name) = self.name() {
            let ends = name.strip_prefix("end").unwrap_or_default();
            let is_known = [&BLOCKS[..], &INSIDE, &TAGS]
                .iter()
                .any(|names| names.contains(&name));
            let is_skipped = matches!(name, "raw" | "comment");
            if matches!(name, "include" | "render" | "layout" | "import") {
                return Some(format!(
                    "`{name}` is not supported: a template is one file and cannot include another"
                ));
            }
            if !is_known && !is_skipped && !BLOCKS.contains(&ends) {
                return Some(format!("the tag `{}` is not known", shown(name)));
            }
            if is_skipped {
                return None;
            }
        }
        let (mut digits, mut depth) = (0, 0);
        let mut words = Unquoted::of(self.inner);
        for c in words.by_ref() {
            digits = if c.is_ascii_digit() { digits + 1 } else { 0 };
            match c {
                '[' | '(' => depth += 1,
                ']' | ')' => depth -= 1,
                _ => {}
            }
            if digits > DIGITS_MAX {
                return Some(format!(
                    "`{}` has a number of more than {DIGITS_MAX} digits",
                    shown(self.text)
                ));
            }
            if depth > BRACKETS_MAX {
                return Some(format!("`{}` nests brackets too deeply", shown(self.text)));
            }
        }
        let unknown = self
            .filters()
            .into_iter()
            .find(|filter| !FILTERS.contains(&filter.as_str()));
        unknown.map(|filter| format!("the filter `{}` is not known", shown(&filter)))
    }

    /// Returns the names after each `|`.
    fn filters(&self) -> Vec<String> {
        let plain: String = Unquoted::of(self.inner).collect();
        let parts = plain.split('|').skip(1).map(str::trim_start);
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        parts
            .map(|part| part.chars().take_while(|c| is_part(*c)).collect())
            .collect()
    }
}

/// Deepest nesting of brackets in a tag: liquid recurses for each.
const BRACKETS_MAX: i32 = 8;

/// The characters of a tag, with one blank in place of each quoted text.
struct Unquoted<'a> {
    rest: std::str::Chars<'a>,
}

impl<'a> Unquoted<'a> {
    fn of(text: &'a str) -> Self {
        Self { rest: text.chars() }
    }
}

impl Iterator for Unquoted<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        match self.rest.next()? {
            quote @ ('"' | '\'') => {
                self.rest.by_ref().find(|c| *c == quote);
                Some(' ')
            }
            c => Some(c),
        }
    }
}

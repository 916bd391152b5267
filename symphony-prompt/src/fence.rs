//! Fences round texts that others wrote: a line with a marker, origin and author; the text; the marker again.
//!
//! The marker is an input, made at the edge at random, once per prompt. That it occurs in no text of the
//! prompt is checked on what is really rendered, after stripping and cutting; a marker that does occur is
//! replaced by one that is derived from it, so that the same inputs still give the same bytes.

use std::borrow::Cow;

use memchr::memmem;

use crate::error::PromptError;
use crate::fingerprint::fingerprint;

/// Shortest marker: 16 characters of a hex alphabet hold 64 random bits.
pub const MARKER_CHARS_MIN: usize = 16;
/// Longest marker: two lines of every fence have it.
pub const MARKER_CHARS_MAX: usize = 64;
/// How many markers are tried: the chance that a random text holds one is below 2⁻⁴⁰, that it holds two is none.
const MARKER_CANDIDATES_MAX: usize = 8;

/// A fence marker of the right form; whether it is absent from the texts is for [`FenceMarker::absent_from`] to find.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FenceMarker(String);

impl FenceMarker {
    /// Parses a marker.
    ///
    /// # Errors
    /// When it is not 16 to 64 ASCII letters, digits, `-` or `_`.
    pub fn parse(text: &str) -> Result<Self, PromptError> {
        let well_formed = (MARKER_CHARS_MIN..=MARKER_CHARS_MAX).contains(&text.len())
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        if well_formed {
            Ok(Self(text.to_owned()))
        } else {
            Err(PromptError::FenceMarker {
                found: text.to_owned(),
                expected: "16 to 64 random ASCII letters, digits, `-` or `_`",
            })
        }
    }

    /// Returns the marker as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns this marker when no text contains it, else the first one derived from it of which that is true.
    ///
    /// # Errors
    /// When the texts contain all candidates, which takes an author who knows the marker.
    pub fn absent_from<'t>(
        &self,
        texts: &(impl Iterator<Item = &'t str> + Clone),
    ) -> Result<Self, PromptError> {
        let mut candidate = self.clone();
        for _ in 0..MARKER_CANDIDATES_MAX {
            let finder = memmem::Finder::new(candidate.0.as_bytes());
            if texts
                .clone()
                .all(|text| finder.find(text.as_bytes()).is_none())
            {
                return Ok(candidate);
            }
            candidate = candidate.derived();
        }
        Err(PromptError::FenceMarkerTaken {
            candidates: MARKER_CANDIDATES_MAX,
        })
    }

    /// Another marker of the same length, so that what has been fitted to a budget still fits.
    fn derived(&self) -> Self {
        let mut seed = self.0.clone();
        let mut digits = String::new();
        while digits.len() < self.0.len() {
            seed = fingerprint(seed.as_bytes());
            digits.push_str(&seed);
        }
        digits.truncate(self.0.len());
        Self(digits)
    }
}

/// A text that others wrote, with where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fenced<'a> {
    /// What it is: `description of SYM-12`.
    pub(crate) origin: Cow<'a, str>,
    /// Who wrote it.
    pub(crate) author: Cow<'a, str>,
    /// The text, stripped or escaped.
    pub(crate) text: Cow<'a, str>,
}

impl Fenced<'_> {
    /// Returns how many characters the fence adds to its text, for a marker of `marker_chars` characters.
    pub(crate) fn overhead_chars(&self, marker_chars: usize) -> usize {
        // Both markers, " ", ", by ", and at most three line ends.
        2 * marker_chars + self.origin.len() + self.author.len() + 9
    }

    /// Appends the fence and its text. Both markers stand at the start of a line of their own.
    pub(crate) fn render(&self, marker: &str, out: &mut String) {
        out.push_str(marker);
        out.push(' ');
        out.push_str(&self.origin);
        out.push_str(", by ");
        out.push_str(&self.author);
        out.push('\n');
        out.push_str(&self.text);
        if !self.text.ends_with('\n') && !self.text.is_empty() {
            out.push('\n');
        }
        out.push_str(marker);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_long_plain_and_random() {
        assert!(FenceMarker::parse("untrusted-0a1b2c3d4e5f").is_ok());
        for (length, fits) in [(15, false), (16, true), (64, true), (65, false)] {
            assert_eq!(
                FenceMarker::parse(&"m".repeat(length)).is_ok(),
                fits,
                "{length}"
            );
        }
        for bad in [
            "",
            "short",
            "has a space in it",
            "x".repeat(65).as_str(),
            "ümlaut-ümlaut-ümlaut",
        ] {
            assert!(FenceMarker::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_marker_in_the_text_is_replaced_by_a_derived_one() {
        let marker = FenceMarker::parse("untrusted-0a1b2c3d4e5f").unwrap();
        assert_eq!(marker.absent_from(&["a", "b"].into_iter()).unwrap(), marker);
        let text = format!("x {} y", marker.as_str());
        let derived = marker.absent_from(&[text.as_str()].into_iter()).unwrap();
        assert_ne!(derived, marker);
        assert_eq!(derived.as_str().len(), marker.as_str().len());
        assert_eq!(
            marker.absent_from(&[text.as_str()].into_iter()).unwrap(),
            derived
        );
        let both = format!("{text}{}", derived.as_str());
        let second = marker.absent_from(&[both.as_str()].into_iter()).unwrap();
        assert!(!both.contains(second.as_str()));
    }

    #[test]
    fn an_author_who_knows_every_candidate_gets_an_error() {
        let marker = FenceMarker::parse("untrusted-0a1b2c3d4e5f").unwrap();
        let mut text = String::new();
        let mut candidate = marker.clone();
        for _ in 0..MARKER_CANDIDATES_MAX {
            text.push_str(candidate.as_str());
            candidate = candidate.derived();
        }
        assert_eq!(
            marker.absent_from(&[text.as_str()].into_iter()),
            Err(PromptError::FenceMarkerTaken {
                candidates: MARKER_CANDIDATES_MAX
            })
        );
    }

    #[test]
    fn markers_stand_on_lines_of_their_own() {
        for (text, expected) in [
            ("one", "M o, by a\none\nM"),
            ("one\n", "M o, by a\none\nM"),
            ("", "M o, by a\nM"),
        ] {
            let fenced = Fenced {
                origin: "o".into(),
                author: "a".into(),
                text: text.into(),
            };
            let mut out = String::new();
            fenced.render("M", &mut out);
            assert_eq!(out, expected);
            assert!(out.len() <= text.len() + fenced.overhead_chars(1));
        }
    }
}

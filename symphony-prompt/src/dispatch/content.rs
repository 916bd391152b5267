//! What the sections of a dispatch on an issue are made from.

use symphony_core::unit::Tokens;

use crate::budget::Caps;
use crate::input::FindingInput;
use crate::section::SectionDraft;
use crate::section::fit::Fitter;

/// What the sections are filled from and fitted with.
#[derive(Clone, Copy)]
pub(super) struct Content<'a, 'c> {
    pub(super) approach: Option<&'a FindingInput>,
    pub(super) findings: &'a [&'a FindingInput],
    pub(super) caps: Caps,
    pub(super) fitter: Fitter<'c>,
}

/// What a judge reviews.
#[derive(Default)]
pub(super) struct ReviewSections<'a> {
    pub(super) list: Vec<SectionDraft<'a>>,
    /// Tokens of the approach, which it takes from the findings' share.
    pub(super) approach: Tokens,
    /// Tokens of the commits that answer points, which they take from the diff's share.
    pub(super) answers: Tokens,
}

//! What follows when a run came to nothing.

use super::run_end::RunEnd;
use crate::hand_in::{NothingEffect, nothing_effect};

/// What another run after so many that came to nothing would do. Only those since the last progress count, or since a person
/// cleared the attempts.
pub(super) fn effect_after(end: &RunEnd<'_>, before: u32) -> NothingEffect {
    nothing_effect(before.min(end.issue.counts.total_runs))
}

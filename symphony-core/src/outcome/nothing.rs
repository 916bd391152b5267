//! What follows after a run without a result.

use super::run_end::RunEnd;
use crate::hand_in::{NothingEffect, nothing_effect};

/// The effect of another run after this many without a result. Only those since the last progress count, or since a
/// person cleared the attempts.
pub(super) fn effect_after(end: &RunEnd<'_>, before: u32) -> NothingEffect {
    nothing_effect(before.min(end.issue.counts.total_runs))
}

//! The parts of a score, and the order that scores give.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};
use symphony_core::Timestamp;

use crate::options::Weights;

/// Age at which a learning has lost all of its recency, in seconds: 90 days.
pub const RECENCY_SECONDS_MAX: i64 = 90 * 24 * 60 * 60;

/// The parts of a score (`learnings.md`, step 3): each in 0..=1, but for the usefulness.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parts {
    /// Jaccard similarity of the labels.
    pub labels: f64,
    /// Share of the learning's paths that the text names.
    pub paths: f64,
    /// Jaccard similarity of the words.
    pub keywords: f64,
    /// 1 now, 0 from 90 days on.
    pub recency: f64,
    /// By how much issues with it were merged first time more often than others, as far as their number bears it out:
    /// −1..=1, and 0 while that is not known (see [`crate::Comparison`]).
    #[serde(default, skip_serializing_if = "is_unknown")]
    pub usefulness: f64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn is_unknown(usefulness: &f64) -> bool {
    *usefulness == 0.0
}

impl Parts {
    /// Returns the weighted sum.
    pub fn score(&self, weights: &Weights) -> f64 {
        weights.labels * self.labels
            + weights.paths * self.paths
            + weights.keywords * self.keywords
            + weights.recency * self.recency
            + weights.usefulness * self.usefulness
    }
}

/// Returns the recency of something created then: linear in its age in whole seconds; the future counts as `now`.
pub fn recency(created_at: Timestamp, now: Timestamp) -> f64 {
    let age = now
        .duration_since(created_at)
        .as_secs()
        .clamp(0, RECENCY_SECONDS_MAX);
    #[expect(
        clippy::cast_precision_loss,
        reason = "at most 7,776,000, exact in 53 bits"
    )]
    let share = age as f64 / RECENCY_SECONDS_MAX as f64;
    1.0 - share
}

/// What the order of learnings depends on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key<'a> {
    pub(crate) created_at: Timestamp,
    pub(crate) id: &'a [u8],
    /// Where it stood in the input: only for equal ids, which a store does not have.
    pub(crate) index: u32,
}

impl Key<'_> {
    /// Newer first, then the smaller id. Of equal texts the first stays; of equal scores the first comes first.
    pub(crate) fn prefer(&self, other: &Self) -> Ordering {
        other
            .created_at
            .cmp(&self.created_at)
            .then_with(|| self.id.cmp(other.id))
            .then(self.index.cmp(&other.index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::float_cmp, reason = "the definition is to be met exactly")]
    fn recency_falls_in_a_line_to_the_second() {
        let now: Timestamp = "2026-06-01T00:00:00Z".parse().unwrap();
        for (created, expected) in [
            ("2026-06-01T00:00:00Z", 1.0),
            ("2026-06-02T00:00:00Z", 1.0),
            ("2026-05-31T23:59:59.5Z", 1.0),
            ("2026-05-31T23:59:59Z", 1.0 - 1.0 / 7_776_000.0),
            ("2026-04-17T00:00:00Z", 0.5),
            ("2026-03-03T00:00:01Z", 1.0 - 7_775_999.0 / 7_776_000.0),
            ("2026-03-03T00:00:00Z", 0.0),
            ("1999-01-01T00:00:00Z", 0.0),
        ] {
            assert_eq!(
                recency(created.parse().unwrap(), now),
                expected,
                "{created}"
            );
        }
    }
}

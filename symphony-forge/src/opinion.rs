//! Who thinks what of a change in the end: of a person's verdicts, the newest one counts.

use std::collections::BTreeMap;

use symphony_core::Timestamp;
use symphony_tracker::remote::ExternalId;

use crate::remote::{RemoteReview, ReviewVerdict};

/// The newest verdict of each person, by the person's id. Remarks are no verdict, and leave an earlier one as it is.
#[derive(Debug, Clone, Default)]
pub(crate) struct Opinions<'a>(BTreeMap<&'a ExternalId, &'a RemoteReview>);

impl<'a> Opinions<'a> {
    /// Reads them from reviews in any order.
    pub(crate) fn of(reviews: &'a [RemoteReview]) -> Self {
        let mut newest: BTreeMap<&ExternalId, &RemoteReview> = BTreeMap::new();
        for review in reviews {
            let Some(author) = &review.author else {
                continue;
            };
            if review.verdict == ReviewVerdict::Commented {
                continue;
            }
            let known = newest.entry(&author.id).or_insert(review);
            if age(known) < age(review) {
                *known = review;
            }
        }
        Self(newest)
    }

    /// Returns the later verdict of the same person, if there is one.
    pub(crate) fn after(&self, review: &RemoteReview) -> Option<ReviewVerdict> {
        let author = review.author.as_ref()?;
        let newest = self.0.get(&author.id)?;
        (newest.id != review.id).then_some(newest.verdict)
    }

    /// Returns the newest verdicts.
    pub(crate) fn all(&self) -> impl Iterator<Item = &'a RemoteReview> {
        self.0.values().copied()
    }
}

/// Two reviews of one second are in the order of their ids, which are numbers without leading zeros.
fn age(review: &RemoteReview) -> (Timestamp, usize, &str) {
    let id = review.id.as_str();
    (review.at, id.len(), id)
}

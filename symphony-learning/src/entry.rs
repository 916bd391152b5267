//! The ways in for callers who have all learnings at hand. Who streams them from a store uses [`Ranker`] itself.

use symphony_core::Timestamp;
use symphony_core::learning::Learning;

use crate::error::OptionsError;
use crate::options::Options;
use crate::rank::selection::{Best, Ranked, Relevance};
use crate::rank::{Hit, Ranker};
use crate::subject::Subject;

/// Ranks learnings and says what covers what. Indexes are those of `learnings`.
///
/// # Errors
/// When a weight is out of range.
pub fn rank(
    learnings: &[Learning],
    subject: &Subject,
    now: Timestamp,
    options: Options,
) -> Result<Ranked, OptionsError> {
    Ok(filled(learnings, subject, now, options)?.full())
}

/// Takes what [`rank`] takes, faster, without saying what covers what.
///
/// # Errors
/// When a weight is out of range.
pub fn rank_best(
    learnings: &[Learning],
    subject: &Subject,
    now: Timestamp,
    options: Options,
) -> Result<Best, OptionsError> {
    Ok(filled(learnings, subject, now, options)?.best())
}

/// Searches learnings of all kinds by the same score, with the query as the text. At most `max_results`.
///
/// # Errors
/// When a weight is out of range.
pub fn search(
    learnings: &[Learning],
    query: &str,
    relevance: Relevance,
    now: Timestamp,
    options: Options,
) -> Result<Vec<Hit>, OptionsError> {
    let subject = Subject::query(query);
    Ok(filled(learnings, &subject, now, options)?.search(relevance))
}

fn filled<'a>(
    learnings: &[Learning],
    subject: &'a Subject,
    now: Timestamp,
    options: Options,
) -> Result<Ranker<'a>, OptionsError> {
    let mut ranker = Ranker::new(subject, now, options)?;
    let pattern_bytes = learnings
        .iter()
        .map(|learning| learning.pattern.len())
        .sum();
    ranker.reserve(learnings.len(), pattern_bytes);
    for learning in learnings {
        ranker.push_learning(learning);
    }
    Ok(ranker)
}

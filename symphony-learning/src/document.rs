//! Ranking as a document in and a document out, for callers in other languages (`learnings.md`, last paragraph).

use serde::{Deserialize, Serialize};
use symphony_core::Timestamp;
use symphony_core::id::LearningId;
use symphony_core::learning::Learning;

use crate::entry::rank;
use crate::error::RankError;
use crate::options::Options;
use crate::rank::Hit;
use crate::score::Parts;
use crate::subject::Subject;

/// What to rank.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RankInput {
    /// The time that ages are counted from.
    pub now: Timestamp,
    /// The issue that the learnings are ranked for.
    pub issue: RankIssue,
    /// The learnings, in any order, their ids unique.
    pub learnings: Vec<Learning>,
    /// Caps and weights; the defaults when missing or null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<Options>,
}

/// The issue of a [`RankInput`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RankIssue {
    /// Any name; the ranking does not depend on it.
    pub identifier: String,
    /// The title.
    pub title: String,
    /// The description; missing and null are empty.
    #[serde(default)]
    pub description: Option<String>,
    /// The labels.
    #[serde(default)]
    pub labels: Vec<String>,
}

/// A ranking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RankOutput {
    /// Best first, within `convention_char_cap`.
    pub conventions: Vec<RankItem>,
    /// Best first, at most `max_results`.
    pub tactical: Vec<RankItem>,
    /// Learnings that another one covers, and empty ones, by id. Learnings that only exceed a cap are not listed.
    pub dropped: Vec<DroppedItem>,
}

/// A learning that was chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RankItem {
    /// Its id.
    pub id: LearningId,
    /// Its pattern.
    pub pattern: String,
    /// The weighted sum of the parts.
    pub score: f64,
    /// What makes up the score.
    pub parts: Parts,
}

/// A learning that was dropped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DroppedItem {
    /// Its id.
    pub id: LearningId,
    /// The learning that stays in its place; null when nothing of the pattern was left by normalising.
    pub covered_by: Option<LearningId>,
}

/// Ranks a document.
///
/// # Errors
/// When options are out of range, or two learnings have one id.
pub fn rank_document(input: &RankInput) -> Result<RankOutput, RankError> {
    let learnings = &input.learnings;
    check_ids(learnings)?;
    let issue = &input.issue;
    let description = issue.description.as_deref().unwrap_or_default();
    let subject = Subject::issue(&issue.title, description, &issue.labels);
    let ranked = rank(
        learnings,
        &subject,
        input.now,
        input.options.unwrap_or_default(),
    )?;
    let items = |hits: &[Hit]| hits.iter().filter_map(|hit| item(learnings, hit)).collect();
    let mut dropped: Vec<DroppedItem> = ranked
        .dropped
        .iter()
        .filter_map(|dropped| {
            let id = learnings.get(dropped.index)?.id.clone();
            let covered_by = dropped.covered_by.and_then(|by| learnings.get(by));
            let covered_by = covered_by.map(|learning| learning.id.clone());
            Some(DroppedItem { id, covered_by })
        })
        .collect();
    dropped.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(RankOutput {
        conventions: items(&ranked.best.conventions),
        tactical: items(&ranked.best.tactical),
        dropped,
    })
}

fn item(learnings: &[Learning], hit: &Hit) -> Option<RankItem> {
    let learning = learnings.get(hit.index)?;
    Some(RankItem {
        id: learning.id.clone(),
        pattern: learning.pattern.clone(),
        score: hit.score,
        parts: hit.parts,
    })
}

fn check_ids(learnings: &[Learning]) -> Result<(), RankError> {
    let mut ids: Vec<(&LearningId, usize)> = learnings.iter().map(|l| &l.id).zip(0..).collect();
    ids.sort_unstable();
    let repeated = ids.array_windows().find(|[a, b]| a.0 == b.0);
    match repeated {
        Some([(id, first), (_, second)]) => Err(RankError::DuplicateId {
            id: (*id).clone(),
            first: *first,
            second: *second,
        }),
        None => Ok(()),
    }
}

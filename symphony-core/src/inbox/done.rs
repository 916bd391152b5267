//! Proposals that nothing is left to do, in words.

use crate::done::{Obstacle, list_obstacles};
use crate::id::{IssueId, PrId};
use crate::listing::list_few;

/// Most items of evidence that an entry lists; the rest is counted.
const EVIDENCE_LISTED_MAX: usize = 5;
/// Most characters of a reason that an entry quotes; `issue show` has the rest.
const REASON_CHARS_MAX: usize = 500;

/// A proposal that nothing is left to do, which a person confirms or rejects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoneWaits {
    /// The proposal.
    pub pr: PrId,
    /// Why nothing is left, in the worker's words.
    pub reason: String,
    /// What shows it, an item a line.
    pub evidence: Vec<String>,
    /// Why no judge decides; `None` if one agrees.
    pub no_judge: Option<String>,
    /// What is in the way of its confirmation, or what to know before it.
    pub obstacles: Vec<Obstacle>,
}

impl DoneWaits {
    /// Describes what it rests on.
    pub(super) fn text(&self) -> String {
        let judged = match &self.no_judge {
            None => "a judge agrees".to_owned(),
            Some(why) => format!("no judge has decided: {why}"),
        };
        let obstacles: Vec<Obstacle> = self
            .obstacles
            .iter()
            .filter(|obstacle| !matches!(obstacle, Obstacle::NotJudged))
            .cloned()
            .collect();
        let waits = if self.is_stopped() {
            format!(
                "and cannot be confirmed now: {}",
                list_obstacles(&obstacles)
            )
        } else if obstacles.is_empty() {
            "and waits for you to confirm it".to_owned()
        } else {
            format!(
                "and waits for you to confirm it. Before you do: {}",
                list_obstacles(&obstacles)
            )
        };
        let whole = self.reason.trim();
        let mut reason: String = whole.chars().take(REASON_CHARS_MAX).collect();
        if reason.len() < whole.len() {
            reason.push('…');
        }
        let evidence = self.evidence.iter().map(String::as_str);
        let evidence = list_few(evidence, EVIDENCE_LISTED_MAX);
        format!(
            "its worker says that nothing is left to do ({judged}) {waits}. Reason: {reason} Evidence: {evidence}"
        )
    }

    /// Returns whether `done approve` would be refused. It runs gates itself.
    fn is_stopped(&self) -> bool {
        let mut obstacles = self.obstacles.iter();
        obstacles.any(|obstacle| obstacle.stops_a_person() && !obstacle.asks_for_gates())
    }

    /// Returns the commands that answer, the usual one first.
    pub(super) fn answers(&self, issue: &IssueId) -> Vec<String> {
        let mut answers = vec![format!("symphony issue show {issue}")];
        answers.extend(
            self.obstacles
                .iter()
                .filter_map(|found| found.answer(issue)),
        );
        if !self.is_stopped() {
            answers.push(format!("symphony done approve {issue}"));
        }
        answers.push(format!("symphony done reject {issue} --feedback TEXT"));
        answers.push(format!("symphony issue close {issue} --done --reason TEXT"));
        answers
    }
}

//! Proposals that nothing is left to do, in words.

use crate::id::{IssueId, PrId};
use crate::listing::list_few;

/// Items of evidence that an entry lists; the rest is counted.
const EVIDENCE_LISTED_MAX: usize = 5;
/// Characters of a reason that an entry quotes; `issue show` has the rest.
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
    /// Why no judge decides; none where one agrees.
    pub no_judge: Option<String>,
    /// Whether required gates are red on its base commit.
    pub is_red: bool,
}

impl DoneWaits {
    /// Says what it rests on.
    pub(super) fn text(&self) -> String {
        let judged = match &self.no_judge {
            None => "a judge agrees".to_owned(),
            Some(why) => format!("no judge has decided: {why}"),
        };
        let red = if self.is_red {
            ", and required gates are red on the base"
        } else {
            ""
        };
        let reason = self.reason.trim();
        let mut told: String = reason.chars().take(REASON_CHARS_MAX).collect();
        if told.len() < reason.len() {
            told.push('…');
        }
        let evidence = self.evidence.iter().map(String::as_str);
        let evidence = list_few(evidence, EVIDENCE_LISTED_MAX);
        format!(
            "its worker says that nothing is left to do ({judged}{red}) and waits for you to confirm it. Reason: {told} \
             Evidence: {evidence}"
        )
    }

    /// Returns the commands that answer, the usual one first.
    pub(super) fn answers(issue: &IssueId) -> Vec<String> {
        vec![
            format!("symphony issue show {issue}"),
            format!("symphony done approve {issue}"),
            format!("symphony done reject {issue} --feedback TEXT"),
            format!("symphony issue close {issue} --done --reason TEXT"),
        ]
    }
}

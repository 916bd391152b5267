//! The commands that answer what an issue waits for.

use super::WaitsFor;
use super::items::raise_cap;
use super::open_review::close_points;
use crate::gates::FIXES_GATE_LABEL;
use crate::id::IssueId;
use crate::issue::{Block, BlockedBy};
use crate::review_point::asked_point;
use crate::tick::Reason;

impl WaitsFor {
    /// Returns the commands that answer, the usual one first.
    pub fn answers(&self, issue: &IssueId) -> Vec<String> {
        match self {
            Self::Merge { .. } => vec![
                format!("symphony pr show {issue}"),
                format!("symphony pr merge {issue}"),
                format!("symphony pr reject {issue} --feedback TEXT"),
            ],
            Self::Done(waits) => waits.answers(issue),
            Self::MergeRed { .. } => vec![
                format!("symphony pr show {issue}"),
                format!("symphony pr check {issue}"),
                format!("symphony pr merge {issue} --force"),
                format!("symphony pr reject {issue} --feedback TEXT"),
            ],
            Self::Unmergeable { obstacle, .. } => obstacle.answers(issue.as_str()),
            Self::Verdict { judges, .. } => [
                format!("symphony pr show {issue}"),
                format!("symphony pr merge {issue}"),
                format!("symphony pr approve {issue}"),
                format!("symphony pr reject {issue} --feedback TEXT"),
            ]
            .into_iter()
            .chain(another_judge(*judges, issue))
            .collect(),
            Self::PersonsPoints { pr, points } => {
                let mut answers = Vec::from(close_points(issue.as_str(), points));
                answers.extend(pr.map(|_| format!("symphony pr reject {issue} --feedback TEXT")));
                answers
            }
            Self::PhaseVerdict { judges } => [
                format!("symphony issue show {issue}"),
                format!("symphony phase approve {issue}"),
                format!("symphony phase reject {issue} --feedback TEXT"),
            ]
            .into_iter()
            .chain(another_judge(*judges, issue))
            .collect(),
            Self::Acceptance => vec![
                format!("symphony issue move {issue} done"),
                format!("symphony issue show {issue}"),
            ],
            Self::Blocked(block) => blocked(block, issue, &[todo(issue)]),
            // in `todo` its pull request would be closed, and its approval lost
            Self::BlockedInReview(block) => {
                let review = format!("symphony issue move {issue} review");
                blocked(block, issue, &[review, todo(issue)])
            }
            Self::Spent { .. } | Self::Stopped { .. } => vec![
                format!("symphony issue show {issue}"),
                format!("symphony issue retry {issue}"),
                format!("symphony issue close {issue} --done --reason TEXT"),
            ],
            Self::CancelledDependencies(_) | Self::RemovedDependencies(_) => vec![
                format!("symphony issue edit {issue} --no-dependencies"),
                format!("symphony issue move {issue} cancelled"),
            ],
            Self::CancelledSubtasks => vec![
                format!("symphony issue move {issue} todo"),
                format!("symphony issue move {issue} cancelled"),
            ],
            Self::Untriaged => vec![
                format!("symphony issue show {issue}"),
                format!("symphony issue move {issue} todo"),
                format!("symphony issue edit {issue} --description TEXT"),
                format!("symphony issue move {issue} cancelled"),
            ],
            Self::Needed(issues) => {
                let mut answers = vec![format!("symphony issue move {issue} todo")];
                let first = issues.first();
                answers.extend(first.map(|first| format!("symphony explain {first}")));
                answers
            }
            Self::GatesNotRun { .. } => vec![
                format!("symphony explain {issue}"),
                "symphony doctor".to_owned(),
                format!("symphony pr check {issue}"),
            ],
            Self::NotPrepared { .. } => vec![
                "symphony doctor".to_owned(),
                format!("symphony explain {issue}"),
                format!("symphony issue retry {issue}"),
            ],
            Self::RescuedBranch { rescue } => vec![
                format!("git log -p {rescue}"),
                format!("symphony issue show {issue}"),
            ],
            Self::Publication { .. } => vec![
                format!("symphony pr publish {issue}"),
                format!("symphony pr show {issue}"),
            ],
            Self::Undispatched(reason) => {
                match reason {
                    Reason::PlanningOff => vec![
                        "symphony config set planner_enabled true".to_owned(),
                        format!("symphony issue edit {issue} --remove-label needs-planning"),
                    ],
                    Reason::ResearchOff => vec![
                        "symphony config set researcher_enabled true".to_owned(),
                        format!("symphony issue edit {issue} --add-label phase:ready"),
                    ],
                    Reason::NothingToRepair { gates } => {
                        let close = format!("symphony issue close {issue} --done --reason TEXT");
                        let clear = gates.iter().map(|gate| {
                        format!("symphony issue edit {issue} --remove-label '{FIXES_GATE_LABEL}{gate}'")
                    });
                        std::iter::once(close).chain(clear).collect()
                    }
                    Reason::UnknownPhase { phase } => vec![
                        "symphony phase list".to_owned(),
                        format!("symphony issue edit {issue} --remove-label phase:{phase}"),
                    ],
                    _ => vec![format!(
                        "symphony issue edit {issue} --add-label phase:ready"
                    )],
                }
            }
        }
    }
}

fn todo(issue: &IssueId) -> String {
    format!("symphony issue move {issue} todo")
}

/// Returns what answers a block, with the commands that let the issue go on.
fn blocked(block: &Block, issue: &IssueId, go_on: &[String]) -> Vec<String> {
    let first = match block.by {
        BlockedBy::Cap => Some(raise_cap(&block.reason)),
        BlockedBy::Agent | BlockedBy::Human => Some(format!("symphony issue comment {issue} TEXT")),
        BlockedBy::Tampered => Some(format!("symphony issue show {issue}")),
        BlockedBy::HostsLost => Some(format!("symphony runs list --issue {issue}")),
        BlockedBy::Subtasks => None,
        // The reply is enough for the issue to go on.
        BlockedBy::Question => {
            let point = asked_point(&block.reason).unwrap_or("NUMBER");
            return vec![
                format!("symphony point list {issue}"),
                format!("symphony point reply {issue} {point} TEXT"),
                format!("symphony issue retry {issue}"),
            ];
        }
        BlockedBy::TakenOver => {
            return vec![
                format!("symphony issue release {issue}"),
                format!("symphony runs open {issue}"),
            ];
        }
        BlockedBy::Gates => {
            return vec![
                format!("symphony pr show {issue}"),
                format!("symphony pr check {issue}"),
                format!("symphony issue retry {issue}"),
                format!("symphony pr merge {issue} --force"),
            ];
        }
    };
    first.into_iter().chain(go_on.iter().cloned()).collect()
}

/// Returns the command that lets another judge look, where some ended without a verdict.
fn another_judge(ended: u32, issue: &IssueId) -> Option<String> {
    (ended > 0).then(|| format!("symphony issue retry {issue}"))
}

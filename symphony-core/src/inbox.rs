//! What waits for a human: each thing in words, with the commands that answer it (spec: cli, `inbox`).
//!
//! The store and the schedule of a tick find what waits; this module only words it. An item's key stays the same while
//! it waits, so that it is reported once.

use self::item::NAMED_MAX;
use self::open_review::{judges_ended, persons_points};
use crate::Timestamp;
use crate::id::{IssueId, PrId, ProjectId};
use crate::issue::{AttemptCounts, Block, BlockedBy};
use crate::listing::list_few;
use crate::outside::{HeadFound, LostHead, MergeObstacle};
use crate::pull_request::PullRequestOf;
use crate::review_point::PointNumber;
use crate::tick::{Decision, Reason};
use crate::wording::counted;

mod answers;
mod done;
mod forge;
mod item;
mod items;
mod kind;
mod left_worktree;
mod lost_document;
mod open_review;
mod plan_review;
mod stopped_plan;
mod tracker;
mod waiting_plan;

pub use done::DoneWaits;
pub use forge::{ForgeTrouble, forge_item};
pub use item::InboxItem;
pub use items::{
    LeftBy, PAUSE_KEY, clean_up_item, gone_base_item, hold_item, left_behind_item, lone_probe_item,
    notice_item, pause_item, plan_item, project_item, proposals_item, put_off_item, stuck_run_item,
    stuck_tick_item,
};
pub use kind::InboxKind;
pub use left_worktree::{LeftWorktree, left_worktrees_item};
pub use lost_document::LostDocument;
pub use plan_review::{PlanWaitsFor, WaitingPlan};
pub use stopped_plan::StoppedPlan;
pub use tracker::{TrackerTrouble, tracker_item};
pub use waiting_plan::waiting_plan_item;

/// How many of the issues that wait for one in the backlog are read: more than an item names.
pub const NEEDED_BY_MAX: usize = 100;

/// Why an issue waits for a human.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WaitsFor {
    /// A judge or a human approved its pull request: it can be merged.
    Merge {
        /// The pull request.
        pr: PrId,
    },
    /// Its worker proposes that nothing is left to do, and a person confirms or rejects that.
    Done(DoneWaits),
    /// Its pull request is approved, and required gates of it are red.
    MergeRed {
        /// The pull request.
        pr: PrId,
    },
    /// Its pull request waits for a person, and no merge of it can succeed now.
    Unmergeable {
        /// The pull request.
        pr: PrId,
        /// What is in the way.
        obstacle: MergeObstacle,
    },
    /// Its pull request needs a human's verdict.
    Verdict {
        /// The pull request.
        pr: PrId,
        /// Judges that ended without a verdict; 0 if judges are off.
        judges: u32,
    },
    /// `must` points of people are open in its review, and nothing is approved before a person has closed them.
    PersonsPoints {
        /// The pull request that a person can also reject; `None` for a delivery, or a proposal that nothing is left to
        /// do.
        pr: Option<PrId>,
        /// Their numbers.
        points: Vec<PointNumber>,
    },
    /// The delivery of its phase needs a human's verdict.
    PhaseVerdict {
        /// Judges that ended without a verdict; 0 if judges are off.
        judges: u32,
    },
    /// It is in review with nothing open: its last phase was accepted.
    Acceptance,
    /// It is blocked.
    Blocked(Block),
    /// It is blocked, and its pull request or delivery is open: work and approval stay when it returns to its review.
    BlockedInReview(Block),
    /// It used up its attempts.
    Spent {
        /// How many there were.
        counts: AttemptCounts,
        /// How the last run failed, in words.
        last: Option<String>,
    },
    /// It was stopped earlier: its runs would continue the same way.
    Stopped {
        /// Their result, and what a person can change.
        reason: String,
    },
    /// Dependencies that are cancelled and so never done.
    CancelledDependencies(Vec<IssueId>),
    /// Dependencies of projects that were removed, so that no agent will do them.
    RemovedDependencies(Vec<IssueId>),
    /// All its sub-tasks were cancelled.
    CancelledSubtasks,
    /// Dispatch has no agent for it, for this reason.
    Undispatched(Reason),
    /// Intake has looked at it and changed nothing.
    Untriaged,
    /// It is in the backlog, and these wait for it; of more than [`NEEDED_BY_MAX`], the first ones and one more.
    Needed(Vec<IssueId>),
    /// The gates of its pull request could not be run, several times in a row.
    GatesNotRun {
        /// The pull request.
        pr: PrId,
        /// The number of tries.
        tries: u32,
        /// Why not, the last time.
        problem: String,
    },
    /// Its runs could not be prepared, several times in a row.
    NotPrepared {
        /// The number of tries.
        tries: u32,
        /// Why not, the last time.
        problem: String,
    },
    /// Its branch existed before its first run, and was saved.
    RescuedBranch {
        /// The rescue ref.
        rescue: String,
    },
    /// Its pull request was not published when that was last tried.
    Publication {
        /// The pull request.
        pr: PrId,
        /// The command's last output, or what is known of its end.
        problem: String,
    },
}

/// Describes why no judge gives the verdict.
fn why_no_judge(ended: u32) -> String {
    if ended == 0 {
        "judge_enabled is off".to_owned()
    } else {
        judges_ended(ended)
    }
}

impl WaitsFor {
    /// Returns whether a decision of dispatch may leave something to a human: only then is the rest worth looking up.
    /// What a run is working on waits for that run.
    pub fn is_possible(decision: &Decision) -> bool {
        let runs = |reason: &Reason| matches!(reason, Reason::Running { .. });
        decision.reasons.iter().any(Reason::is_for_person) && !decision.reasons.iter().any(runs)
    }

    /// Returns what a decision of dispatch leaves to a human, if anything.
    pub fn from_decision(
        decision: &Decision,
        open_pr: Option<PrId>,
        counts: AttemptCounts,
    ) -> Option<Self> {
        decision
            .reasons
            .iter()
            .find_map(|reason| match (reason, open_pr) {
                (Reason::Judged | Reason::DoneJudged { .. }, Some(pr)) => Some(Self::Merge { pr }),
                (Reason::JudgeOff, Some(pr)) => Some(Self::Verdict { pr, judges: 0 }),
                (Reason::JudgeOff, None) => Some(Self::PhaseVerdict { judges: 0 }),
                (Reason::Conflicts { base, files }, Some(pr)) => Some(Self::Unmergeable {
                    pr,
                    obstacle: MergeObstacle::Conflict {
                        base: base.clone(),
                        files: files.clone(),
                    },
                }),
                (Reason::HeadMoved { branch, now, back }, Some(pr)) => Some(Self::Unmergeable {
                    pr,
                    obstacle: MergeObstacle::Head(LostHead {
                        pr,
                        of: PullRequestOf::from(decision.issue.clone()),
                        found: HeadFound::Moved {
                            branch: branch.clone(),
                            now: now.clone(),
                            back: back.clone(),
                        },
                    }),
                }),
                (Reason::PersonsPoints { points }, pr) => Some(Self::PersonsPoints {
                    pr,
                    points: points.clone(),
                }),
                (Reason::JudgesSpent { runs }, Some(pr)) => {
                    Some(Self::Verdict { pr, judges: *runs })
                }
                (Reason::JudgesSpent { runs }, None) => Some(Self::PhaseVerdict { judges: *runs }),
                (Reason::SubtasksCancelled, _) => Some(Self::CancelledSubtasks),
                (Reason::AttemptsSpent { .. }, None) => Some(Self::Spent { counts, last: None }),
                (
                    Reason::PlanningOff
                    | Reason::ResearchOff
                    | Reason::NoPhase
                    | Reason::NothingToRepair { .. }
                    | Reason::UnknownPhase { .. },
                    _,
                ) => Some(Self::Undispatched(reason.clone())),
                _ => None,
            })
    }

    /// Returns, for an open review that a person ends, why no judge decides on it (the inner `None` if one has); `None`
    /// for other reasons.
    pub fn without_judge(&self) -> Option<Option<String>> {
        match self {
            Self::Merge { .. } | Self::MergeRed { .. } => Some(None),
            Self::Verdict { judges, .. } => Some(Some(why_no_judge(*judges))),
            _ => None,
        }
    }

    /// Returns the kind.
    pub const fn kind(&self) -> InboxKind {
        match self {
            Self::Merge { .. }
            | Self::Done(_)
            | Self::MergeRed { .. }
            | Self::Unmergeable { .. }
            | Self::Verdict { .. }
            | Self::PersonsPoints { .. }
            | Self::PhaseVerdict { .. }
            | Self::Acceptance => InboxKind::Review,
            Self::Blocked(_) | Self::BlockedInReview(_) => InboxKind::Blocked,
            Self::Spent { .. } | Self::Stopped { .. } => InboxKind::Breaker,
            Self::CancelledDependencies(_) | Self::RemovedDependencies(_) => InboxKind::Dependency,
            Self::CancelledSubtasks => InboxKind::Subtasks,
            Self::Undispatched(_) => InboxKind::Undispatched,
            Self::Untriaged => InboxKind::Intake,
            Self::Needed(_) => InboxKind::Needed,
            Self::GatesNotRun { .. } => InboxKind::Gates,
            Self::NotPrepared { .. } => InboxKind::Preparation,
            Self::RescuedBranch { .. } => InboxKind::Rescue,
            Self::Publication { .. } => InboxKind::Publication,
        }
    }

    /// Describes what waits.
    pub fn text(&self) -> String {
        match self {
            Self::Merge { pr } => {
                format!("pull request {pr} is approved and waits for you to merge it")
            }
            Self::Done(done) => done.text(),
            Self::MergeRed { pr } => format!(
                "pull request {pr} is approved, but its required gates are red: only `--force` merges it"
            ),
            Self::Unmergeable { pr, obstacle } => {
                format!("pull request {pr} cannot be merged: {}", obstacle.text())
            }
            Self::Verdict { pr, judges } => format!(
                "pull request {pr} waits for your verdict ({})",
                why_no_judge(*judges)
            ),
            Self::PersonsPoints { points, .. } => {
                format!("its review waits for you: {}", persons_points(points))
            }
            Self::PhaseVerdict { judges } => format!(
                "the work of its phase waits for your verdict ({})",
                why_no_judge(*judges)
            ),
            Self::Acceptance => "its review waits for you".to_owned(),
            Self::BlockedInReview(block) if block.by == BlockedBy::Human => {
                format!(
                    "its review is stopped, and an agent asks you: {}",
                    block.reason
                )
            }
            Self::Blocked(block) if block.by == BlockedBy::TakenOver => block.reason.clone(),
            Self::Blocked(block) | Self::BlockedInReview(block) => {
                format!("it is blocked ({}): {}", block.by, block.reason)
            }
            Self::Stopped { reason } => format!("its circuit breaker is open: {reason}"),
            Self::Spent { counts, last } => {
                let last = last
                    .as_ref()
                    .map(|last| format!("; the last one failed ({last})"));
                format!(
                    "its circuit breaker is open: {} in a row, {} without progress{}",
                    counted(counts.consecutive_failures.into(), "failure"),
                    counted(counts.total_runs.into(), "run"),
                    last.unwrap_or_default()
                )
            }
            Self::CancelledDependencies(issues) => {
                let names: Vec<&str> = issues.iter().map(IssueId::as_str).collect();
                format!("it waits for {}, which is cancelled", names.join(", "))
            }
            Self::RemovedDependencies(issues) => {
                let names = list_few(issues.iter().map(IssueId::as_str), NAMED_MAX);
                let its = if issues.len() == 1 { "its" } else { "their" };
                format!(
                    "it waits for {names}, which left this installation with {its} project (run `symphony init` in \
                     the project's folder to bring it back)"
                )
            }
            Self::CancelledSubtasks => "all its sub-tasks were cancelled".to_owned(),
            Self::Undispatched(reason) => reason.to_string(),
            Self::Untriaged => "intake triaged it and changed nothing".to_owned(),
            Self::Needed(issues) => {
                let names = issues.iter().map(IssueId::as_str);
                let names = if issues.len() > NEEDED_BY_MAX {
                    let named: Vec<&str> = names.take(NAMED_MAX).collect();
                    let more = NEEDED_BY_MAX - NAMED_MAX;
                    format!("{} and more than {more} others", named.join(", "))
                } else {
                    list_few(names, NAMED_MAX)
                };
                let wait = if issues.len() == 1 { "waits" } else { "wait" };
                format!("it is in the backlog, and {names} {wait} for it")
            }
            Self::GatesNotRun { pr, tries, problem } => {
                format!(
                    "the gates of pull request {pr} could not be run {tries} times in a row: {problem}"
                )
            }
            Self::NotPrepared { tries, problem } => format!(
                "its runs could not be prepared {tries} times in a row; this used no attempt and is tried again: \
                 {problem}"
            ),
            Self::RescuedBranch { rescue } => format!(
                "a branch of its name existed before its first run and is saved as {rescue}; no run works on it"
            ),
            Self::Publication { pr, problem } => {
                format!("pull request {pr} was not published: {problem}")
            }
        }
    }
}

/// An issue that waits for a human.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingIssue {
    /// The issue.
    pub issue: IssueId,
    /// Its project.
    pub project: ProjectId,
    /// Its title.
    pub title: String,
    /// Since when.
    pub since: Timestamp,
    /// What it waits for.
    pub why: WaitsFor,
}

impl From<WaitingIssue> for InboxItem {
    fn from(waiting: WaitingIssue) -> Self {
        let WaitingIssue {
            issue,
            project,
            title,
            since,
            why,
        } = waiting;
        let kind = why.kind();
        Self {
            key: format!("{kind}:{issue}:{}", since.as_millisecond()),
            kind,
            until: None,
            text: why.text(),
            answers: why.answers(&issue),
            project: Some(project),
            issue: Some(issue),
            title,
            since,
        }
    }
}

/// Sorts items, oldest first, and removes duplicates.
pub fn in_order(mut items: Vec<InboxItem>) -> Vec<InboxItem> {
    items.sort_by(|a, b| (a.since, &a.key).cmp(&(b.since, &b.key)));
    items.dedup_by(|a, b| a.key == b.key);
    items
}

#[cfg(test)]
mod tests;

//! Plans that have ended with work that was not merged.

use super::InboxKind;
use super::item::InboxItem;
use crate::Timestamp;
use crate::id::{PlanId, ProjectId};
use crate::plan::state::PlanStatus;

/// A plan that has ended with work that the user's branch does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoppedPlan {
    /// The plan.
    pub plan: PlanId,
    /// Its project.
    pub project: ProjectId,
    /// Its file.
    pub path: String,
    /// How it ended.
    pub status: PlanStatus,
    /// The phases that are complete.
    pub complete: u64,
    /// All of its phases.
    pub total: u64,
    /// The user's branch.
    pub target_branch: String,
    /// Whether the inbox already has a notice that its branch lost the work.
    pub is_base_lost: bool,
    /// The active plan of the same file: until that one has ended, this one cannot go on.
    pub successor: Option<PlanId>,
    /// When it ended.
    pub since: Timestamp,
}

impl From<StoppedPlan> for InboxItem {
    fn from(stopped: StoppedPlan) -> Self {
        let StoppedPlan {
            plan,
            project,
            path,
            status,
            complete,
            total,
            target_branch,
            is_base_lost: _,
            successor,
            since,
        } = stopped;
        let base = format!("symphony/plan-{plan}/base");
        let run = format!("symphony plan run --plan {plan}");
        let show = format!("symphony plan status --plan {plan}");
        let merge = format!("git merge {base}");
        let (text, answers) = if status == PlanStatus::Completed {
            let text = format!(
                "plan {plan} ({path}) has completed, but {target_branch} does not have its work"
            );
            (text, vec![run, merge, show])
        } else {
            let mut text = format!(
                "plan {plan} ({path}) has ended as {status} with {complete} of {total} phases complete: their work is on {base}, \
                 not on {target_branch}"
            );
            let drop = format!("git branch -D {base}");
            let mut answers = vec![merge, drop, show];
            match successor {
                Some(other) => {
                    text = format!(
                        "{text}. Plan {other} of the same file is under way; this one can continue when that has ended"
                    );
                }
                None => answers.insert(0, format!("{run} --retry-failed")),
            }
            (text, answers)
        };
        Self {
            project: Some(project),
            text,
            answers,
            ..InboxItem::new(
                InboxKind::Plan,
                since,
                format!("plan:{plan}:{status}:{}", since.as_millisecond()),
            )
        }
    }
}

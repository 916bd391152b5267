//! One action of a tick, as it is shown.

use serde::Serialize;
use symphony_core::agent::AgentType;
use symphony_core::id::{IssueId, PhaseName, PlanId, PrId, ProjectId, RunId};
use symphony_core::run::RunTarget;
use symphony_core::tick::{Action, LiveRun, StartRun};
use symphony_core::wording::with_article;

/// One action; fields that do not apply are null.
#[derive(Debug, Clone, Serialize)]
pub struct ActionView {
    /// What is done, as a word that programs match.
    pub action: &'static str,
    /// The project it is about.
    pub project: Option<ProjectId>,
    /// The issue it is about.
    pub issue: Option<IssueId>,
    /// The plan it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanId>,
    /// The pull request it is about.
    pub pull_request: Option<PrId>,
    /// The run that is started or ended.
    pub run: Option<RunId>,
    /// The kind of agent.
    pub profile: Option<AgentType>,
    /// The phase that the agent works in.
    pub phase: Option<PhaseName>,
    /// Which attempt it is, from 1.
    pub attempt: Option<u32>,
    /// The provider that starts the agent.
    pub provider: Option<String>,
}

/// The end of a run whose host is lost.
const END_LOST: &str = "end_lost";
/// The end of a run that no worker has begun.
const WITHDRAW: &str = "withdraw";

impl From<&Action> for ActionView {
    fn from(action: &Action) -> Self {
        let none = |action| Self {
            action,
            project: None,
            issue: None,
            plan: None,
            pull_request: None,
            run: None,
            profile: None,
            phase: None,
            attempt: None,
            provider: None,
        };
        match action {
            Action::FinishCrashed { run, issue } => Self {
                run: Some(run.clone()),
                issue: issue.clone(),
                ..none("finish_crashed")
            },
            Action::Suspect { run, issue, .. } => Self {
                run: Some(run.clone()),
                issue: issue.clone(),
                ..none("suspect")
            },
            Action::EndStuck { run, issue, .. } => Self {
                run: Some(run.clone()),
                issue: issue.clone(),
                ..none("end_stuck")
            },
            Action::EndLost { run, issue, .. } => Self {
                run: Some(run.clone()),
                issue: issue.clone(),
                ..none(END_LOST)
            },
            Action::Withdraw { run, issue, .. } => Self {
                run: Some(run.clone()),
                issue: issue.clone(),
                ..none(WITHDRAW)
            },
            Action::AdvancePhase { issue } => Self {
                issue: Some(issue.clone()),
                ..none("advance_phase")
            },
            Action::Unblock { issue } => Self {
                issue: Some(issue.clone()),
                ..none("unblock")
            },
            Action::OpenBreaker { issue } => Self {
                issue: Some(issue.clone()),
                ..none("open_breaker")
            },
            Action::RecordMerge(merge) => Self {
                project: Some(merge.project.clone()),
                issue: merge.of.issue().cloned(),
                plan: merge.of.plan().cloned(),
                pull_request: Some(merge.pr),
                ..none("record_merge")
            },
            Action::ConfirmDone {
                issue, project, pr, ..
            } => Self {
                project: Some(project.clone()),
                issue: Some(issue.clone()),
                pull_request: Some(*pr),
                ..none("confirm_done")
            },
            Action::RefreshProposal(stale) => Self {
                project: Some(stale.project.clone()),
                issue: Some(stale.issue.clone()),
                pull_request: Some(stale.pr),
                ..none("refresh_proposal")
            },
            Action::ReturnProposal(moved) => Self {
                project: Some(moved.project.clone()),
                issue: Some(moved.issue.clone()),
                pull_request: Some(moved.pr),
                ..none("return_proposal")
            },
            Action::NoteBase(notice) => Self {
                project: Some(notice.project.clone()),
                issue: notice.issue().cloned(),
                plan: notice.plan().cloned(),
                pull_request: notice.pr,
                ..none("note_base")
            },
            Action::RememberBase(look) => Self {
                project: Some(look.project.clone()),
                ..none("remember_base")
            },
            Action::TidyRun { run, project, .. } => Self {
                run: Some(run.clone()),
                project: Some(project.clone()),
                ..none("tidy_run")
            },
            Action::CleanUp { issue, project } => Self {
                issue: Some(issue.clone()),
                project: Some(project.clone()),
                ..none("clean_up")
            },
            Action::StartRun(start) => Self {
                project: Some(start.project.clone()),
                issue: start.target.issue().cloned(),
                plan: start.target.plan().cloned(),
                pull_request: pull_request(start),
                profile: Some(start.agent.clone()),
                phase: start.phase.clone(),
                attempt: Some(start.attempt),
                provider: Some(start.provider.clone()),
                ..none("start_run")
            },
        }
    }
}

const fn pull_request(start: &StartRun) -> Option<PrId> {
    match start.target {
        RunTarget::PullRequest(_, pr) => Some(pr),
        _ => None,
    }
}

impl ActionView {
    /// Adds what a live run is about, where it is about no issue: the action itself names the run alone.
    pub(crate) fn about_run(mut self, live: &[LiveRun]) -> Self {
        let of_run = |live: &&LiveRun| self.run.as_ref() == Some(&live.run);
        if self.issue.is_none()
            && let Some(live) = live.iter().find(of_run)
        {
            self.project = Some(live.project.clone());
            self.plan.clone_from(&live.plan);
        }
        self
    }

    /// Says whether it starts gates.
    pub fn runs_gates(&self) -> bool {
        self.profile == Some(AgentType::Gates)
    }

    /// Returns the action in words.
    pub fn text(&self) -> String {
        let issue = self.issue.as_ref().map(ToString::to_string);
        let plan = self.plan.as_ref().map(|plan| format!("plan {plan}"));
        let subject = issue
            .or(plan)
            .or_else(|| self.project.as_ref().map(ToString::to_string))
            .unwrap_or_default();
        match (&self.profile, &self.run) {
            (Some(AgentType::Gates), _) => format!("{subject}: run its gates"),
            (Some(profile), _) => {
                let attempt = self.attempt.unwrap_or(1);
                let provider = self.provider.as_deref().unwrap_or_default();
                // an issue's runs are counted, whoever works in them
                let number = if attempt > 1 {
                    format!(" (run {attempt})")
                } else {
                    String::new()
                };
                format!(
                    "{subject}: start {} with {provider}{number}",
                    with_article(profile.name())
                )
            }
            (None, Some(run)) if self.action == "tidy_run" => {
                format!("{subject}: clean up after run {run}")
            }
            (None, Some(run)) if self.action == "suspect" => {
                format!("{subject}: watch run {run}, whose supervisor is past a time limit")
            }
            (None, Some(run)) if self.action == "end_stuck" => {
                format!("{subject}: end the supervisor of run {run}, which is making no progress")
            }
            (None, Some(run)) if self.action == END_LOST => {
                format!("{subject}: end run {run}, whose host did not come back")
            }
            (None, Some(run)) if self.action == WITHDRAW => {
                format!("{subject}: take run {run} out of its pool, and end it")
            }
            (None, Some(run)) => {
                format!("{subject}: do the exit handling of the crashed run {run}")
            }
            (None, None) => format!("{subject}: {}", self.without_run()),
        }
    }

    /// Returns what is done where no run is concerned.
    fn without_run(&self) -> &'static str {
        match self.action {
            "record_merge" => "record that it was merged outside Symphony",
            "confirm_done" => "confirm that nothing is left to do",
            "return_proposal" => "have a worker check again that nothing is left to do",
            "refresh_proposal" => "have its proposal judged again before it is confirmed",
            "note_base" => "report its commits on the base branch in the inbox",
            "clean_up" => "remove its worktree",
            "unblock" => "continue, because its sub-tasks have ended",
            "advance_phase" => "continue with its next phase",
            _ => "open the circuit breaker",
        }
    }
}

#[cfg(test)]
mod tests {
    use symphony_core::Timestamp;
    use symphony_core::placement::Whereabouts;
    use symphony_core::tick::LockState;

    use super::*;

    #[test]
    fn an_action_on_a_run_without_an_issue_names_its_plan_or_its_project() {
        let run = RunId::parse("0198c0de-0000-7000-8000-000000000000").unwrap();
        let live = |plan: Option<&str>| LiveRun {
            run: run.clone(),
            project: ProjectId::parse("api").unwrap(),
            issue: None,
            plan: plan.map(|plan| PlanId::parse(plan).unwrap()),
            agent: AgentType::Scanner,
            provider: "scripted".to_owned(),
            started_at: Timestamp::UNIX_EPOCH,
            lock: LockState::Free,
            interactive: false,
            whereabouts: Whereabouts::Here,
            cancelled: false,
            put_off: None,
        };
        let action = Action::FinishCrashed {
            run: run.clone(),
            issue: None,
        };
        for (plan, expected) in [(None, "api"), (Some("ship"), "plan ship")] {
            let view = ActionView::from(&action).about_run(&[live(plan)]);
            assert_eq!(
                view.text(),
                format!("{expected}: do the exit handling of the crashed run {run}")
            );
        }
    }
}

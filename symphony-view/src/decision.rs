//! What is not started, and why.

use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::id::{IssueId, PlanId, ProjectId};
use symphony_core::tick::{Decision, PlanReviewDecision, ProjectDecision, Reason};

use crate::text::Clock;

/// Why work on an issue is not started, or why an agent of a project is not.
#[derive(Debug, Clone, Serialize)]
pub struct DecisionView {
    /// The issue that is not started.
    pub issue: Option<IssueId>,
    /// The plan whose pull request waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanId>,
    /// The project, where there is no issue.
    pub project: Option<ProjectId>,
    /// The agent, where there is no issue.
    pub profile: Option<AgentType>,
    /// The reasons; the first one decides.
    pub reasons: Vec<ReasonView>,
}

/// A reason, as data and in words; the words contain no time.
#[derive(Debug, Clone, Serialize)]
pub struct ReasonView {
    /// Why, for programs.
    #[serde(flatten)]
    pub reason: Reason,
    /// Why, in words, with the command that helps.
    pub text: String,
}

impl ReasonView {
    /// Returns the reason and when it ends by itself, without what `symphony inbox` says about it in full.
    fn brief(&self, clock: &Clock) -> String {
        let brief = self.reason.brief();
        // the text may have been rewritten for where the command is typed
        let is_shorter = brief != self.reason.to_string();
        let said = if is_shorter { &brief } else { &self.text };
        let due = self.due(clock).map(|due| format!("; {due}"));
        format!("{said}{}", due.unwrap_or_default())
    }

    /// Returns the reason and when it ends by itself.
    pub fn shown(&self, clock: &Clock) -> String {
        let due = self.due(clock).map(|due| format!("; {due}"));
        format!("{}{}", self.text, due.unwrap_or_default())
    }

    /// Says when the reason ends by itself. What has its time may start at any moment: a probe under way says so itself.
    pub fn due(&self, clock: &Clock) -> Option<String> {
        let due = self.reason.due().filter(|due| due.at > clock.now());
        due.map(|due| format!("{} {}", due.then, clock.until(due.at)))
    }
}

impl From<&Reason> for ReasonView {
    fn from(reason: &Reason) -> Self {
        Self {
            text: reason.to_string(),
            reason: reason.clone(),
        }
    }
}

impl From<&Decision> for DecisionView {
    fn from(decision: &Decision) -> Self {
        Self {
            issue: Some(decision.issue.clone()),
            plan: None,
            project: None,
            profile: None,
            reasons: decision.reasons.iter().map(ReasonView::from).collect(),
        }
    }
}

impl From<&ProjectDecision> for DecisionView {
    fn from(decision: &ProjectDecision) -> Self {
        Self {
            issue: None,
            plan: None,
            project: Some(decision.project.clone()),
            profile: Some(decision.agent.clone()),
            reasons: decision.reasons.iter().map(ReasonView::from).collect(),
        }
    }
}

impl From<&PlanReviewDecision> for DecisionView {
    fn from(decision: &PlanReviewDecision) -> Self {
        Self {
            issue: None,
            plan: Some(decision.plan.clone()),
            project: None,
            profile: Some(AgentType::Judge),
            reasons: decision.reasons.iter().map(ReasonView::from).collect(),
        }
    }
}

impl DecisionView {
    /// Says whether nothing but a moment's time keeps it from being started.
    pub fn waits_shortly(&self) -> bool {
        let soon = |reason: &Reason| {
            matches!(
                reason,
                Reason::CoolingDown { .. } | Reason::BackingOff { .. }
            )
        };
        self.reasons.iter().all(|reason| soon(&reason.reason))
    }

    /// Returns when it is started, where nothing but time keeps it from that.
    pub fn due(&self) -> Option<Timestamp> {
        let due = self.reasons.iter().filter_map(|reason| reason.reason.due());
        due.map(|due| due.at).max().filter(|_| self.waits_shortly())
    }

    /// Returns when everything that keeps it from being started has ended by itself; none where something does not, or where
    /// it is an agent that works now and then.
    pub fn due_by_itself(&self) -> Option<Timestamp> {
        let ends = |reason: &ReasonView| match reason.reason {
            Reason::RanRecently { .. } => None,
            _ => reason.reason.due().map(|due| due.at),
        };
        let all: Option<Vec<Timestamp>> = self.reasons.iter().map(ends).collect();
        all?.into_iter().max()
    }

    /// Says whether a run is live on it.
    pub fn is_at_work(&self) -> bool {
        let is_run = |reason: &ReasonView| matches!(reason.reason, Reason::Running { .. });
        self.reasons.iter().any(is_run)
    }

    /// Returns what is not started, and why, in one line.
    pub fn line(&self, clock: &Clock) -> String {
        format!("{} waits: {}", self.subject(), self.text(clock))
    }

    /// Returns what is not started.
    pub fn subject(&self) -> String {
        let text = |name: Option<String>| name.unwrap_or_default();
        match (&self.issue, &self.plan) {
            (Some(issue), _) => issue.to_string(),
            (None, Some(plan)) => format!("plan {plan}"),
            (None, None) => format!(
                "{} of {}",
                text(self.profile.as_ref().map(ToString::to_string)),
                text(self.project.as_ref().map(ToString::to_string))
            ),
        }
    }

    /// Returns the reasons in one line.
    pub(super) fn text(&self, clock: &Clock) -> String {
        let texts: Vec<String> = self
            .reasons
            .iter()
            .map(|reason| reason.brief(clock))
            .collect();
        texts.join("; ")
    }
}

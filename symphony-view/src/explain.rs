//! Why an issue is not running, or what runs it.

use serde::Serialize;
use symphony_core::agent::AgentType;
use symphony_core::id::{IssueId, PlanId, RunId};
use symphony_core::inbox::InboxKind;
use symphony_core::issue::IssueStatus;
use symphony_core::placement::Whereabouts;
use symphony_core::plan::state::PlanStatus;
use symphony_core::profile::{ModelName, ModelSource, ProviderSource};
use symphony_core::standing::{Dependency, Standing};
use symphony_core::tick::Reason;
use symphony_core::wording::capitalised;

use super::action::ActionView;
use super::decision::ReasonView;
use super::last_failure::FailureView;
use super::run::{RunView, with_place};
use crate::text::{Clock, Page, View, ago};

/// What an issue waits for.
#[derive(Debug, Clone, Serialize)]
pub struct ExplainView {
    /// The issue, such as `SYM-12`.
    pub identifier: IssueId,
    /// Its title.
    pub title: String,
    /// Its status.
    pub status: IssueStatus,
    /// The live run on it.
    pub running: Option<RunView>,
    /// Where that run is; absent where it is on the host of the tick.
    #[serde(skip_serializing_if = "Whereabouts::is_here")]
    pub whereabouts: Whereabouts,
    /// Why it is not stuck; none when it has ended.
    pub standing: Option<Standing>,
    /// What an agent that works on it would run with; none when it has ended.
    pub author: Option<AuthorView>,
    /// What the next tick does with it.
    pub next: Option<ActionView>,
    /// How its newest run failed; none when that did not fail.
    pub last_failure: Option<FailureView>,
    /// Every reason why it is not started.
    pub reasons: Vec<WaitView>,
}

/// What an agent that works on an issue would run with, and where each was set.
#[derive(Debug, Clone, Serialize)]
pub struct AuthorView {
    /// The kind of agent.
    pub profile: AgentType,
    /// The provider; none when there is no usable one.
    pub provider: Option<String>,
    /// Where the provider is set.
    pub provider_source: Option<ProviderSource>,
    /// The model; none for the provider's default.
    pub model: Option<ModelName>,
    /// Where the model is set.
    pub model_source: Option<ModelSource>,
}

impl AuthorView {
    fn text(&self) -> Option<String> {
        let provider = self.provider.as_deref()?;
        let provider = with_place(provider, self.provider_source.map(ProviderSource::words));
        let model = self.model.as_ref().map(|model| {
            let place = self.model_source.map(ModelSource::words);
            format!(" with the model {}", with_place(model.as_str(), place))
        });
        Some(format!("{provider}{}", model.unwrap_or_default()))
    }
}

/// What a plan waits for.
#[derive(Debug, Clone, Serialize)]
pub struct ExplainPlanView {
    /// The plan.
    pub plan: PlanId,
    /// The plan file, relative to the root of the repository.
    pub path: String,
    /// Its status.
    pub status: PlanStatus,
    /// The live runs on its phases or on its pull request.
    pub running: Vec<RunView>,
    /// Why it is not stuck; none when it has ended.
    pub standing: Option<Standing>,
    /// What the next tick does with it.
    pub next: Option<ActionView>,
    /// Everything that it waits for.
    pub reasons: Vec<WaitView>,
    /// What a person can do after the plan has ended.
    #[serde(skip)]
    pub advice: Option<String>,
}

/// One reason.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum WaitView {
    /// A reason of dispatch.
    Dispatch(ReasonView),
    /// A person has to do something, or nothing is left to do.
    Person {
        /// A word for programs.
        reason: &'static str,
        /// What, in words.
        text: String,
    },
}

/// The reason of an issue that is done or cancelled.
pub const ENDED: &str = "ended";

impl WaitView {
    /// Says whether it waits only for its gates to run.
    fn is_gates_pending(&self) -> bool {
        matches!(self, Self::Dispatch(reason) if reason.reason == Reason::GatesPending)
    }

    /// Says whether it keeps nothing from running: a person should look at it anyway.
    fn is_beside(&self) -> bool {
        const BESIDE: [InboxKind; 7] = [
            InboxKind::Document,
            InboxKind::LeftBehind,
            InboxKind::Rescue,
            InboxKind::Publication,
            InboxKind::Base,
            InboxKind::Settings,
            InboxKind::Preparation,
        ];
        match self {
            Self::Dispatch(_) => false,
            Self::Person { reason, .. } => BESIDE.iter().any(|kind| kind.name() == *reason),
        }
    }

    fn text(&self, clock: &Clock) -> String {
        match self {
            Self::Dispatch(reason) => reason.shown(clock),
            Self::Person { text, .. } => text.clone(),
        }
    }
}

impl ExplainView {
    /// Says whether the exit handling of a run was put off.
    fn is_put_off(&self, id: &RunId) -> bool {
        self.reasons.iter().any(|reason| {
            matches!(reason, WaitView::Dispatch(reason)
                if matches!(&reason.reason, Reason::ExitPutOff { run, .. } if run == id))
        })
    }
}

impl View for ExplainView {
    fn write(&self, page: &mut Page) {
        page.heading(&format!("{} {}", self.identifier, self.title));
        page.field("status", self.status.name());
        if let Some((author, text)) = self.author.as_ref().and_then(|a| Some((a, a.text()?))) {
            page.field(author.profile.name(), &text);
        }
        if let Some(run) = &self.running {
            let since = ago(run.started_at, page.now());
            let who = match &run.profile {
                agent if self.is_put_off(&run.id) => {
                    format!("The {agent} has ended, but its work is not saved yet")
                }
                AgentType::Gates => "Its gates are running".to_owned(),
                agent if run.is_interactive() => {
                    format!("A person has taken the issue over and is working with the {agent}")
                }
                agent if self.whereabouts.queued_in().is_some() => {
                    format!("The {agent} has not started yet")
                }
                agent => format!("The {agent} is working on it"),
            };
            let place = self.whereabouts.words();
            let place = place.map_or_else(String::new, |words| format!(", {words}"));
            page.line(&format!("{who}: run {}, started {since}{place}.", run.id));
        }
        if let Some(next) = &self.next {
            page.line(&format!("The next tick will do this: {}.", next.text()));
        }
        if let Some(failure) = &self.last_failure {
            page.line(&failure.text(page.now()));
        }
        // already shown above
        let gates_are_next = self.next.as_ref().is_some_and(ActionView::runs_gates);
        let run = self.running.as_ref();
        let gates_run = run.is_some_and(|run| run.profile == AgentType::Gates);
        let failure = self.last_failure.as_ref();
        // the hold is the reason why they do not run again
        let failed_on_base = failure.is_some_and(FailureView::is_of_base) && self.reasons.len() > 1;
        let is_said = gates_are_next || gates_run || failed_on_base;
        let (shown, notices): (Vec<&WaitView>, Vec<&WaitView>) = shown(&self.reasons)
            .filter(|reason| !(is_said && reason.is_gates_pending()))
            .partition(|reason| !reason.is_beside());
        self.write_reasons(&shown, page);
        if !notices.is_empty() {
            page.line("It is also waiting for you:");
        }
        for notice in notices {
            page.hanging(2, &format!("- {}", notice.text(page.clock())));
        }
    }
}

impl ExplainView {
    /// Writes what keeps it from running.
    fn write_reasons(&self, shown: &[&WaitView], page: &mut Page) {
        match shown {
            [] => return,
            // nothing is waited for
            [WaitView::Person { reason, text }] if *reason == ENDED => {
                page.hanging(2, &format!("{}.", capitalised(text)));
                return;
            }
            _ => {}
        }
        page.line(if self.running.is_some() {
            "Nothing else starts because:"
        } else {
            "It is not running because:"
        });
        for reason in shown {
            page.hanging(2, &format!("- {}", reason.text(page.clock())));
        }
    }
}

/// Leaves out what dispatch says of a review when the inbox says it better, with the commands that answer.
fn shown(reasons: &[WaitView]) -> impl Iterator<Item = &WaitView> {
    let is_in_inbox = |reason: &WaitView| matches!(reason, WaitView::Person { reason, .. } if *reason == InboxKind::Review.name() || *reason == InboxKind::Gates.name());
    let is_told = reasons.iter().any(is_in_inbox);
    reasons.iter().filter(move |reason| {
        let WaitView::Dispatch(dispatch) = reason else {
            return true;
        };
        let is_of_review = matches!(
            dispatch.reason,
            Reason::Judged
                | Reason::DoneJudged { .. }
                | Reason::JudgeOff
                | Reason::JudgesSpent { .. }
                | Reason::GatesRed
                | Reason::Conflicts { .. }
                | Reason::HeadMoved { .. }
                | Reason::PersonsPoints { .. }
        );
        !(is_told && is_of_review)
    })
}

impl View for ExplainPlanView {
    fn write(&self, page: &mut Page) {
        page.heading(&format!("Plan {} ({})", self.plan, self.path));
        page.field("status", self.status.words());
        for run in &self.running {
            let since = ago(run.started_at, page.now());
            let what = match (&run.plan_phase, &run.profile) {
                (Some(phase), _) => format!("An agent is working on phase {phase}"),
                (None, AgentType::Gates) => "The gates of its pull request are running".to_owned(),
                (None, agent) => format!("The {agent} is working on its pull request"),
            };
            page.line(&format!("{what}: run {}, started {since}.", run.id));
        }
        let standing = match &self.standing {
            // the action, the runs or the reasons already show it
            Some(Standing::Runnable) if self.next.is_some() => None,
            Some(Standing::WaitsForPerson { .. }) if !self.reasons.is_empty() => None,
            Some(Standing::Live { .. } | Standing::Stranded { .. }) | None => None,
            Some(Standing::Due { at }) => Some(format!(
                "A tick will continue it {}.",
                page.clock().until(*at)
            )),
            Some(Standing::WaitsFor { dependencies })
                if *dependencies == [Dependency::PlanDriver] =>
            {
                Some(format!(
                    "`symphony plan run {}` is running and continues it.",
                    self.path
                ))
            }
            Some(other) => Some(format!("It is waiting, not stuck: {other}.")),
        };
        let next = self.next.as_ref();
        let next = next.map(|next| format!("The next tick will do this: {}.", next.text()));
        for line in [next, standing, self.advice.clone()].into_iter().flatten() {
            page.line(&line);
        }
        if self.reasons.is_empty() {
            return;
        }
        page.line("It is waiting because:");
        for reason in shown(&self.reasons) {
            page.hanging(2, &format!("- {}", reason.text(page.clock())));
        }
    }
}

//! The view of each thing: its JSON form and its text come from the same value (spec: cli, "JSON").

mod action;
mod checklist;
mod decision;
mod delivery;
mod event;
mod explain;
mod hold;
mod inbox;
mod issue;
mod issue_detail;
mod last_failure;
mod learning;
mod lint;
mod live_trial;
mod measured_learning;
mod news;
mod notes;
mod open_pr;
mod plan;
mod plan_result;
mod plan_review;
mod point;
mod project;
mod prompt;
mod pull_request;
mod run;
mod status;
mod step_event;
mod submodules;
mod tick;
mod today;

pub(crate) use action::ActionView;
pub(crate) use checklist::CriteriaChanged;
pub(crate) use decision::{DecisionView, ReasonView};
pub(crate) use delivery::DeliveryView;
pub(crate) use event::EventView;
pub(crate) use explain::{ENDED, ExplainPlanView, ExplainView, WaitView};
pub(crate) use hold::HoldView;
pub(crate) use inbox::InboxView;
pub(crate) use issue::IssueView;
pub(crate) use issue_detail::IssueDetail;
pub(crate) use last_failure::FailureView;
pub(crate) use learning::{
    ExplainedLearning, FoundLearning, ImportView, LearningFate, LearningUseView, LearningView,
    ScoredLearning,
};
pub(crate) use lint::{FindingView, counted, errors};
pub(crate) use live_trial::{LiveTrialLine, percent};
pub(crate) use measured_learning::MeasuredLearning;
pub(crate) use news::PrNewsView;
pub(crate) use notes::CommentView;
pub(crate) use open_pr::{GatesNow, OpenPrView};
pub(crate) use plan::{OpenPlanView, PlanListed, PlanView, failure_text};
pub(crate) use plan_result::{PlanPreview, PlanResult};
pub(crate) use point::PointView;
pub(crate) use project::{ProjectDetail, ProjectView};
pub(crate) use prompt::PromptView;
pub(crate) use pull_request::{DiffView, PrView};
pub(crate) use run::RunView;
pub(crate) use status::{BlockedView, QueueView, RetryView, RunningView, StatusView};
pub(crate) use step_event::{StepEventView, lines_of};
pub(crate) use tick::{StuckTickView, TickView, issues_and_plans};
pub(crate) use today::TodayView;

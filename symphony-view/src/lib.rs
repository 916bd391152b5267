//! The view of each thing: its JSON form and its text come from the same value (spec: cli, "JSON").
//!
//! The command line and the web page are two faces on these values, so that a page, a text and `--json` never disagree.
//! A view is made from what the store and the runner hold, and changes nothing.

#![expect(
    clippy::format_push_string,
    reason = "an answer is written once: a plain line is worth more than an allocation"
)]

mod action;
mod board;
mod checklist;
mod decision;
mod delivery;
mod diff;
mod elsewhere;
mod event;
mod explain;
mod forge;
mod hold;
mod inbox;
mod issue;
mod issue_detail;
mod issue_page;
mod issue_stream;
mod last_failure;
mod learning;
mod lint;
mod live_trial;
mod log_line;
mod measured_learning;
mod merge;
mod message;
mod news;
mod notes;
mod open_plan;
mod open_pr;
mod plan;
mod plan_result;
mod plan_review;
mod point;
mod profile_override;
mod project;
mod prompt;
mod published;
mod pull_request;
pub mod read;
mod release;
mod run;
mod run_sandbox;
mod spending;
mod status;
mod step_event;
mod submodules;
pub mod text;
mod tick;
mod today;
mod tracker;
mod unread;
mod worker;

pub use action::ActionView;
pub use board::{BoardView, CardView, ColumnView};
pub use checklist::CriteriaChanged;
pub use decision::{DecisionView, ReasonView};
pub use delivery::DeliveryView;
pub use diff::DiffView;
pub use elsewhere::Elsewhere;
pub use event::EventView;
pub use explain::{AuthorView, ENDED, ExplainPlanView, ExplainView, WaitView};
pub use forge::{ForgeCheckView, ForgePullView, ForgeSyncView, ForgeView};
pub use hold::HoldView;
pub use inbox::InboxView;
pub use issue::IssueView;
pub use issue_detail::IssueDetail;
pub use issue_page::IssuePageView;
pub use issue_stream::IssueStreamView;
pub use last_failure::FailureView;
pub use learning::{
    ExplainedLearning, FoundLearning, ImportView, LearningFate, LearningUseView, LearningView,
    ScoredLearning,
};
pub use lint::{FindingView, counted, errors};
pub use live_trial::{LiveTrialLine, percent};
pub use log_line::{LogDay, LogLine};
pub use measured_learning::MeasuredLearning;
pub use merge::merged_sentence;
pub use message::{MessageView, WithdrawnView};
pub use news::PrNewsView;
pub use notes::CommentView;
pub use open_plan::OpenPlanView;
pub use open_pr::{GatesNow, OpenPrView};
pub use plan::{PhaseView, PlanListed, PlanView, failure_text};
pub use plan_result::{PlanPreview, PlanResult};
pub use point::PointView;
pub use profile_override::OverrideView;
pub use project::{ProjectDetail, ProjectView};
pub use prompt::PromptView;
pub use pull_request::PrView;
pub use release::released_sentence;
pub use run::{RunView, UsageView};
pub use run_sandbox::{refused_lines, write_refused};
pub use spending::{SpendingView, SpentFor, SpentOn};
pub use status::{BlockedView, QueueView, RetryView, RunningView, StatusView};
pub use step_event::{StepEventView, lines_of};
pub use tick::{StuckTickView, TickView, issues_and_plans};
pub use today::{SpentView, TodayView};
pub use tracker::{
    ChangeView, LinkView, SyncView, TakenInView, TrackerCheckView, TrackerHoldView, TrackerView,
};
pub use worker::WorkerView;

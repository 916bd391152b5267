//! The one database of Symphony: schema, migrations, claims, events, queries.
//!
//! Every write is one `BEGIN IMMEDIATE` transaction that also appends what happened to the event log. Every change of
//! an issue's status goes through [`symphony_core::issue::apply`], whoever asks. A write in the name of a run carries
//! the run's fencing number and is refused once the run is over.

mod audit;
mod database;
mod error;
mod gates;
mod inbox;
mod issue;
mod learning;
mod merge;
mod plan;
mod project;
mod review;
mod run;
mod snapshot;

pub use audit::{AuditRequest, TextPlace};
pub use database::backup::{BackupContents, BackupFile, BackupProject};
pub use database::context::{Actor, Context, RunKey};
pub use database::event::{EventRecord, fold_issue};
pub use database::event_query::{EventFilter, UnknownKind};
pub use database::identity::new_installation_id;
pub use database::maintenance::Vacuumed;
pub use database::migration::SCHEMA_VERSION;
pub use database::open::Migrating;
pub use database::open::Store;
pub use database::restore::RestoreRecord;
pub use database::suggestion::{Suggestion, Suggestions};
pub use error::StoreError;
pub use gates::found::{GatePass, GatesFound};
pub use inbox::notification::Notification;
pub use inbox::open_items::ProposedIssue;
pub use issue::add::NewIssue;
pub use issue::delete::{IssueReferrers, Links};
pub use issue::edit::{IssueEdit, IssueMove};
pub use issue::end::{EndedIssue, IssueEnd};
pub use issue::import::ImportedIssues;
pub use issue::note::NewFinding;
pub use issue::query::{IssueFilter, IssuePage};
pub use issue::subtask::{NewSubtask, Subtask};
pub use learning::import::Imported;
pub use learning::rank::{BestLearnings, CrossProjectLearning, RankedLearning};
pub use learning::read::LearningScope;
pub use learning::record::{LearningAddition, LearningFilter, NewLearning};
pub use learning::row::LearningRecord;
pub use learning::usage::LearningUse;
pub use merge::intent::MergeIntent;
pub use merge::outside::OpenNotice;
pub use merge::publication::{PublishOutcome, PublishWish};
pub use plan::log::fold_plan;
pub use plan::phase_end::{PhaseFinish, RecordedOutcome};
pub use plan::plans::{NewPlan, PlanDecision, PlanOverview};
pub use plan::record::{PlanRecord, PlanTarget};
pub use project::coverage::{CoverageRecord, NewCoverage};
pub use project::health::{NewTestHealth, TestHealthRecord};
pub use project::profile_override::{OverrideEdit, OverrideLayers};
pub use project::record::{NewProject, Project};
pub use project::setup::ProjectSetup;
pub use review::delivery::{NewDelivery, Settlement};
pub use review::done::NewProposal;
pub use review::point_judge::NewAnswer;
pub use review::point_judge::NewVerdict;
pub use review::pull_request_query::PrFilter;
pub use review::pull_request_write::NewPullRequest;
pub use review::superseded::SupersededReview;
pub use run::claim::{ClaimLimits, ClaimRequest};
pub use run::claim_refusal::ClaimRefusal;
pub use run::ending::{FinishedRun, GatesAtEnd, PERMISSION_DENIALS, RunFinish};
pub use run::exit_handling::ExitHandling;
pub use run::hand_in::refused_call;
pub use run::left_behind::LeftBehindRun;
pub use run::new_hold::NewHold;
pub use run::prompt_set::KnownTrial;
pub use run::record::{RunFilter, RunProgress, RunStart};
pub use snapshot::SnapshotRequest;

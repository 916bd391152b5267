//! The one database of Symphony: schema, migrations, claims, events, queries.
//!
//! Every write is one `BEGIN IMMEDIATE` transaction that also appends what happened to the event log. Every change of
//! an issue's status goes through [`symphony_core::issue::apply`], whoever asks. A write in the name of a run carries
//! the run's fencing number and is refused once the run is over.

mod audit;
mod claim;
mod context;
mod coverage;
mod error;
mod event;
mod finish;
mod health;
mod hold;
mod inbox;
mod issue;
mod issue_dependency;
mod issue_query;
mod learning;
mod learning_import;
mod learning_pack;
mod learning_rank;
mod learning_read;
mod learning_use;
mod migration;
mod note;
mod open;
mod phase_claim;
mod phase_claim_query;
mod phase_verdict;
mod plan;
mod plan_change;
mod plan_log;
mod plan_run;
mod profile_override;
mod project;
mod project_run;
mod project_setup;
mod pull_request;
mod pull_request_query;
mod row;
mod run;
mod setting;
mod snapshot;
mod spending;
mod subtask;

pub use audit::{AuditRequest, TextPlace};
pub use claim::{ClaimRefusal, ClaimRequest};
pub use context::{Actor, Context, RunKey};
pub use coverage::{CoverageRecord, NewCoverage};
pub use error::StoreError;
pub use event::{EventRecord, fold_issue};
pub use finish::{FinishedRun, PERMISSION_DENIALS, RunFinish};
pub use health::{NewTestHealth, TestHealthRecord};
pub use hold::NewHold;
pub use issue::{IssueEdit, NewIssue};
pub use issue_query::{IssueFilter, IssuePage};
pub use learning::{LearningFilter, LearningRecord, NewLearning, Retired};
pub use learning_import::Imported;
pub use learning_rank::{BestLearnings, CrossProjectLearning, RankedLearning};
pub use learning_use::LearningUse;
pub use migration::SCHEMA_VERSION;
pub use note::NewFinding;
pub use open::Store;
pub use phase_claim::{NewPhaseClaim, Settlement};
pub use plan::{NewPlan, PlanDecision, PlanOverview, PlanRecord, PlanTarget};
pub use plan_log::fold_plan;
pub use plan_run::{PhaseFinish, RecordedOutcome};
pub use profile_override::{OverrideEdit, OverrideLayers};
pub use project::{NewProject, Project};
pub use project_setup::ProjectSetup;
pub use pull_request::NewPullRequest;
pub use pull_request_query::PrFilter;
pub use run::{RunFilter, RunProgress, RunStart};
pub use snapshot::SnapshotRequest;
pub use subtask::{NewSubtask, Subtask};

//! `.symphony-state.json`: a plan's progress as people, scripts and skills read it (spec: plan, "State file").
//!
//! For a plan that Symphony runs, the file is a copy of the database's state and is only written. A file without
//! `managedBy` belongs to a skill: only the operations here change it. Locking and atomic writing are the caller's
//! part.

mod answer;
mod convert;
mod document;
mod error;
mod lease;
mod operations;
mod summary;

pub use answer::{ReadyPhase, SkillAnswer};
pub use convert::StateHeader;
pub use document::{MANAGED_BY, PendingDecision, PhaseRecord, RetryRecord, STATE_FILE, StateFile};
pub use error::StateFileError;
pub use lease::{LEASE_MS_DEFAULT, LEASE_MS_MAX};
pub use operations::{
    FailedPhase, RetryForce, init_state, mark_complete, mark_failed, phase_artifacts, ready_phases,
    renew, resolve, retry_phase, start_ready,
};
pub use summary::{LeasedPhase, StateSummary, summarise};

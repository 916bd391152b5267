//! Phase contracts: what a phase must deliver, who is dispatched for it, and how its artifact is checked.
//!
//! A contract is a markdown file with front matter (`prompts/phases/<phase>.md`); its body is the prompt of the
//! phase's agent. Contracts form a [`Pipeline`]. The checks are functions of texts and paths: reading the artifact
//! and asking git for the changed paths is the caller's part.

mod artifact;
mod artifact_path;
mod check;
mod delivery;
mod document;
mod kept;
mod model;
mod parse;
mod pipeline;
mod record;

/// Reading markdown line by line.
pub(crate) mod markdown {
    pub(crate) use super::artifact::{closes, folded, is_underline, marked, opens, unindented};
}

pub use artifact::{has_heading, headings, word_count};
pub use artifact_path::{ArtifactPath, ArtifactPathError};
pub use check::{ArtifactFound, CheckFailure, PATHS_SHOWN_MAX, check_delivery};
pub use delivery::{DeliveryDecision, decide_delivery};
pub use document::{
    ANCESTORS_MAX, TICKET_DOCUMENTS_MAX, TicketDeliveries, TicketDocument, ticket_documents,
};
pub use kept::{KeepPlan, KeptCommit, NeededDocument, plan_kept};
pub use model::{
    ArtifactType, CONTRACT_VERSION, PhaseContract, StructuralCheck, Validation, ValidationMode,
};
pub use parse::parse_contract;
pub use pipeline::{Pipeline, PipelineProblem, Skip, SkipError};
pub use record::{Delivery, DeliveryState};

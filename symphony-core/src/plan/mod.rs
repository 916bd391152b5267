//! Plan files: phases, their dependencies and what they pass on (spec: plan).

mod artifact;
pub mod artifacts;
mod base;
mod check;
mod document;
pub mod failure;
mod graph;
mod options;
mod path;
mod phase;
pub mod state;
pub mod state_file;
mod title;
pub mod view;

pub use artifact::{Artifact, ArtifactKind};
pub use base::{BaseSight, BaseStanding, LostBase, judge_base};
pub use check::{CHECK_TIMEOUT_MS_DEFAULT, CHECKS_MAX, Check, CheckKind, describe_checks};
pub use document::{
    HiddenBlock, Hider, PLAN_BLOCK, Plan, PlanBlock, PlanError, PlanMetadata, PlanProblem,
    PlanWarning, ProblemKind, find_block, parse_plan, render_problems,
};
pub use graph::{CYCLE_IDS_MAX, Dag, DependencyGraph, GraphError};
pub use options::{Isolation, PlanOptions};
pub use path::{PATH_BYTES_MAX, PathRefusal, check_pattern, normalise_path};
pub use phase::{Complexity, Phase, RequiredContext, TIMEOUT_MS_MAX};
pub use title::plan_title;

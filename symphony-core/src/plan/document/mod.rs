//! Plan files: from a markdown text to a checked [`Plan`], or to all its problems at once (spec: plan).
//!
//! The text is a value: finding and reading plan files is the caller's part.

mod block;
mod comment;
mod container;
mod error;
mod fields;
mod json;
mod metadata;
mod parse;
mod problem;
mod references;

pub use block::{PLAN_BLOCK, PlanBlock, find_block};
pub use error::{HiddenBlock, Hider, PlanError};
pub use metadata::PlanMetadata;
pub use parse::{Plan, parse_plan};
pub use problem::{PlanProblem, PlanWarning, ProblemKind, render_problems};

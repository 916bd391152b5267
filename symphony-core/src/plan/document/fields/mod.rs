//! The rules on single fields: JSON values become phases, and every violation is recorded.

pub(super) mod advisory;
mod check_node;
mod phase_node;
mod report;

pub(super) use phase_node::{PhaseNode, phase_node};
pub(super) use report::{Object, Report, Unknown, check_fields};

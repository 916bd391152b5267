//! Which phase waits for which: order, levels, cycles, and what a completion or a failure means for the others.
//!
//! Everything here is linear in phases and edges, without recursion: a plan may be a chain of 100,000 phases.

mod cycle;
mod dag;
mod dependency_graph;
mod error;

pub use cycle::CYCLE_IDS_MAX;
pub(super) use cycle::{find_cycles, render_cycle};
pub use dag::Dag;
pub use dependency_graph::DependencyGraph;
pub use error::GraphError;

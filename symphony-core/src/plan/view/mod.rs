//! Plans as texts: the statusline, the graph and the summary.

mod graph;
mod statusline;
mod summary;

pub use graph::{GraphFormat, render_graph};
pub use statusline::{Colour, STATUSLINE_PHASES_CHARS_MAX, render_statusline};
pub use summary::{PhaseResult, PlanSummary};

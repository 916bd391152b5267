//! The hosts that gates in a terminal were refused, and how to allow them. Those of a run are recorded with it.

use symphony_core::run_network::RunNetworkUse;
use symphony_view::refused_lines;

use crate::output::Output;

/// Warns a person of the hosts that gates were refused; of none, nothing.
pub(crate) fn warn_of_refused(out: Output, network: &RunNetworkUse) {
    let lines = refused_lines(network);
    if !lines.is_empty() {
        out.warn(&format!(
            "the gates were refused hosts:\n{}",
            lines.join("\n")
        ));
    }
}

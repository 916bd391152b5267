//! Logs what a prompt leaves out.

use symphony_prompt::{BuiltPrompt, Outcome};

/// Logs what a profile does not get, to help anyone who misses it. The report has it, too.
pub(super) fn log_omissions(built: &BuiltPrompt) {
    let agent = &built.report.agent;
    for part in built.report.system.iter().chain(&built.report.user) {
        if let Outcome::OmittedByProfile { why } = &part.outcome {
            tracing::debug!(agent, part = part.part, why, "omitted from the prompt");
        }
    }
}

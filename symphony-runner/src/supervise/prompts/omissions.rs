//! What a prompt leaves out, for the log.

use symphony_prompt::{BuiltPrompt, Outcome};

/// Logs what a profile does not get, for whoever looks for it; the report says it, too.
pub(super) fn log_omissions(built: &BuiltPrompt) {
    let agent = &built.report.agent;
    for part in built.report.system.iter().chain(&built.report.user) {
        if let Outcome::OmittedByProfile { why } = &part.outcome {
            tracing::debug!(agent, part = part.part, why, "omitted from the prompt");
        }
    }
}

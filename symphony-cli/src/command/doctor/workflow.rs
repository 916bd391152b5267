//! Whether `WORKFLOW.md` of the project's root is one of openai/symphony, which no agent gets.

use std::path::Path;

use symphony_core::workflow_file::is_theirs;
use symphony_workspace::read_own_file;

use super::check::CheckView;

const CHECK: &str = "workflow";

/// Says that the file is openai/symphony's; nothing of a project's own file, or of none.
pub(super) fn check_workflow(root: &Path) -> Option<CheckView> {
    // what cannot be read reaches no prompt either, and a dispatch reports it
    let bytes = read_own_file(&root.join("WORKFLOW.md")).ok()?;
    is_theirs(&String::from_utf8_lossy(&bytes)).then(|| {
        CheckView::ok(
            CHECK,
            "WORKFLOW.md is in the format of openai/symphony: run it with `symphony run --workflow`. Prompts leave it out, so workers keep their profile",
        )
    })
}

//! What the worker answered to each acceptance criterion.

use symphony_core::criteria::ChecklistEntry;

use crate::output::Page;

/// Writes the criteria with their answers; nothing where there is none.
pub(super) fn write_checklist(checklist: &[ChecklistEntry], page: &mut Page) {
    if checklist.is_empty() {
        return;
    }
    page.heading("Acceptance criteria, as the worker answered them");
    for entry in checklist {
        let source = entry
            .criterion
            .source
            .as_ref()
            .map_or_else(String::new, |path| format!(" ({path})"));
        page.line(&format!(
            "{}. {}: {}{source}",
            entry.criterion.item,
            entry.state.name().replace('_', " "),
            entry.criterion.text
        ));
        if !entry.note.is_empty() {
            page.block(&entry.note);
        }
    }
}

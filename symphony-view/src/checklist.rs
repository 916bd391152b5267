//! What the worker answered to each acceptance criterion, and which of them it was not asked about.

use serde::Serialize;
use symphony_core::criteria::{ChecklistEntry, ComparedCriteria, Criterion};

use crate::text::Page;

/// How the criteria of an issue differ from those that the worker of its pull request was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CriteriaChanged {
    /// Criteria of now, with their numbers of now, that the worker was not asked about.
    pub not_answered: Vec<Criterion>,
    /// The texts of criteria that were answered and do not count any more.
    pub dropped: Vec<String>,
}

impl CriteriaChanged {
    /// Views a difference; none where nothing has changed.
    pub fn of(compared: ComparedCriteria) -> Option<Self> {
        let has_changed = compared.have_changed();
        let unanswered = compared
            .items
            .into_iter()
            .filter(|item| item.answer.is_none());
        let dropped = compared.dropped.into_iter();
        has_changed.then(|| Self {
            not_answered: unanswered.map(|item| item.criterion).collect(),
            dropped: dropped.map(|entry| entry.criterion.text).collect(),
        })
    }

    fn write(&self, page: &mut Page) {
        page.heading("Acceptance criteria that changed after the worker started");
        for criterion in &self.not_answered {
            let (item, text, source) = (criterion.item, &criterion.text, source(criterion));
            page.line(&format!("{item}. not answered: {text}{source}"));
        }
        for text in &self.dropped {
            page.line(&format!("- no longer a criterion: {text}"));
        }
    }
}

/// Writes the criteria with their answers, and what has changed since; nothing where there is none.
pub(super) fn write_checklist(
    checklist: &[ChecklistEntry],
    changed: Option<&CriteriaChanged>,
    page: &mut Page,
) {
    if !checklist.is_empty() {
        page.heading("Acceptance criteria, as the worker answered them");
    }
    for entry in checklist {
        page.line(&format!(
            "{}. {}: {}{}",
            entry.criterion.item,
            entry.state.name().replace('_', " "),
            entry.criterion.text,
            source(&entry.criterion)
        ));
        if !entry.note.is_empty() {
            page.block(&entry.note);
        }
    }
    if let Some(changed) = changed {
        changed.write(page);
    }
}

fn source(criterion: &Criterion) -> String {
    let source = criterion.source.as_ref();
    source.map_or_else(String::new, |path| format!(" ({path})"))
}

//! What waits for a human.

use serde::Serialize;
use symphony_core::inbox::InboxItem;

use crate::output::{List, Page, Table, View, ago};

/// Items that `status` shows; `inbox` shows all.
const SHOWN_MAX: usize = 10;

/// One item.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct InboxView {
    #[serde(flatten)]
    item: InboxItem,
}

impl From<InboxItem> for InboxView {
    fn from(item: InboxItem) -> Self {
        Self { item }
    }
}

impl InboxView {
    /// Says in one line what waits, and the command that usually answers it.
    pub(crate) fn line(&self) -> String {
        let answer = self.item.answers.first();
        let answer = answer.map(|answer| format!(" (`{answer}`)"));
        format!(
            "{}: {}{}",
            self.subject(),
            self.item.text,
            answer.unwrap_or_default()
        )
    }

    /// Returns what the item is about.
    fn subject(&self) -> String {
        let InboxItem {
            issue,
            project,
            title,
            ..
        } = &self.item;
        match (issue, project) {
            (Some(issue), _) => format!("{issue} {title}"),
            (None, Some(project)) if !title.is_empty() => format!("Project {project}, {title}"),
            (None, Some(project)) => format!("Project {project}"),
            (None, None) => "All projects".to_owned(),
        }
    }
}

/// Writes the first of them, each in a line with the command that usually answers it.
pub(crate) fn write_waiting(items: &[InboxView], page: &mut Page) {
    if items.is_empty() {
        return;
    }
    page.heading("Waiting for you");
    let mut table = Table::new(["SINCE", "ABOUT", "WHY", "ANSWER"]);
    for view in items.iter().take(SHOWN_MAX) {
        let answer = view.item.answers.first();
        table.row([
            ago(view.item.since, page.now()),
            view.subject(),
            view.item.text.clone(),
            answer
                .map(|answer| format!("`{answer}`"))
                .unwrap_or_default(),
        ]);
    }
    page.table(&table);
    let more = items.len().saturating_sub(SHOWN_MAX);
    if more > 0 {
        page.line(&format!("and {more} more: `symphony inbox` lists all."));
    }
}

impl View for List<InboxView> {
    fn write(&self, page: &mut Page) {
        if self.items.is_empty() {
            page.line("Nothing waits for you.");
            return;
        }
        for view in &self.items {
            let InboxItem {
                kind,
                since,
                text,
                answers,
                ..
            } = &view.item;
            page.heading(&view.subject());
            let since = ago(*since, page.now());
            page.hanging(2, &format!("{kind}, since {since}: {text}."));
            for answer in answers {
                page.line(&format!("  {answer}"));
            }
        }
    }
}

//! What waits for a human.

use serde::Serialize;
use symphony_core::inbox::InboxItem;

use crate::output::{List, Page, View, ago};

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
            (None, Some(project)) => format!("Project {project}"),
            (None, None) => "All projects".to_owned(),
        }
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

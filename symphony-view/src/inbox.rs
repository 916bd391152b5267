//! What waits for a human.

use serde::Serialize;
use symphony_core::inbox::{InboxItem, InboxKind};
use symphony_core::tick::NEXT_TRY;
use symphony_core::wording::ended;

use crate::elsewhere::Elsewhere;
use crate::text::{Clock, Listed, Page, Table, ago};

/// Items that `status` shows; `inbox` shows all.
pub(super) const SHOWN_MAX: usize = 10;

/// One item.
#[derive(Debug, Clone, Serialize)]
pub struct InboxView {
    /// What waits, with the commands that answer it where they are typed.
    #[serde(flatten)]
    pub item: InboxItem,
}

impl InboxView {
    /// Views an item where it is answered.
    pub fn new(item: InboxItem, elsewhere: &Elsewhere) -> Self {
        Self {
            item: elsewhere.item(item),
        }
    }

    /// Announces in one line what waits for the person who reads it.
    pub fn announcement(&self, clock: &Clock) -> String {
        format!("Waiting for you: {}", self.line(clock))
    }

    /// Says in one line what waits, and the command that usually answers it.
    fn line(&self, clock: &Clock) -> String {
        let text = self.text(clock);
        let answer = self
            .item
            .answers
            .first()
            .map(|answer| format!("`{answer}`"));
        let answer = answer.filter(|answer| !text.contains(answer));
        let answer = answer.map(|answer| format!(" ({answer})"));
        format!("{}: {text}{}", self.subject(), answer.unwrap_or_default())
    }

    /// Says what waits, and when it is tried again by itself.
    pub fn text(&self, clock: &Clock) -> String {
        let text = self.item.text.trim_end_matches('.');
        match self.item.until.filter(|until| *until > clock.now()) {
            Some(until) => format!("{text}; {NEXT_TRY} {}", clock.until(until)),
            None => text.to_owned(),
        }
    }

    /// Says whether it is about what is on hold in these words, whatever it adds to them.
    pub(super) fn is_hold(&self, what: &str) -> bool {
        self.item.kind == InboxKind::Hold && self.item.text.starts_with(what)
    }

    /// Returns what the item is about.
    pub fn subject(&self) -> String {
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
            view.text(page.clock()),
            answer
                .map(|answer| format!("`{answer}`"))
                .unwrap_or_default(),
        ]);
    }
    page.table(&table);
    let more = items.len().saturating_sub(SHOWN_MAX);
    if more > 0 {
        page.line(&format!(
            "and {more} more: `symphony inbox` lists them all."
        ));
    }
}

impl Listed for InboxView {
    fn write_all(items: &[Self], page: &mut Page) {
        if items.is_empty() {
            page.line("Nothing is waiting for you.");
            return;
        }
        for view in items {
            let InboxItem {
                kind,
                since,
                answers,
                ..
            } = &view.item;
            page.heading(&view.subject());
            let since = ago(*since, page.now());
            let text = view.text(page.clock());
            let kind = kind.words();
            page.hanging(2, &format!("{kind}, {since}: {}", ended(&text)));
            for answer in answers {
                page.line(&format!("  {answer}"));
            }
        }
    }
}

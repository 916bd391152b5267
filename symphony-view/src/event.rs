//! Entries of the event log.

use serde::Serialize;
use serde_json::Value;
use symphony_core::Timestamp;
use symphony_core::asker::verification_note;
use symphony_core::id::{IssueId, PlanId, ProjectId, RunId};
use symphony_core::log::{Subject, sentence};
use symphony_core::user::Attribution;
use symphony_store::EventRecord;

use crate::text::{Listed, Page, Table, ago};

/// An entry of the event log: as a sentence for a person, with its payload for a program.
#[derive(Debug, Clone, Serialize)]
pub struct EventView {
    /// Its place in the log; later events have higher numbers.
    pub id: i64,
    /// When it happened.
    pub at: Timestamp,
    /// The project it is about.
    pub project: Option<ProjectId>,
    /// The issue it is about.
    pub issue: Option<IssueId>,
    /// The run it is about.
    pub run: Option<RunId>,
    /// The plan it is about.
    pub plan: Option<PlanId>,
    /// Who did it: a person, a kind of agent, or Symphony itself.
    pub actor: String,
    /// Why Symphony could not tell that a person did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unverified: Option<String>,
    /// The source that it was done with, and the user of the page.
    #[serde(flatten)]
    pub attribution: Attribution,
    /// Which kind of event it is.
    pub kind: String,
    /// What the event holds beside its subject.
    pub payload: Value,
    /// The event as one sentence.
    pub sentence: String,
}

impl From<EventRecord> for EventView {
    fn from(record: EventRecord) -> Self {
        let about = Subject {
            at: record.at,
            project: record.project.as_ref(),
            issue: record.issue.as_ref(),
            run: record.run.as_ref(),
            plan: record.plan.as_ref(),
        };
        Self {
            sentence: sentence(&record.event(), &about),
            id: record.id,
            at: record.at,
            project: record.project,
            issue: record.issue,
            run: record.run,
            plan: record.plan,
            actor: record.actor,
            unverified: record.unverified,
            attribution: record.attribution,
            kind: record.kind,
            payload: record.payload,
        }
    }
}

impl EventView {
    /// Returns who wrote the entry, in a word for a person: the user of the page by name.
    pub fn who(&self) -> &str {
        let kind = match self.actor.as_str() {
            "human" => "person",
            "system" => "symphony",
            agent => agent,
        };
        self.attribution.name_or(kind)
    }

    /// Returns the sentence, with why Symphony could not tell that a person did it.
    pub fn shown(&self) -> String {
        let note = verification_note(self.unverified.as_deref());
        format!("{}{note}", self.sentence)
    }

    /// Returns the entry as a line with its time of day (UTC): for output that grows.
    pub fn timed_line(&self) -> String {
        let at = self.at.to_string();
        let time = at.get(11..19).unwrap_or(&at);
        format!("{time}Z  {:<10}  {}", self.who(), self.shown())
    }
}

impl Listed for EventView {
    fn write_all(items: &[Self], page: &mut Page) {
        if items.is_empty() {
            page.line("No events.");
            return;
        }
        let mut table = Table::new(["WHEN", "WHO", "WHAT"]);
        for event in items {
            table.row([
                ago(event.at, page.now()),
                event.who().to_owned(),
                event.shown(),
            ]);
        }
        page.table(&table);
    }
}

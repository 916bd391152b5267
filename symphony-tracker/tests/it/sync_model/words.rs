//! Both sides in the same words, and which edits got through.

use std::collections::BTreeSet;

use symphony_core::config::TrackerKind;
use symphony_core::issue::{IssueStatus, Priority};
use symphony_tracker::linked::{Field, Side};
use symphony_tracker::remote::{ExternalId, RemoteIssue, StateGroup};
use symphony_tracker::{marker, quote};

use super::{Case, Local, Value};

impl Case {
    pub(crate) fn priority_word(&self, priority: Priority) -> String {
        match self.settings().place.kind() {
            TrackerKind::Github => self
                .settings()
                .priorities
                .get(&priority)
                .cloned()
                .unwrap_or_default(),
            TrackerKind::Linear => priority.name().to_owned(),
        }
    }

    pub(crate) fn state_word(&self, status: IssueStatus) -> String {
        if status.is_terminal() {
            return status.name().to_owned();
        }
        let entry = self.settings().states.get(&status).cloned();
        entry.unwrap_or_else(|| "open".to_owned())
    }

    /// What a field is here, in words that both sides share.
    pub(crate) fn here(&self, local: &Local, field: &Field) -> Value {
        let ours = &local.ours;
        match field {
            Field::Title => Value::Text(ours.title.clone()),
            Field::Description => Value::Text(ours.description.clone()),
            Field::Label(name) => {
                let is_on = ours.labels.iter().any(|own| own.eq_ignore_ascii_case(name));
                Value::Word(is_on.to_string())
            }
            Field::Priority => Value::Word(self.priority_word(ours.priority)),
            Field::State => Value::Word(self.state_word(ours.state.status())),
        }
    }

    /// What a field is there, in the same words.
    pub(crate) fn there(&self, issue: &RemoteIssue, field: &Field) -> Value {
        match field {
            // what the mapping loses is no difference
            Field::Title => Value::Text(issue.title.trim().to_owned()),
            Field::Description => {
                let body = issue.body.replace("\r\n", "\n");
                Value::Text(marker::without(&body).to_owned())
            }
            Field::Label(name) => {
                let is_on = issue
                    .labels
                    .iter()
                    .any(|own| own.eq_ignore_ascii_case(name));
                Value::Word(is_on.to_string())
            }
            Field::Priority => Value::Word(match self.settings().place.kind() {
                TrackerKind::Linear => issue.priority.unwrap_or(Priority::None).name().to_owned(),
                TrackerKind::Github => {
                    let mut labels = self.settings().priorities.values();
                    labels
                        .find(|label| issue.labels.contains(*label))
                        .cloned()
                        .unwrap_or_default()
                }
            }),
            Field::State => Value::Word(match issue.state.group {
                StateGroup::Completed => "done".to_owned(),
                StateGroup::NotPlanned => "cancelled".to_owned(),
                StateGroup::Open | StateGroup::Started => {
                    let mut names = self.settings().states.values();
                    let found = match self.settings().place.kind() {
                        TrackerKind::Linear => {
                            names.find(|name| **name == issue.state.name).cloned()
                        }
                        TrackerKind::Github => {
                            let found: BTreeSet<&String> =
                                names.filter(|name| issue.labels.contains(*name)).collect();
                            // several mean none of them
                            (found.len() == 1).then(|| (*found.first().unwrap()).clone())
                        }
                    };
                    found.unwrap_or_else(|| "open".to_owned())
                }
            }),
        }
    }

    /// The tracker's side of a base, as an issue.
    pub(crate) fn base_of(&self, external: &ExternalId) -> RemoteIssue {
        let remote = &self.model.links[external].base.remote;
        RemoteIssue {
            title: remote.title.clone(),
            body: remote.body.clone(),
            labels: remote.labels.clone(),
            state: remote.state.clone(),
            priority: remote.priority,
            ..self.model.tracker.issues[external].clone()
        }
    }

    /// Marks the edits that the other side has now.
    pub(crate) fn follow_edits(&mut self) {
        let mut edits = std::mem::take(&mut self.model.edits);
        for edit in edits.iter_mut().filter(|edit| !edit.is_settled()) {
            let Some(external) = self.model.external_of(&edit.issue) else {
                continue;
            };
            let others = match edit.side {
                // a base shows that the tracker had it, even if it has something newer now
                Side::Ours => vec![
                    self.there(&self.model.tracker.issues[&external], &edit.field),
                    self.there(&self.base_of(&external), &edit.field),
                ],
                Side::Theirs => vec![self.here(&self.model.locals[&edit.issue], &edit.field)],
            };
            edit.has_arrived = others.iter().any(|other| is_equal(&edit.value, other));
        }
        self.model.edits = edits;
    }
}

/// Returns whether two sides have the same, as far as the mapping can tell.
pub(crate) fn is_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Text(one), Value::Text(other)) => {
            one == other || *one == quote::neutral(other) || quote::neutral(one) == *other
        }
        (Value::Word(one), Value::Word(other)) => {
            let is_open = |word: &str| word != "done" && word != "cancelled";
            one == other || one == "open" && is_open(other) || other == "open" && is_open(one)
        }
        _ => false,
    }
}

//! The fields of an issue that people have set, read from its log: agents that sort the backlog do not change them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::LogEvent;
use crate::issue::{Issue, PHASE_LABEL_PREFIX, Priority};

/// Who wrote an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writer {
    /// A person, or Symphony at a person's word.
    Person,
    /// An agent, through its run.
    Agent,
}

/// What people have set of an issue.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SetByPeople {
    labels: BTreeSet<String>,
    priority: Option<Priority>,
}

/// A person's choice that an agent's edit would undo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PersonsChoice {
    /// A label that it leaves out.
    Label(String),
    /// A phase that it changes.
    Phase(String),
    /// A priority that it changes.
    Priority(Priority),
}

impl fmt::Display for PersonsChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Label(label) => {
                write!(f, "a person set the label `{label}`: keep it in `labels`")
            }
            Self::Phase(phase) => write!(f, "a person set the phase `{phase}`: leave out `phase`"),
            Self::Priority(priority) => {
                write!(
                    f,
                    "a person set the priority `{priority}`: leave out `priority`"
                )
            }
        }
    }
}

impl SetByPeople {
    /// Reads an issue's log, oldest entry first.
    ///
    /// What no edit mentions was set at creation, by the creator; a priority of `none` was not set at all. Entries of
    /// releases that did not record what they set count as a person's, so that nothing of a person's is lost.
    pub fn of<'e>(issue: &Issue, log: impl IntoIterator<Item = (Writer, &'e LogEvent)>) -> Self {
        let mut maker = Writer::Person;
        let mut labels: BTreeMap<&str, Writer> = BTreeMap::new();
        let mut priority = None;
        for (writer, event) in log {
            match event {
                LogEvent::IssueAdded { .. } => maker = writer,
                LogEvent::IssueEdited {
                    labels_added,
                    priority: set,
                    ..
                } => {
                    labels.extend(labels_added.iter().map(|label| (label.as_str(), writer)));
                    if set.is_some() {
                        priority = Some(writer);
                    }
                }
                _ => {}
            }
        }
        let is_persons =
            |label: &&String| labels.get(label.as_str()).unwrap_or(&maker) == &Writer::Person;
        let priority_is_persons = match priority {
            Some(writer) => writer == Writer::Person,
            None => maker == Writer::Person && issue.priority != Priority::None,
        };
        Self {
            labels: issue.labels.iter().filter(is_persons).cloned().collect(),
            priority: priority_is_persons.then_some(issue.priority),
        }
    }

    /// Returns a person's choice that an edit would undo; `labels` are all labels that the issue would have after it.
    pub fn undone_by(
        &self,
        labels: Option<&[String]>,
        priority: Option<Priority>,
    ) -> Option<PersonsChoice> {
        let lost = labels.and_then(|given| self.labels.iter().find(|label| !given.contains(label)));
        if let Some(label) = lost {
            return Some(match label.strip_prefix(PHASE_LABEL_PREFIX) {
                Some(phase) => PersonsChoice::Phase(phase.to_owned()),
                None => PersonsChoice::Label(label.clone()),
            });
        }
        self.priority
            .filter(|set| priority.is_some_and(|given| given != *set))
            .map(PersonsChoice::Priority)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::issue::{IssueState, samples};

    fn added() -> LogEvent {
        LogEvent::IssueAdded {
            state: IssueState::Backlog,
            title: "Sort".into(),
        }
    }

    fn edited(labels: &[&str], priority: Option<Priority>) -> LogEvent {
        LogEvent::IssueEdited {
            released_from: None,
            labels_added: labels.iter().map(|&label| label.to_owned()).collect(),
            priority,
        }
    }

    fn issue(labels: &[&str], priority: Priority) -> Issue {
        Issue {
            labels: labels.iter().map(|&label| label.to_owned()).collect(),
            priority,
            ..samples::in_backlog()
        }
    }

    #[test]
    fn what_a_person_set_is_read_from_the_log() {
        use Priority::{High, Low, Medium, None as Unset};
        use Writer::{Agent, Person};
        let labels = ["bug", "ui"];
        for (log, now, persons, priority) in [
            // as it was made
            (vec![(Person, added())], Unset, &["bug", "ui"][..], None),
            (vec![(Person, added())], High, &["bug", "ui"], Some(High)),
            (vec![(Agent, added())], High, &[], None),
            // intake adds, and a person takes it over
            (
                vec![(Person, added()), (Agent, edited(&["ui"], Some(Low)))],
                Low,
                &["bug"],
                None,
            ),
            (
                vec![
                    (Agent, added()),
                    (Agent, edited(&["bug", "ui"], Some(Low))),
                    (Person, edited(&["ui"], Some(Medium))),
                ],
                Medium,
                &["ui"],
                Some(Medium),
            ),
            // A person set it to none.
            (
                vec![(Agent, added()), (Person, edited(&[], Some(Unset)))],
                Unset,
                &[],
                Some(Unset),
            ),
            // nothing is known of it
            (vec![], Low, &["bug", "ui"], Some(Low)),
        ] {
            let read = log.iter().map(|(writer, event)| (*writer, event));
            let found = SetByPeople::of(&issue(&labels, now), read);
            let expected = SetByPeople {
                labels: persons.iter().map(|&label| label.to_owned()).collect(),
                priority,
            };
            assert_eq!(found, expected, "{log:?}");
        }
    }

    #[test]
    fn an_edit_that_undoes_a_persons_choice_is_named() {
        let set = SetByPeople {
            labels: ["bug".to_owned(), "phase:research".to_owned()].into(),
            priority: Some(Priority::High),
        };
        let all = |labels: &[&str]| labels.iter().map(|&l| l.to_owned()).collect::<Vec<_>>();
        for (labels, priority, undone) in [
            (None, None, None),
            (Some(all(&["phase:research", "ui", "bug"])), None, None),
            (None, Some(Priority::High), None),
            (
                Some(all(&["phase:research", "ui"])),
                None,
                Some(PersonsChoice::Label("bug".into())),
            ),
            (
                Some(all(&["phase:ready", "bug"])),
                Some(Priority::Low),
                Some(PersonsChoice::Phase("research".into())),
            ),
            (
                None,
                Some(Priority::Low),
                Some(PersonsChoice::Priority(Priority::High)),
            ),
            (
                None,
                Some(Priority::Urgent),
                Some(PersonsChoice::Priority(Priority::High)),
            ),
        ] {
            assert_eq!(set.undone_by(labels.as_deref(), priority), undone);
        }
        assert_eq!(
            PersonsChoice::Priority(Priority::High).to_string(),
            "a person set the priority `high`: leave out `priority`"
        );
    }
}

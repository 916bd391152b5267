//! A tracker in memory: issues, comments, a coarse clock, and changes of ours.

use std::collections::{BTreeMap, BTreeSet};

use symphony_core::Timestamp;
use symphony_core::config::{TrackerKind, TrackerSettings};
use symphony_tracker::change::{Applied, Change, ChangeId, Created, Outgoing};
use symphony_tracker::marker;
use symphony_tracker::remote::{
    ExternalId, Page, RemoteComment, RemoteIssue, RemoteState, RemoteUser, StateGroup,
};

use crate::samples::{at, closed, open, remote, state};

/// The user that Symphony writes as.
pub(crate) const OWN_USER: &str = "1";

#[derive(Debug)]
pub(crate) struct Tracker {
    pub(crate) settings: TrackerSettings,
    pub(crate) issues: BTreeMap<ExternalId, RemoteIssue>,
    pub(crate) comments: BTreeMap<ExternalId, RemoteComment>,
    second: i64,
    next: u32,
}

impl Tracker {
    pub(crate) fn new(settings: TrackerSettings) -> Self {
        Self {
            settings,
            issues: BTreeMap::new(),
            comments: BTreeMap::new(),
            second: 0,
            next: 0,
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        at(self.second)
    }

    /// Moves the clock: edits in between have the same time.
    pub(crate) fn tick(&mut self) {
        self.second += 1;
    }

    fn number(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    /// The states that people choose from.
    pub(crate) fn states(&self) -> Vec<RemoteState> {
        match self.settings.place.kind() {
            TrackerKind::Github => vec![open(), closed(), state("closed", StateGroup::NotPlanned)],
            TrackerKind::Linear => vec![
                state("Triage", StateGroup::Open),
                state("Icebox", StateGroup::Open),
                state("Todo", StateGroup::Open),
                state("In Progress", StateGroup::Started),
                state("Shipped", StateGroup::Completed),
                state("Dropped", StateGroup::NotPlanned),
            ],
        }
    }

    pub(crate) fn add_issue(&mut self, title: String) -> ExternalId {
        let id = ExternalId::new(self.number().to_string());
        let issue = RemoteIssue {
            key: format!("#{id}"),
            title,
            state: self.states()[0].clone(),
            created_at: self.now(),
            updated_at: self.now(),
            id: id.clone(),
            ..remote()
        };
        self.issues.insert(id.clone(), issue);
        id
    }

    pub(crate) fn add_comment(
        &mut self,
        issue: &ExternalId,
        user: &str,
        body: String,
    ) -> ExternalId {
        let id = ExternalId::new(format!("c{}", self.number()));
        let comment = RemoteComment {
            id: id.clone(),
            issue: issue.clone(),
            author: Some(RemoteUser {
                id: ExternalId::new(user),
                login: user.into(),
            }),
            body,
            is_edited: false,
            created_at: self.now(),
            updated_at: self.now(),
        };
        self.comments.insert(id.clone(), comment);
        id
    }

    /// Changes an issue as somebody does there.
    pub(crate) fn edit(&mut self, id: &ExternalId, edit: impl FnOnce(&mut RemoteIssue)) {
        let now = self.now();
        let issue = self.issues.get_mut(id).unwrap();
        edit(issue);
        issue.updated_at = now;
    }

    /// Returns what changed since a time, that time included, the oldest first.
    pub(crate) fn page(&self, since: Timestamp) -> Page {
        let mut issues: Vec<RemoteIssue> = self.issues.values().cloned().collect();
        let mut comments: Vec<RemoteComment> = self.comments.values().cloned().collect();
        issues.retain(|issue| issue.updated_at >= since);
        comments.retain(|comment| comment.updated_at >= since);
        issues.sort_by_key(|issue| issue.updated_at);
        comments.sort_by_key(|comment| comment.updated_at);
        Page {
            issues,
            comments,
            ..Page::default()
        }
    }

    fn has_label(labels: &BTreeSet<String>, name: &str) -> bool {
        labels.iter().any(|label| label.eq_ignore_ascii_case(name))
    }

    pub(crate) fn label(labels: &mut BTreeSet<String>, name: &str, is_on: bool) {
        if !is_on {
            labels.retain(|label| !label.eq_ignore_ascii_case(name));
        } else if !Self::has_label(labels, name) {
            labels.insert(name.to_owned());
        }
    }

    /// Applies a change of ours; `is_cut_short` leaves out a part of one that takes several requests.
    pub(crate) fn apply(&mut self, outgoing: &Outgoing, is_cut_short: bool) -> Applied {
        let Outgoing {
            id, target, change, ..
        } = outgoing;
        let created = match change {
            Change::AddComment { body } => {
                let found = self.find_comment(outgoing);
                let body = marker::with(body, id);
                Some(Created::Comment(
                    found.unwrap_or_else(|| self.add_comment(target, OWN_USER, body)),
                ))
            }
            Change::AddSubIssue {
                title,
                body,
                labels,
            } => {
                let found = self.find_issue(outgoing);
                let issue = found.unwrap_or_else(|| {
                    let made = self.add_issue(title.clone());
                    let body = marker::with(body, id);
                    self.edit(&made, |issue| {
                        issue.body = body;
                        issue.labels.clone_from(labels);
                        issue.parent = Some(target.clone());
                    });
                    made
                });
                Some(Created::Issue(Box::new(self.issues[&issue].clone())))
            }
            change => {
                let states = self.states();
                self.edit(target, |issue| set(issue, change, &states, is_cut_short));
                None
            }
        };
        Applied {
            issue: Some(self.issues[target].clone()),
            created,
        }
    }

    fn find_comment(&self, outgoing: &Outgoing) -> Option<ExternalId> {
        let mut comments = self.comments.values().filter(|_| outgoing.was_tried);
        let found = comments.find(|comment| {
            // anyone can copy a marker
            let is_own = comment.author.as_ref().unwrap().id.as_str() == OWN_USER;
            is_own && is_marked(&comment.body, &outgoing.id)
        });
        found.map(|comment| comment.id.clone())
    }

    fn find_issue(&self, outgoing: &Outgoing) -> Option<ExternalId> {
        let mut issues = self.issues.values().filter(|_| outgoing.was_tried);
        let found = issues.find(|issue| is_marked(&issue.body, &outgoing.id));
        found.map(|issue| issue.id.clone())
    }
}

fn is_marked(body: &str, id: &ChangeId) -> bool {
    marker::find(body).as_ref() == Some(id)
}

pub(crate) fn set(
    issue: &mut RemoteIssue,
    change: &Change,
    states: &[RemoteState],
    is_cut_short: bool,
) {
    match change {
        // a tracker trims
        Change::SetTitle { title } => title.trim().clone_into(&mut issue.title),
        Change::SetBody { body } => body.trim_end().clone_into(&mut issue.body),
        Change::SetPriority { priority } => issue.priority = Some(*priority),
        Change::SetLabels { add, remove } => {
            for name in add {
                Tracker::label(&mut issue.labels, name, true);
            }
            for name in remove.iter().filter(|_| !is_cut_short) {
                Tracker::label(&mut issue.labels, name, false);
            }
        }
        Change::SetState { state } => {
            let is_meant = |found: &&RemoteState| match state.name.as_str() {
                "" => found.group == state.group,
                "closed" => **found == *state,
                name => found.name == name,
            };
            issue.state = states.iter().find(is_meant).unwrap().clone();
        }
        Change::AddComment { .. } | Change::AddSubIssue { .. } => {}
    }
}

//! A case: what people, agents and the process do, step by step.

use symphony_core::agent::AgentType;
use symphony_core::config::{TrackerKind, TrackerSettings};
use symphony_core::id::IssueId;
use symphony_core::issue::{
    IssueEvent, IssueState, IssueStatus, Priority, Review, apply, human_move,
};
use symphony_tracker::linked::{Activity, Covers, Field, Side, TextBy};
use symphony_tracker::marker;
use symphony_tracker::milestone::{Milestone, Written, plan};
use symphony_tracker::remote::{ExternalId, RemoteIssue};
use symphony_tracker::sub_issue::plan_sub_issue;

use super::words::is_equal;
use super::{Answer, Edit, Local, Model, Tracker, Value};
use crate::samples::{github, id, linear};

/// Labels that people set; two of them differ in case only.
pub(crate) const LABELS: [&str; 4] = ["Bug", "bug", "db", "agent"];
const ISSUES_MAX: usize = 4;

/// One step of a case: what happens, to which issue, and how.
pub(crate) type Op = (u8, u8, u8);

#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) model: Model,
}

impl Case {
    pub(crate) fn new(kind: u8) -> Self {
        let mut settings = if kind.is_multiple_of(2) {
            github()
        } else {
            linear()
        };
        if kind >= 4 {
            settings.states.clear();
            settings.priorities.clear();
        }
        if kind % 4 >= 2 {
            settings.import_status = IssueStatus::Todo;
        }
        let mut case = Self {
            model: Model::new(settings),
        };
        case.model.tracker.add_issue("First".into());
        case.model.fetch();
        case
    }

    pub(crate) fn settings(&self) -> &TrackerSettings {
        &self.model.settings
    }

    pub(crate) fn text(&mut self, how: u8) -> String {
        let number = self.model.number();
        match how % 3 {
            0 => format!("text {number}"),
            1 => format!("ask @ada about #{number}"),
            _ => format!("text {number} "),
        }
    }

    pub(crate) fn step(&mut self, (what, which, how): Op) {
        match what % 16 {
            0..=3 => self.edit_there(which, how),
            4..=6 => self.edit_here(which, how),
            7 => self.move_here(which, how),
            8 => self.say(which, how),
            9 => self.model.tracker.tick(),
            10 => self.model.fetch(),
            11 | 12 => self.decide(which, how),
            13 => self.depart(which),
            14 => self.model.pages.clear(),
            _ => self.send(which, how),
        }
        self.follow_edits();
    }

    pub(crate) fn decide(&mut self, which: u8, how: u8) {
        if self.model.pages.is_empty() {
            self.model.fetch();
        }
        let at = usize::from(which) % self.model.pages.len();
        let page = self.model.pages[at].clone();
        // an even number keeps the page, so that it is decided on again later
        if !how.is_multiple_of(2) || self.model.pages.len() > 3 {
            self.model.pages.remove(at);
        }
        let count = if how.is_multiple_of(5) {
            usize::from(which % 3)
        } else {
            usize::MAX
        };
        self.model.process(&page, count);
    }

    pub(crate) fn depart(&mut self, which: u8) {
        let externals: Vec<ExternalId> = self.model.links.keys().cloned().collect();
        if !externals.is_empty() {
            let external = externals[usize::from(which) % externals.len()].clone();
            self.model.depart(&external);
        }
    }

    /// Edits an issue there, as a person does.
    pub(crate) fn edit_there(&mut self, which: u8, how: u8) {
        let externals: Vec<ExternalId> = self.model.tracker.issues.keys().cloned().collect();
        if how.is_multiple_of(8) && externals.len() < ISSUES_MAX {
            let title = self.text(0);
            self.model.tracker.add_issue(title);
            return;
        }
        let external = &externals[usize::from(which) % externals.len()];
        self.edit_one_there(external, how);
    }

    pub(crate) fn edit_one_there(&mut self, external: &ExternalId, how: u8) {
        let before = self.model.tracker.issues[external].clone();
        let github = self.settings().place.kind() == TrackerKind::Github;
        let mut chosen = None;
        let field = match how % 8 {
            0 | 1 => {
                let title = self.text(if how < 128 { 0 } else { 2 });
                self.model
                    .tracker
                    .edit(external, |issue| issue.title = title);
                Field::Title
            }
            2 => {
                let text = self.text(0);
                let text = if how < 128 {
                    text
                } else {
                    format!("{text}\r\nmore")
                };
                // without its marker, a second attempt would make a second issue
                let is_linked = self.model.links.contains_key(external);
                let mark = marker::find(&before.body).filter(|_| !is_linked);
                let text = mark.map_or(text.clone(), |mark| marker::with(&text, &mark));
                self.model.tracker.edit(external, |issue| issue.body = text);
                Field::Description
            }
            3 => {
                let name = LABELS[usize::from(how / 8) % LABELS.len()];
                let is_on = how < 128;
                self.model.tracker.edit(external, |issue| {
                    Tracker::label(&mut issue.labels, name, is_on);
                });
                Field::Label(name.to_lowercase())
            }
            4 => {
                self.prioritise_there(external, how / 8);
                Field::Priority
            }
            5 if github && !self.settings().states.is_empty() => {
                let added = self.label_state_there(external, how);
                // the label that was added is meant, even if the old one was forgotten
                chosen = (!before.state.group.has_ended()).then_some(Value::Word(added));
                Field::State
            }
            _ => {
                let states = self.model.tracker.states();
                let state = states[usize::from(how / 8) % states.len()].clone();
                self.model
                    .tracker
                    .edit(external, |issue| issue.state = state);
                Field::State
            }
        };
        self.record_there(external, &before, field, chosen);
    }

    fn prioritise_there(&mut self, external: &ExternalId, which: u8) {
        let priority = Priority::ALL[usize::from(which) % Priority::ALL.len()];
        let labels: Vec<String> = self.settings().priorities.values().cloned().collect();
        let label = self.settings().priorities.get(&priority).cloned();
        let has_priorities = self.settings().place.kind() == TrackerKind::Linear;
        self.model.tracker.edit(external, |issue| {
            if has_priorities {
                issue.priority = Some(priority);
            }
            for name in labels {
                let is_on = Some(&name) == label.as_ref();
                Tracker::label(&mut issue.labels, &name, is_on);
            }
        });
    }

    /// Adds a label that means a status, with or without removing the others.
    fn label_state_there(&mut self, external: &ExternalId, how: u8) -> String {
        let names: Vec<String> = self.settings().states.values().cloned().collect();
        let added = names[usize::from(how / 8) % names.len()].clone();
        let forgets = how >= 128;
        self.model.tracker.edit(external, |issue| {
            for name in names.iter().filter(|_| !forgets) {
                Tracker::label(&mut issue.labels, name, false);
            }
            Tracker::label(&mut issue.labels, &added, true);
        });
        added
    }

    /// Records an edit there, if the issue is linked.
    fn record_there(
        &mut self,
        external: &ExternalId,
        before: &RemoteIssue,
        field: Field,
        chosen: Option<Value>,
    ) {
        self.model
            .touched_there
            .insert((external.clone(), field.clone()));
        let after = self.model.tracker.issues[external].clone();
        let Some(link) = self.model.links.get(external) else {
            return;
        };
        let issue = link.issue.clone();
        let base = self.base_of(external);
        let is_edited = self.there(before, &field) != self.there(&after, &field);
        let value = chosen.unwrap_or_else(|| self.there(&after, &field));
        // what takes an edit back that never arrived leaves nothing to merge; nor does what repeats a change of ours
        let unanswered = self.model.unanswered(external, &base);
        let mut agreed = unanswered.iter().chain([&base]);
        let had_label = |issue: &RemoteIssue| matches!((&field, &value), (Field::State, Value::Word(word)) if issue.labels.contains(word));
        let is_taken_back =
            agreed.any(|agreed| self.there(agreed, &field) == value || had_label(agreed));
        if is_edited {
            self.record(Edit::new(issue, Side::Theirs, field, value), is_taken_back);
        }
    }

    pub(crate) fn edit_here(&mut self, which: u8, how: u8) {
        let ids: Vec<_> = self.model.locals.keys().cloned().collect();
        if ids.is_empty() {
            return;
        }
        let issue = &ids[usize::from(which) % ids.len()];
        let text = self.text(how / 4);
        let name = LABELS[usize::from(how / 4) % LABELS.len()];
        let local = self.model.locals.get_mut(issue).unwrap();
        let is_agent = how >= 128;
        let by = if is_agent {
            TextBy::Agent
        } else {
            TextBy::Person
        };
        let field = match how % 4 {
            0 => {
                text.trim_end().clone_into(&mut local.ours.title);
                local.text_by = by;
                Field::Title
            }
            1 => {
                text.trim_end().clone_into(&mut local.ours.description);
                local.text_by = by;
                Field::Description
            }
            2 => {
                let own = local.ours.labels.iter();
                let same = own.filter(|own| own.eq_ignore_ascii_case(name)).cloned();
                let same: Vec<String> = same.collect();
                if same.is_empty() {
                    local.ours.labels.insert(name.to_owned());
                }
                for name in same {
                    local.ours.labels.remove(&name);
                }
                Field::Label(name.to_lowercase())
            }
            _ => {
                let priority = Priority::ALL[usize::from(how / 4) % Priority::ALL.len()];
                local.ours.priority = priority;
                Field::Priority
            }
        };
        self.record_here(issue, field);
    }

    /// Records an edit of ours, if the issue is linked.
    pub(crate) fn record_here(&mut self, issue: &IssueId, field: Field) {
        self.model
            .touched_here
            .insert((issue.clone(), field.clone()));
        let Some(external) = self.model.external_of(issue) else {
            return;
        };
        let ours = &self.model.locals[issue];
        let value = self.here(ours, &field);
        let base = &self.model.links[&external].base.local;
        let is_taken_back = match &field {
            Field::Title => base.title == ours.ours.title,
            Field::Description => base.description == ours.ours.description,
            Field::Label(name) => {
                let was_on = base.labels.iter().any(|own| own.eq_ignore_ascii_case(name));
                value == Value::Word(was_on.to_string())
            }
            Field::Priority => value == Value::Word(self.priority_word(base.priority)),
            // what changes nothing there cannot arrive, and cannot be lost
            Field::State => {
                let remote = self.base_of(&external);
                let status = Some(ours.ours.state.status());
                base.status == status
                    || base.status_label == status
                    || is_equal(&value, &self.there(&remote, &field))
            }
        };
        self.record(
            Edit::new(issue.clone(), Side::Ours, field, value),
            is_taken_back,
        );
    }

    pub(crate) fn record(&mut self, mut edit: Edit, is_taken_back: bool) {
        edit.conflicts_before = self.model.conflicts.len();
        edit.has_arrived = is_taken_back;
        for earlier in &mut self.model.edits {
            earlier.is_superseded |= (&earlier.issue, earlier.side, &earlier.field)
                == (&edit.issue, edit.side, &edit.field);
        }
        self.model.edits.push(edit);
    }

    /// Moves an issue of ours, by a person or by an agent's work.
    pub(crate) fn move_here(&mut self, which: u8, how: u8) {
        let ids: Vec<_> = self.model.locals.keys().cloned().collect();
        if ids.is_empty() {
            return;
        }
        let issue = &ids[usize::from(which) % ids.len()];
        let local = self.model.locals.get_mut(issue).unwrap();
        let reason = || "Which colour?".to_owned();
        let (event, activity, review) = match how % 8 {
            0 | 1 => (IssueEvent::Dispatched, Activity::Run, local.review),
            2 => (IssueEvent::PrCreated, Activity::Idle, Review::Open),
            3 => (
                IssueEvent::AgentBlocked { reason: reason() },
                Activity::Idle,
                local.review,
            ),
            4 => (IssueEvent::Merged, Activity::Idle, Review::None),
            5 => (
                IssueEvent::TakenOver { reason: reason() },
                Activity::Idle,
                local.review,
            ),
            6 if local.ours.state == IssueState::Review => {
                local.activity = Activity::Merge;
                return;
            }
            _ => {
                let to = IssueStatus::ALL[usize::from(how / 8) % IssueStatus::ALL.len()];
                let is_busy = matches!(local.activity, Activity::Run | Activity::Merge);
                let Ok(event) = human_move(&local.ours.state, to, local.review) else {
                    return;
                };
                if is_busy {
                    return;
                }
                (event, local.activity, local.review)
            }
        };
        let needs_run = how % 8 == 2 || how % 8 == 5;
        if needs_run && local.activity != Activity::Run {
            return;
        }
        if let Ok(state) = apply(&local.ours.state, &event) {
            local.ours.state = state;
            local.activity = activity;
            local.review = review;
            self.record_here(issue, Field::State);
        }
    }

    /// Writes a comment on either side, or makes a sub-task.
    pub(crate) fn say(&mut self, which: u8, how: u8) {
        let externals: Vec<ExternalId> = self.model.tracker.issues.keys().cloned().collect();
        let external = externals[usize::from(which) % externals.len()].clone();
        let text = self.text(1);
        match how % 5 {
            0 => {
                self.model.tracker.add_comment(&external, "8", text);
            }
            1 => {
                // a copy of what we wrote, marker and all
                let comments: Vec<String> = self
                    .model
                    .tracker
                    .comments
                    .values()
                    .map(|c| c.body.clone())
                    .collect();
                let copied = comments.last().cloned().unwrap_or(text);
                self.model.tracker.add_comment(&external, "8", copied);
            }
            2 | 3 if self.model.links.contains_key(&external) => {
                let milestone = if how.is_multiple_of(2) {
                    Milestone::Done { reason: Some(text) }
                } else {
                    Milestone::Started {
                        agent: AgentType::Worker,
                    }
                };
                let now = self.model.tracker.now();
                let (_, departing) = plan(self.settings(), &Written::default(), &milestone, now);
                self.model.push(&external, departing.unwrap());
            }
            4 if self.model.locals.len() < ISSUES_MAX => self.add_sub_task(&external, text),
            _ => {}
        }
    }

    pub(crate) fn add_sub_task(&mut self, parent: &ExternalId, text: String) {
        let Some(link) = self.model.links.get(parent) else {
            return;
        };
        let parent_id = link.issue.clone();
        let child = id(&format!("SYM-{}", self.model.number()));
        let mut ours = self.model.locals[&parent_id].ours.clone();
        ours.id = child.clone();
        ours.title = format!("Part {child}");
        ours.description = text;
        ours.state = IssueState::Todo;
        let departing = plan_sub_issue(self.settings(), "#1", &ours, TextBy::Agent).unwrap();
        let local = Local {
            ours,
            activity: Activity::NotBegun,
            review: Review::None,
            text_by: TextBy::Agent,
            parent: Some(parent_id),
        };
        self.model.locals.insert(child, local);
        self.model.push(parent, departing);
    }

    /// Sends the first change of the outbox. Sometimes a person edits another field in between.
    fn send(&mut self, which: u8, how: u8) {
        let Some(change) = self.model.read_first() else {
            return;
        };
        if which.is_multiple_of(3) {
            let row = self.model.row(&change);
            let is_title = matches!(row.pending.covers, Covers::Title { .. });
            let target = row.target.clone();
            self.edit_one_there(&target, if is_title { 2 } else { 1 });
        }
        let answer = match how % 6 {
            0 | 1 => Answer::WithIssue,
            2 => Answer::WithoutIssue,
            3 => Answer::Lost,
            4 => Answer::CutShort,
            _ => Answer::NotSent,
        };
        self.model.send(&change, answer);
    }
}

//! The whole sync as a model: two sides with random edits, and a process between them that can die after every step.
//!
//! The tracker of the model has a coarse clock, trims texts, ignores the case of labels, answers with or without the issue, and
//! applies changes whose answers are lost or that are cut short. Pages are decided on late, twice, or out of order. Runs start and
//! end meanwhile. When all is quiet, both sides agree and nothing is sent any more; each comment and each sub-issue exists once;
//! and each edit reached the other side, was replaced by its own side, or is recorded as a conflict.

use std::collections::BTreeSet;

use proptest::prelude::*;
use symphony_core::agent::AgentType;
use symphony_core::config::{TrackerKind, TrackerSettings};
use symphony_core::issue::{
    IssueEvent, IssueState, IssueStatus, Priority, Review, apply, human_move,
};
use symphony_tracker::linked::{Activity, Covers, Field, Side, TextBy};
use symphony_tracker::marker;
use symphony_tracker::milestone::{Milestone, Written, plan};
use symphony_tracker::quote;
use symphony_tracker::remote::{ExternalId, RemoteIssue, StateGroup};
use symphony_tracker::sub_issue::plan_sub_issue;

use crate::samples::{github, id, linear};
use crate::sync_model::{Answer, Edit, Local, Model, Tracker, Value};

/// Rounds after which all must be quiet: each round can uncover one more edit.
const ROUNDS_TO_QUIET: usize = 12;
/// Rounds that must send nothing afterwards.
const QUIET_ROUNDS: usize = 50;
const LABELS: [&str; 4] = ["Bug", "bug", "db", "agent"];
const ISSUES_MAX: usize = 4;

/// One step of a case: what happens, to which issue, and how.
type Op = (u8, u8, u8);

struct Case {
    model: Model,
}

impl Case {
    fn new(kind: u8) -> Self {
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

    fn settings(&self) -> &TrackerSettings {
        &self.model.settings
    }

    fn text(&mut self, how: u8) -> String {
        let number = self.model.number();
        match how % 3 {
            0 => format!("text {number}"),
            1 => format!("ask @ada about #{number}"),
            _ => format!("text {number} "),
        }
    }

    fn step(&mut self, (what, which, how): Op) {
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
            _ => self.model.send_one(match how % 6 {
                0 | 1 => Answer::WithIssue,
                2 => Answer::WithoutIssue,
                3 => Answer::Lost,
                4 => Answer::CutShort,
                _ => Answer::NotSent,
            }),
        }
        self.follow_edits();
    }

    fn decide(&mut self, which: u8, how: u8) {
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

    fn depart(&mut self, which: u8) {
        let externals: Vec<ExternalId> = self.model.links.keys().cloned().collect();
        if !externals.is_empty() {
            let external = externals[usize::from(which) % externals.len()].clone();
            self.model.depart(&external);
        }
    }

    fn edit_there(&mut self, which: u8, how: u8) {
        let externals: Vec<ExternalId> = self.model.tracker.issues.keys().cloned().collect();
        let external = &externals[usize::from(which) % externals.len()];
        let before = self.model.tracker.issues[external].clone();
        let text = self.text(0);
        let states = self.model.tracker.states();
        let mut chosen = None;
        let state_labels: Vec<String> = match self.settings().place.kind() {
            TrackerKind::Github => self.settings().states.values().cloned().collect(),
            TrackerKind::Linear => Vec::new(),
        };
        let field = match how % 8 {
            0 if externals.len() < ISSUES_MAX => {
                self.model.tracker.add_issue(text);
                return;
            }
            0 | 1 => {
                self.model
                    .tracker
                    .edit(external, |issue| issue.title = text);
                Field::Title
            }
            2 => {
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
                let priority = Priority::ALL[usize::from(how / 8) % Priority::ALL.len()];
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
                Field::Priority
            }
            5 if !state_labels.is_empty() => {
                let added = &state_labels[usize::from(how / 8) % state_labels.len()];
                let forgets = how >= 128;
                // the label that was added is meant, even if the old one was forgotten
                chosen = (!before.state.group.has_ended()).then(|| Value::Word(added.clone()));
                self.model.tracker.edit(external, |issue| {
                    for name in state_labels.iter().filter(|_| !forgets) {
                        Tracker::label(&mut issue.labels, name, false);
                    }
                    Tracker::label(&mut issue.labels, added, true);
                });
                Field::State
            }
            _ => {
                let state = states[usize::from(how / 8) % states.len()].clone();
                self.model
                    .tracker
                    .edit(external, |issue| issue.state = state);
                Field::State
            }
        };
        let after = self.model.tracker.issues[external].clone();
        let Some(link) = self.model.links.get(external) else {
            return;
        };
        let issue = link.issue.clone();
        let base = self.base_of(external);
        let is_edited = self.there(&before, &field) != self.there(&after, &field);
        let value = chosen.unwrap_or_else(|| self.there(&after, &field));
        // what takes an edit back that never arrived leaves nothing to merge; nor does what repeats a change of ours
        let unanswered = self.model.unanswered(external, &base);
        let mut agreed = unanswered.iter().chain([&base]);
        let is_taken_back = agreed.any(|agreed| self.there(agreed, &field) == value);
        if is_edited {
            self.record(Edit::new(issue, Side::Theirs, field, value), is_taken_back);
        }
    }

    /// The tracker's side of a base, as an issue.
    fn base_of(&self, external: &ExternalId) -> RemoteIssue {
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

    fn edit_here(&mut self, which: u8, how: u8) {
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
    fn record_here(&mut self, issue: &symphony_core::id::IssueId, field: Field) {
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
                is_equal(&value, &self.there(&remote, &field))
            }
        };
        self.record(
            Edit::new(issue.clone(), Side::Ours, field, value),
            is_taken_back,
        );
    }

    fn record(&mut self, mut edit: Edit, is_taken_back: bool) {
        edit.conflicts_before = self.model.conflicts.len();
        edit.has_arrived = is_taken_back;
        for earlier in &mut self.model.edits {
            earlier.is_superseded |= (&earlier.issue, earlier.side, &earlier.field)
                == (&edit.issue, edit.side, &edit.field);
        }
        self.model.edits.push(edit);
    }

    /// Moves an issue of ours, by a person or by an agent's work.
    fn move_here(&mut self, which: u8, how: u8) {
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
    fn say(&mut self, which: u8, how: u8) {
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

    fn add_sub_task(&mut self, parent: &ExternalId, text: String) {
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

    fn priority_word(&self, priority: Priority) -> String {
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

    fn state_word(&self, status: IssueStatus) -> String {
        if status.is_terminal() {
            return status.name().to_owned();
        }
        let entry = self.settings().states.get(&status).cloned();
        entry.unwrap_or_else(|| "open".to_owned())
    }

    /// What a field is here, in words that both sides share.
    fn here(&self, local: &Local, field: &Field) -> Value {
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
    fn there(&self, issue: &RemoteIssue, field: &Field) -> Value {
        match field {
            Field::Title => Value::Text(issue.title.clone()),
            Field::Description => Value::Text(issue.body.clone()),
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

    /// Marks the edits that the other side has now.
    fn follow_edits(&mut self) {
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

    fn check(&mut self) {
        for _ in 0..ROUNDS_TO_QUIET {
            self.model.round();
            self.follow_edits();
        }
        assert_eq!(self.model.outbox, [], "all was sent");
        let (sent, links) = (self.model.sent, self.model.links.clone());
        for _ in 0..QUIET_ROUNDS {
            self.model.round();
        }
        assert_eq!(
            (self.model.sent, &self.model.links),
            (sent, &links),
            "no ping-pong"
        );
        self.check_agreement();
        self.check_created();
        for edit in &self.model.edits {
            let lost = self.model.conflicts[edit.conflicts_before..].iter();
            let mut lost = lost.filter(|(issue, _)| *issue == edit.issue);
            let is_recorded = lost.any(|(_, conflict)| {
                conflict.loser == edit.side && is_same_field(&conflict.field, &edit.field)
            });
            assert!(edit.is_settled() || is_recorded, "{edit:?} vanished");
        }
    }

    fn check_agreement(&self) {
        for (external, link) in &self.model.links {
            let here = &self.model.locals[&link.issue];
            let there = &self.model.tracker.issues[external];
            let mut fields = vec![Field::Title, Field::Priority];
            fields.extend(LABELS.map(|name| Field::Label(name.to_lowercase())));
            if link.made_with.as_ref() != Some(&there.body) {
                fields.push(Field::Description);
            }
            for field in fields {
                let (here, there) = (self.here(here, &field), self.there(there, &field));
                assert!(
                    is_equal(&here, &there),
                    "{field:?}: {here:?} here, {there:?} there"
                );
            }
            let status = here.ours.state.status();
            let ended = match there.state.group {
                StateGroup::Completed => Some(IssueStatus::Done),
                StateGroup::NotPlanned => Some(IssueStatus::Cancelled),
                StateGroup::Open | StateGroup::Started => None,
            };
            assert_eq!(
                status.is_terminal().then_some(status),
                ended,
                "{here:?} {there:?}"
            );
            let stale = there.labels.iter().filter(|label| {
                let entry = self.settings().states.get(&status);
                let mut names = self.settings().states.values();
                names.any(|name| name == *label) && entry != Some(label)
            });
            let stale = stale.count();
            let is_as_imported = link.imported_as == Some(status) && stale == 1;
            assert!(stale == 0 || is_as_imported, "{here:?} {there:?}");
            let was_sent = link.base.local.status == Some(status);
            assert!(was_sent, "{link:?} {here:?}");
        }
    }

    fn check_created(&self) {
        for (change, (_, result)) in &self.model.written {
            let comments = self.model.tracker.comments.values();
            let marked = comments.filter(|comment| {
                let is_own = comment.author.as_ref().unwrap().id.as_str() == "1";
                is_own && marker::find(&comment.body).as_ref() == Some(change)
            });
            let found: Vec<_> = marked.map(|comment| &comment.id).collect();
            assert_eq!(
                found,
                Vec::from_iter(result.as_ref()),
                "{change} is there once"
            );
        }
        for comment in self.model.tracker.comments.values() {
            let is_ours = comment.author.as_ref().unwrap().id.as_str() == "1";
            let kept = self.model.kept.iter().filter(|kept| **kept == comment.id);
            let is_linked = self.model.links.contains_key(&comment.issue);
            let expected = usize::from(!is_ours && is_linked);
            assert_eq!(kept.count(), expected, "{comment:?}");
        }
        for (child, local) in &self.model.locals {
            let links = self.model.links.values();
            assert_eq!(
                links.filter(|link| link.issue == *child).count(),
                1,
                "{local:?}"
            );
        }
        let made = self.model.tracker.issues.values();
        let marked = made.filter_map(|issue| marker::find(&issue.body));
        let marked: Vec<_> = marked.collect();
        let distinct: BTreeSet<_> = marked.iter().collect();
        assert_eq!(marked.len(), distinct.len(), "each sub-issue is there once");
        let waits = |covers: &Covers| matches!(covers, Covers::SubIssue { .. });
        assert!(
            !self
                .model
                .outbox
                .iter()
                .any(|row| waits(&row.pending.covers))
        );
    }
}

fn is_same_field(one: &Field, other: &Field) -> bool {
    match (one, other) {
        (Field::Label(one), Field::Label(other)) => one.eq_ignore_ascii_case(other),
        (one, other) => one == other,
    }
}

/// Returns whether two sides have the same, as far as the mapping can tell.
fn is_equal(one: &Value, other: &Value) -> bool {
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

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1_200,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn both_sides_agree_in_the_end_and_no_edit_vanishes(
        kind in 0_u8..8,
        ops in prop::collection::vec(any::<Op>(), 0..120),
    ) {
        let mut case = Case::new(kind);
        for op in ops {
            case.step(op);
        }
        case.check();
    }
}

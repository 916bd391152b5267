//! The three-way merge of one linked issue.
//!
//! Where only the tracker's side changed, ours follows. Where both did, the tracker wins text, labels and priority. The state is in
//! [`crate::state`]. What loses is a conflict. Where only ours changed, nothing happens here: a departure sends it.

use std::collections::BTreeSet;

use symphony_core::config::TrackerSettings;
use symphony_core::issue::IssueStatus;

use crate::base::{Base, FilterMatch, RemoteFields};
use crate::change::Change;
use crate::linked::{Activity, Attempt, Conflict, Covers, Field, LinkedIssue, Note, Pending, Side};
use crate::remote::RemoteState;
use crate::state::Meaning;
use crate::step::{Around, Changed, HowRead, Reading, Step};
use crate::{filter, labels, priority, relations, state, text};

struct Merge<'a> {
    settings: &'a TrackerSettings,
    remote: RemoteFields,
    linked: &'a LinkedIssue,
    out: Changed,
}

/// Merges a reading that can be trusted into a linked issue.
pub(crate) fn merge(
    settings: &TrackerSettings,
    reading: Reading<'_>,
    linked: &LinkedIssue,
    around: &Around,
) -> Changed {
    let issue = reading.issue;
    let mut merge = Merge {
        settings,
        remote: RemoteFields::from(issue),
        linked,
        out: Changed {
            steps: Vec::new(),
            base: linked.base.clone(),
            settled: Vec::new(),
            untried: Vec::new(),
            conflicts: Vec::new(),
            notes: Vec::new(),
        },
    };
    // first, because an echo of our own change must not pass for an edit there
    merge.settle_attempts(reading.how);
    merge.title(&issue.key);
    merge.description();
    merge.labels();
    merge.priority();
    merge.state();
    merge.filter(filter::mismatch(settings, issue));
    let (steps, relations) = relations::plan(&merge.remote, &linked.base.relations, &around.links);
    let Merge {
        remote, mut out, ..
    } = merge;
    out.steps.extend(steps);
    out.base.relations = relations;
    out.base.remote = remote;
    out.base.seen = out.base.seen.max(Some(issue.updated_at));
    out
}

impl Merge<'_> {
    /// Finds out which changes without an answer the tracker has. That a page does not show one proves nothing: it can be older.
    fn settle_attempts(&mut self, how: HowRead) {
        let linked = self.linked;
        let unanswered = linked
            .pending
            .iter()
            .filter(|pending| pending.attempt == Attempt::Unanswered);
        for pending in unanswered {
            if matches!(pending.covers, Covers::Comment | Covers::SubIssue { .. }) {
                continue;
            }
            if self.shows(pending) {
                self.out.settled.push(pending.id.clone());
            } else if how == HowRead::ById {
                self.out.untried.push(pending.id.clone());
            }
        }
    }

    /// Returns whether the tracker has a change of ours, and takes that into the base.
    fn shows(&mut self, pending: &Pending) -> bool {
        let Base { remote, local, .. } = &mut self.out.base;
        match (&pending.change, &pending.covers) {
            (Change::SetTitle { title: sent }, Covers::Title { title }) => {
                let is_there = self.remote.title.trim() == sent.trim();
                if is_there {
                    remote.title.clone_from(&self.remote.title);
                    local.title.clone_from(title);
                }
                is_there
            }
            (Change::SetBody { body: sent }, Covers::Description { description }) => {
                let is_there = self.remote.body.trim_end() == sent.trim_end();
                if is_there {
                    remote.body.clone_from(&self.remote.body);
                    local.description.clone_from(description);
                }
                is_there
            }
            (Change::SetPriority { priority }, Covers::Priority { .. }) => {
                let is_there = self.remote.priority == Some(*priority);
                if is_there {
                    remote.priority = Some(*priority);
                    local.priority = *priority;
                }
                is_there
            }
            (Change::SetState { state: sent }, Covers::State { status }) => {
                let is_there = is_sent(sent, &self.remote.state);
                if is_there {
                    remote.state.clone_from(&self.remote.state);
                    local.status = Some(*status);
                }
                is_there
            }
            (Change::SetLabels { add, remove }, covers) => self.shows_labels(add, remove, covers),
            _ => false,
        }
    }

    /// Returns whether the tracker has a change of labels, and takes what it has of it into the base.
    fn shows_labels(
        &mut self,
        add: &BTreeSet<String>,
        remove: &BTreeSet<String>,
        covers: &Covers,
    ) -> bool {
        let Base { remote, local, .. } = &mut self.out.base;
        let (added, missing): (BTreeSet<String>, BTreeSet<String>) = add
            .iter()
            .cloned()
            .partition(|name| labels::has(&self.remote.labels, name));
        let (left, removed): (BTreeSet<String>, BTreeSet<String>) = remove
            .iter()
            .cloned()
            .partition(|name| labels::has(&self.remote.labels, name));
        let is_there = match covers {
            Covers::Priority { priority } => {
                priority::change(self.settings, &self.remote, *priority).is_none()
            }
            Covers::StatusLabel { status } => {
                state::status_label_change(self.settings, &self.remote, *status).is_none()
            }
            _ => missing.is_empty() && left.is_empty(),
        };
        // Of labels that mean one thing together, a part is only ours if it has the label that is added first: what is
        // removed, or replaced by another one, can be a person's edit.
        let is_begun = !add.is_empty() && missing.is_empty();
        if is_there || is_begun || *covers == Covers::Labels {
            remote.labels = labels::changed(&remote.labels, &added, &removed);
        }
        match covers {
            Covers::Labels => {
                local.labels = labels::changed(&local.labels, &added, &removed);
            }
            Covers::Priority { priority } if is_there => local.priority = *priority,
            Covers::StatusLabel { status } if is_there => {
                local.status_label = Some(*status);
            }
            _ => {}
        }
        is_there
    }

    fn title(&mut self, key: &str) {
        let ours = &self.linked.ours.title;
        let incoming = text::title_in(&self.remote.title, key);
        if incoming == text::title_in(&self.out.base.remote.title, key) {
            return;
        }
        if incoming != *ours {
            if self.out.base.local.title != *ours {
                self.conflict(Field::Title, Side::Ours, ours);
            }
            self.out.steps.push(Step::SetTitle {
                title: incoming.clone(),
            });
        }
        self.out.base.local.title = incoming;
    }

    fn description(&mut self) {
        let ours = &self.linked.ours.description;
        let incoming = text::body_in(&self.remote.body);
        if incoming == text::body_in(&self.out.base.remote.body) {
            return;
        }
        if incoming != *ours {
            if self.out.base.local.description != *ours {
                self.conflict(Field::Description, Side::Ours, ours);
            }
            self.out.steps.push(Step::SetDescription {
                description: incoming.clone(),
            });
        }
        self.out.base.local.description = incoming;
    }

    fn labels(&mut self) {
        let ours = &self.linked.ours.labels;
        let there_before = labels::plain(self.settings, &self.out.base.remote.labels);
        let there = labels::plain(self.settings, &self.remote.labels);
        let here_before = labels::plain(self.settings, &self.out.base.local.labels);
        let here = labels::plain(self.settings, ours);
        let (mut add, mut remove) = (BTreeSet::new(), BTreeSet::new());
        let (mut agreed, mut gone) = (BTreeSet::new(), BTreeSet::new());
        let keys: BTreeSet<&String> = there_before.keys().chain(there.keys()).collect();
        for key in keys {
            if there_before.contains_key(key) == there.contains_key(key) {
                continue;
            }
            let is_edited_here = here_before.contains_key(key) != here.contains_key(key);
            let count = ours.len() + add.len() - remove.len();
            match (there.get(key), here.get(key)) {
                (Some(name), None) => {
                    let field = Field::Label(name.clone());
                    if let Some(reason) = labels::label_problem(name, count) {
                        self.out.notes.push(Note::NotTaken { field, reason });
                        continue;
                    }
                    if is_edited_here {
                        self.conflict(field, Side::Ours, "removed");
                    }
                    add.insert(name.clone());
                    agreed.insert(name.clone());
                }
                (None, Some(name)) => {
                    if is_edited_here {
                        self.conflict(Field::Label(name.clone()), Side::Ours, "added");
                    }
                    remove.insert(name.clone());
                    gone.insert(name.clone());
                }
                (Some(_), Some(name)) => {
                    agreed.insert(name.clone());
                }
                (None, None) => {
                    gone.insert(key.clone());
                }
            }
        }
        let local = &mut self.out.base.local;
        local.labels = labels::changed(&local.labels, &agreed, &gone);
        if !(add.is_empty() && remove.is_empty()) {
            self.out.steps.push(Step::SetLabels {
                add: add.into_iter().collect(),
                remove: remove.into_iter().collect(),
            });
        }
    }

    fn priority(&mut self) {
        let ours = self.linked.ours.priority;
        let before = priority::shown(self.settings, &self.out.base.remote);
        let Some(now) = priority::shown(self.settings, &self.remote) else {
            return;
        };
        if before == Some(now) {
            return;
        }
        // where ours agrees, a departure finds out whether anything of it is missing there
        if now == priority::as_shown(self.settings, ours) {
            return;
        }
        if self.out.base.local.priority != ours {
            self.conflict(Field::Priority, Side::Ours, ours.name());
        }
        let priority = now.taken();
        self.out.steps.push(Step::SetPriority { priority });
        self.out.base.local.priority = priority;
    }

    fn state(&mut self) {
        let before = state::meaning(self.settings, &self.out.base.remote, None);
        let labels_before = &self.out.base.remote.labels.clone();
        let now = state::meaning(self.settings, &self.remote, Some(labels_before));
        let names = || self.settings.states.values();
        let is_relabelled = labels::present(labels_before, names())
            != labels::present(&self.remote.labels, names());
        // a closed issue's labels mean no status, so that ours are due again
        if matches!(now, Meaning::Ended(_)) && is_relabelled {
            self.out.base.local.status_label = None;
        }
        let is_unclear = state::is_unclear(self.settings, &self.remote, labels_before);
        let ours = self.linked.ours.state.status();
        // where ours agrees, a departure finds out whether anything of it is missing there
        if !is_unclear && (before == now || now.is(ours)) {
            return;
        }
        let steps = state::steps_to(&before, &now, self.linked).filter(|_| !now.is(ours));
        let Some(steps) = steps else {
            let theirs = self.state_there();
            self.conflict(Field::State, Side::Theirs, &theirs);
            self.out.base.local.status = None;
            self.out.base.local.status_label = None;
            return;
        };
        if self.is_state_unsent(ours) {
            self.conflict(Field::State, Side::Ours, ours.name());
        }
        let after = state::after(&steps, ours);
        // reopened, but not in the status that was chosen there
        if !now.is(after) || is_unclear {
            let theirs = self.state_there();
            self.conflict(Field::State, Side::Theirs, &theirs);
        }
        self.out.base.local.status = now.is(after).then_some(after);
        self.out.base.local.status_label = self.out.base.local.status;
        self.out.steps.extend(steps);
    }

    /// Returns whether the tracker did not yet show a status of ours that differs from the base.
    fn is_state_unsent(&self, ours: IssueStatus) -> bool {
        let Base { remote, local, .. } = &self.out.base;
        let state = state::change(self.settings, remote, ours);
        let label = state::status_label_change(self.settings, remote, ours);
        local.status != Some(ours) && state.is_some()
            || local.status_label != Some(ours) && label.is_some()
    }

    fn state_there(&self) -> String {
        let RemoteState { name, .. } = &self.remote.state;
        let named = labels::present(&self.remote.labels, self.settings.states.values());
        if !labels::have_meaning(self.settings) || named.is_empty() {
            return name.clone();
        }
        let named: Vec<String> = named.into_iter().collect();
        format!("{name}, {}", named.join(", "))
    }

    fn filter(&mut self, mismatch: Option<String>) {
        let status = state::after(&self.out.steps, self.linked.ours.state.status());
        let is_new = self.linked.activity == Activity::NotBegun
            && matches!(status, IssueStatus::Backlog | IssueStatus::Todo);
        match (self.out.base.filter, mismatch) {
            (FilterMatch::Matches, Some(reason)) if is_new => {
                if status == IssueStatus::Todo {
                    let to = IssueStatus::Backlog;
                    self.out.steps.push(Step::Move { to });
                }
                self.out.base.filter = FilterMatch::Shelved;
                self.out.notes.push(Note::ShelvedByFilter { reason });
            }
            (FilterMatch::Matches, Some(reason)) => {
                self.out.base.filter = FilterMatch::Left;
                if !status.is_terminal() {
                    self.out.notes.push(Note::LeftFilter { reason });
                }
            }
            (FilterMatch::Shelved | FilterMatch::Left, None) => {
                let was_shelved = self.out.base.filter == FilterMatch::Shelved;
                let to = self.settings.import_status;
                if was_shelved && is_new && status != to {
                    self.out.steps.push(Step::Move { to });
                }
                self.out.base.filter = FilterMatch::Matches;
                self.out.notes.push(Note::MatchesAgain);
            }
            (FilterMatch::Matches, None) | (FilterMatch::Shelved | FilterMatch::Left, Some(_)) => {}
        }
    }

    fn conflict(&mut self, field: Field, loser: Side, lost: &str) {
        self.out.conflicts.push(Conflict {
            field,
            loser,
            lost: lost.to_owned(),
        });
    }
}

/// Returns whether a state is the one that a change asked for. Without a name, any of its group was asked for.
fn is_sent(sent: &RemoteState, found: &RemoteState) -> bool {
    let is_group = sent.group == found.group;
    let is_named = labels::is_same(&sent.name, &found.name);
    if sent.name.is_empty() {
        is_group
    } else {
        is_named && (is_group || !sent.group.has_ended() && !found.group.has_ended())
    }
}

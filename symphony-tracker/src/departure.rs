//! What an issue of ours changes at the tracker.
//!
//! [`plan_departure`] goes by levels: whatever differs from our side of the base, and is not at the tracker, has to be in the
//! outbox; nothing else is. A newer value replaces one that waits. A change that was sent without an answer is left alone until the
//! issue was read by its id, which the caller does before it sends any change: only then is it known what the tracker has.

use std::collections::BTreeSet;

use symphony_core::config::TrackerSettings;

use crate::base::Base;
use crate::change::{Change, ChangeId};
use crate::linked::{Attempt, Covers, Departing, Field, LinkedIssue, Note};
use crate::{labels, priority, state, text};

/// What to do with the outbox of an issue. All of it is committed in one transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Departure {
    /// The base, in which both sides may now agree on more.
    pub base: Base,
    /// New changes, to be sent in this order.
    pub send: Vec<Departing>,
    /// Waiting changes that are no longer wanted, to be removed from the outbox.
    pub withdraw: Vec<ChangeId>,
    /// What a person should be able to read.
    pub notes: Vec<Note>,
}

/// Decides which changes of fields have to wait in the outbox.
pub fn plan_departure(settings: &TrackerSettings, linked: &LinkedIssue) -> Departure {
    let mut plan = Plan {
        settings,
        linked,
        out: Departure {
            base: linked.base.clone(),
            send: Vec::new(),
            withdraw: Vec::new(),
            notes: Vec::new(),
        },
    };
    plan.title();
    plan.description();
    plan.labels();
    plan.priority();
    plan.state();
    plan.status_label();
    plan.out
}

/// What a field needs.
enum Need {
    /// Ours is as it was when both agreed.
    Nothing,
    /// Ours changed, and the tracker has it already, or never can.
    Agreement,
    /// The tracker has to get it.
    Change(Departing),
}

struct Plan<'a> {
    settings: &'a TrackerSettings,
    linked: &'a LinkedIssue,
    out: Departure,
}

impl Plan<'_> {
    /// Brings the outbox in line with what a field needs. Returns whether both sides agree on it now.
    fn settle(&mut self, is_field: fn(&Covers) -> bool, need: Need) -> bool {
        let waiting = || {
            let pending = self.linked.pending.iter();
            pending.filter(|pending| is_field(&pending.covers))
        };
        if waiting().any(|pending| pending.attempt == Attempt::Unanswered) {
            return false;
        }
        let wanted = match &need {
            Need::Change(departing) => Some(departing),
            Need::Nothing | Need::Agreement => None,
        };
        let kept = waiting().find(|pending| {
            wanted.is_some_and(|wanted| {
                pending.change == wanted.change && pending.covers == wanted.covers
            })
        });
        let kept_id = kept.map(|pending| &pending.id);
        let withdrawn = waiting().filter(|pending| Some(&pending.id) != kept_id);
        self.out
            .withdraw
            .extend(withdrawn.map(|pending| pending.id.clone()));
        match need {
            Need::Nothing => false,
            Need::Agreement => true,
            Need::Change(departing) => {
                if kept.is_none() {
                    self.out.send.push(departing);
                }
                false
            }
        }
    }

    fn title(&mut self) {
        let ours = &self.linked.ours.title;
        let sent = text::title_out(ours, self.linked.text_by);
        let need = if self.linked.base.local.title == *ours {
            Need::Nothing
        } else if self.linked.base.remote.title == sent {
            Need::Agreement
        } else {
            Need::Change(Departing {
                change: Change::SetTitle { title: sent },
                covers: Covers::Title {
                    title: ours.clone(),
                },
            })
        };
        if self.settle(|covers| matches!(covers, Covers::Title { .. }), need) {
            self.out.base.local.title.clone_from(ours);
        }
    }

    fn description(&mut self) {
        let ours = &self.linked.ours.description;
        let remote = &self.linked.base.remote.body;
        let sent = text::body_out(ours, self.linked.text_by);
        let is_changed = self.linked.base.local.description != *ours;
        let need = if !is_changed {
            Need::Nothing
        } else if *remote == sent || text::is_cut(remote) {
            Need::Agreement
        } else {
            Need::Change(Departing {
                change: Change::SetBody { body: sent },
                covers: Covers::Description {
                    description: ours.clone(),
                },
            })
        };
        if self.settle(|covers| matches!(covers, Covers::Description { .. }), need) {
            if text::is_cut(remote) {
                self.out.notes.push(Note::NotSent {
                    field: Field::Description,
                    reason: "the tracker's text is longer than Symphony can hold, and would lose its end"
                        .to_owned(),
                });
            }
            self.out.base.local.description.clone_from(ours);
        }
    }

    fn labels(&mut self) {
        let before = labels::plain(self.settings, &self.linked.base.local.labels);
        let here = labels::plain(self.settings, &self.linked.ours.labels);
        let there = labels::plain(self.settings, &self.linked.base.remote.labels);
        let (mut add, mut remove) = (BTreeSet::new(), BTreeSet::new());
        let (mut agreed, mut gone) = (BTreeSet::new(), BTreeSet::new());
        let keys: BTreeSet<&String> = before.keys().chain(here.keys()).collect();
        for key in keys {
            if before.contains_key(key) == here.contains_key(key) {
                continue;
            }
            match (here.get(key), there.get(key)) {
                (Some(name), None) if labels::can_be_sent(self.settings, name) => {
                    add.insert(name.clone());
                }
                (Some(name), there) => {
                    if there.is_none() {
                        self.out.notes.push(Note::NotSent {
                            field: Field::Label(name.clone()),
                            reason: "the tracker takes no label of this length".to_owned(),
                        });
                    }
                    agreed.insert(name.clone());
                }
                (None, Some(name)) => {
                    remove.insert(name.clone());
                }
                (None, None) => {
                    gone.insert(key.clone());
                }
            }
        }
        let local = &mut self.out.base.local;
        local.labels = labels::changed(&local.labels, &agreed, &gone);
        let need = if add.is_empty() && remove.is_empty() {
            Need::Nothing
        } else {
            Need::Change(Departing {
                change: Change::SetLabels { add, remove },
                covers: Covers::Labels,
            })
        };
        self.settle(|covers| matches!(covers, Covers::Labels), need);
    }

    fn priority(&mut self) {
        let ours = self.linked.ours.priority;
        let base = &self.linked.base;
        let need = if base.local.priority == ours
            || priority::shown(self.settings, &base.remote).is_none()
        {
            Need::Nothing
        } else {
            let change = priority::change(self.settings, &base.remote, ours);
            change.map_or(Need::Agreement, |change| {
                Need::Change(Departing {
                    change,
                    covers: Covers::Priority { priority: ours },
                })
            })
        };
        if self.settle(|covers| matches!(covers, Covers::Priority { .. }), need) {
            self.out.base.local.priority = ours;
        }
    }

    fn state(&mut self) {
        let status = self.linked.ours.state.status();
        let base = &self.linked.base;
        let need = if base.local.status == Some(status) {
            Need::Nothing
        } else {
            let change = state::change(self.settings, &base.remote, status);
            change.map_or(Need::Agreement, |change| {
                Need::Change(Departing {
                    change,
                    covers: Covers::State { status },
                })
            })
        };
        if self.settle(|covers| matches!(covers, Covers::State { .. }), need) {
            self.out.base.local.status = Some(status);
        }
    }

    fn status_label(&mut self) {
        let status = self.linked.ours.state.status();
        let base = &self.linked.base;
        let is_agreed = base.local.status_label == Some(status)
            && !state::has_stale_labels(self.settings, &base.remote, status);
        let need = if is_agreed {
            Need::Nothing
        } else {
            let change = state::status_label_change(self.settings, &base.remote, status);
            change.map_or(Need::Agreement, |change| {
                Need::Change(Departing {
                    change,
                    covers: Covers::StatusLabel { status },
                })
            })
        };
        if self.settle(|covers| matches!(covers, Covers::StatusLabel { .. }), need) {
            self.out.base.local.status_label = Some(status);
        }
    }
}

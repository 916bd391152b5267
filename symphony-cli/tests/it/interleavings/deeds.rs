//! What people and runs do, on both sides.

use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::id::{IssueId, RunId};
use symphony_core::issue::{
    BreakerTarget, DependentsFate, IssueEvent, IssueStatus, Priority, Resolution,
};
use symphony_core::outcome::FailureLimits;
use symphony_core::profile::AgentChoice;
use symphony_core::run::{ProtectionLevel, RunStatus, RunTarget};
use symphony_core::tick::StartRun;
use symphony_runner::order::{Ending, add_issue, edit_issue, end_issue, shift_issue};
use symphony_store::{
    Actor, ClaimLimits, ClaimRequest, Context, GatesAtEnd, IssueEdit, NewIssue, RunFinish, RunKey,
};

use super::case::{Case, Item};
use super::oracle::{Field, Side};
use super::there::{End, LABELS, Who};

/// Most issues that are made at each side.
const ISSUES_MAX: usize = 3;

const PRIORITIES: [Priority; 5] = [
    Priority::None,
    Priority::Urgent,
    Priority::High,
    Priority::Medium,
    Priority::Low,
];

fn person() -> Context {
    Context::human(Timestamp::now())
}

impl Case<'_> {
    pub(super) fn add_there(&mut self) {
        let (title, body) = (self.word("title"), self.word("text"));
        let id = self.there.add(&title, &body, true);
        self.say(format!("there: adds {id} with {title}"));
        self.items.push(Item {
            there: Some(id),
            ..Item::default()
        });
        let item = self.items.len() - 1;
        for (field, value) in [(Field::Title, title), (Field::Body, body)] {
            self.edited(item, field, Side::There, [String::new(), value]);
        }
    }

    /// Somebody does something at the tracker.
    pub(super) fn deed_there(&mut self) {
        let made = self.items.iter().filter(|item| !item.is_part).count();
        if self.chance.below(9) == 0 && made < ISSUES_MAX {
            return self.add_there();
        }
        let item = self.chance.below(self.items.len());
        let Some(id) = self.items[item].there.clone() else {
            return;
        };
        match self.chance.below(9) {
            0 | 1 => {
                let title = self.word("title");
                let before = self.there_value(item, &Field::Title).unwrap();
                self.there.set_title(&id, &title);
                self.edited(item, Field::Title, Side::There, [before, title]);
            }
            2 | 3 => {
                // Without its marker, a part whose making was not answered could not be found again.
                if self.items[item].is_part && self.items[item].here.is_none() {
                    return;
                }
                let body = self.word("text");
                let is_long = self.chance.below(3) == 0;
                let typed = if is_long {
                    format!("{body}\r\nand more")
                } else {
                    body
                };
                let before = self.there_value(item, &Field::Body).unwrap();
                self.there.set_body(&id, &typed);
                let value = typed.replace("\r\n", "\n");
                self.edited(item, Field::Body, Side::There, [before, value]);
            }
            4 => {
                let name = LABELS[self.chance.below(LABELS.len())];
                let before = self.there_value(item, &Field::Label(name)).unwrap();
                let is_on = before == "off";
                self.there.set_label(&id, name, is_on);
                let value = if is_on { "on" } else { "off" }.to_owned();
                self.edited(item, Field::Label(name), Side::There, [before, value]);
            }
            5 if !self.there.is_github() => {
                let priority = self.chance.below(PRIORITIES.len());
                let value = PRIORITIES[priority].name().to_owned();
                let before = self.there_value(item, &Field::Priority).unwrap();
                if before != value {
                    let priority = u8::try_from(priority).expect("there are five");
                    self.there.set_priority(&id, priority);
                    self.edited(item, Field::Priority, Side::There, [before, value]);
                }
            }
            6 => {
                let end = [End::Open, End::Open, End::Done, End::Cancelled][self.chance.below(4)];
                let before = self.there_value(item, &Field::End).unwrap();
                if before != end.word() {
                    self.there.set_end(&id, end);
                    self.edited(
                        item,
                        Field::End,
                        Side::There,
                        [before, end.word().to_owned()],
                    );
                }
            }
            _ => {
                let who = [Who::Commander, Who::Stranger][self.chance.below(2)];
                let text = self.word("remark");
                let comment = self.there.comment(&id, who, &text);
                self.say(format!("there: {who:?} comments on {id}: {text}"));
                self.known.comments.insert(comment, (item, text));
            }
        }
    }

    /// Somebody does something here.
    pub(super) fn deed_here(&mut self) {
        let item = self.chance.below(self.items.len());
        let Some(id) = self.items[item].here.clone() else {
            return;
        };
        match self.chance.below(10) {
            0 | 1 => {
                let title = self.word("title");
                self.edit(item, &id, Field::Title, title);
            }
            2 | 3 => {
                let body = self.word("text");
                self.edit(item, &id, Field::Body, body);
            }
            4 => {
                let name = LABELS[self.chance.below(LABELS.len())];
                let was_on = self.here_value(item, &Field::Label(name)) == Some("on".to_owned());
                let value = if was_on { "off" } else { "on" };
                self.edit(item, &id, Field::Label(name), value.to_owned());
            }
            5 if !self.there.is_github() => {
                let value = PRIORITIES[self.chance.below(PRIORITIES.len())].name();
                if self.here_value(item, &Field::Priority).as_deref() != Some(value) {
                    self.edit(item, &id, Field::Priority, value.to_owned());
                }
            }
            6 => self.end_here(item, &id),
            7 | 8 => self.work(&id),
            _ => self.add_part(&id),
        }
    }

    fn edit(&mut self, item: usize, id: &IssueId, field: Field, value: String) {
        let mut edit = IssueEdit::default();
        match &field {
            Field::Title => edit.title = Some(value.clone()),
            Field::Body => edit.description = Some(value.clone()),
            Field::Priority => edit.priority = Some(value.parse().expect("it is one")),
            Field::Label(name) => {
                let mut labels = self.session.store.issue(id).unwrap().labels;
                labels.retain(|label| label != name);
                if value == "on" {
                    labels.push((*name).to_owned());
                }
                edit.labels = Some(labels);
            }
            Field::End => unreachable!("an end is no edit"),
        }
        let before = self.here_value(item, &field).unwrap();
        edit_issue(&mut self.session, &person(), id, &edit).unwrap();
        self.edited(item, field, Side::Here, [before, value]);
    }

    fn end_here(&mut self, item: usize, id: &IssueId) {
        let before = self.here_value(item, &Field::End).unwrap();
        let end = [End::Open, End::Done, End::Cancelled][self.chance.below(3)];
        if before == end.word() {
            return;
        }
        let done = match end {
            End::Open => shift_issue(&mut self.session, &person(), id, IssueStatus::Todo).map(drop),
            End::Done | End::Cancelled => {
                let resolution = if end == End::Done {
                    Resolution::Done
                } else {
                    Resolution::Cancelled
                };
                let fate = Some(DependentsFate::Keep);
                let ending = Ending::closed(id, resolution, "a person said so", fate).unwrap();
                end_issue(&mut self.session, &person(), &ending).map(drop)
            }
        };
        if let Err(error) = done {
            return self.say(format!("here: {id} does not become {end:?}: {error}"));
        }
        self.edited(
            item,
            Field::End,
            Side::Here,
            [before, end.word().to_owned()],
        );
    }

    /// A run begins and ends: it asks a person, or gives the issue back.
    fn work(&mut self, id: &IssueId) {
        let run = RunId::parse(uuid::Uuid::new_v4().to_string()).unwrap();
        let request = ClaimRequest {
            run: run.clone(),
            start: StartRun {
                project: self.session.project.id.clone(),
                target: RunTarget::Issue(id.clone()),
                agent: AgentType::Worker,
                phase: None,
                attempt: 1,
                provider: "command".into(),
                probes: vec![],
            },
            protection: ProtectionLevel::None,
        };
        let system = Context::system(Timestamp::now());
        let store = &mut self.session.store;
        let claimed = store.claim(&system, &[request], &ClaimLimits::total(8));
        let Ok(claimed) = claimed.unwrap().remove(0) else {
            return;
        };
        self.say(format!("here: a run works on {id}"));
        if self.chance.below(2) == 0 {
            let reason = self.word("question");
            let by = Context {
                actor: Actor::Run(RunKey::of(&claimed)),
                now: Timestamp::now(),
            };
            let event = IssueEvent::AgentBlocked { reason };
            self.session.store.move_issue(&by, id, &event).unwrap();
        }
        let finish = RunFinish {
            run,
            fence: claimed.fence,
            status: RunStatus::Succeeded,
            error: None,
            exit_code: Some(0),
            usage: None,
            output_tail: String::new(),
            metadata: serde_json::Map::new(),
            phase: None,
            gates: GatesAtEnd::Due,
            hold: None,
            ahead: None,
            cap: None,
            limits: FailureLimits {
                max_retries: 15,
                max_backoff_ms: 300_000,
                breaker_target: BreakerTarget::Backlog,
            },
        };
        self.session.store.finish_run(&system, &finish).unwrap();
        self.known.worked_on.insert(id.clone());
    }

    fn add_part(&mut self, parent: &IssueId) {
        let parts = self.items.iter().filter(|item| item.is_part).count();
        let status = self.session.store.issue(parent).unwrap().state.status();
        if parts >= ISSUES_MAX || status.is_terminal() {
            return;
        }
        let (title, body) = (self.word("title"), self.word("text"));
        let new = NewIssue {
            project: self.session.project.id.clone(),
            title: title.clone(),
            description: body,
            status: IssueStatus::Todo,
            priority: Priority::None,
            size: None,
            labels: Vec::new(),
            parent: Some(parent.clone()),
            depends_on: Vec::new(),
            external_id: None,
            choice: AgentChoice::default(),
        };
        let added = add_issue(&mut self.session, &person(), &new).unwrap();
        self.say(format!("here: adds {} to {parent} with {title}", added.id));
        self.items.push(Item {
            here: Some(added.id),
            is_part: true,
            ..Item::default()
        });
        let item = self.items.len() - 1;
        self.edited(item, Field::Title, Side::Here, [String::new(), title]);
    }
}

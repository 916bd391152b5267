//! What has to be so in the end: derived from what people did, not from what Symphony decided.

use std::collections::{BTreeMap, BTreeSet};

use symphony_core::id::IssueId;
use symphony_core::issue::IssueStatus;
use symphony_core::log::{LogEvent, TrackerEntry};
use symphony_store::AuditRequest;

use super::case::Case;
use super::there::{End, LABELS, Seen};

/// A field that both sides have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Field {
    Title,
    Body,
    Label(&'static str),
    Priority,
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Here,
    There,
}

/// An edit since both sides last agreed.
#[derive(Debug, Clone)]
pub(super) struct Edit {
    item: usize,
    field: Field,
    side: Side,
    value: String,
    /// Whether the other side had it at some moment.
    has_arrived: bool,
    /// What this side had before.
    before: String,
    /// How many rounds there had been.
    rounds: usize,
}

/// What people did beside edits.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Comments of people, by their ids there: the issue they are on, and their text.
    pub(super) comments: BTreeMap<String, (usize, String)>,
    /// Issues that a run worked on.
    pub(super) worked_on: BTreeSet<IssueId>,
}

impl Case<'_> {
    fn seen(&self, item: usize) -> Option<Seen> {
        let id = self.items[item].there.as_ref()?;
        self.there.issues().into_iter().find(|seen| seen.id == *id)
    }

    /// Returns what a field is there.
    pub(super) fn there_value(&self, item: usize, field: &Field) -> Option<String> {
        self.seen(item).map(|seen| there_value(&seen, field))
    }

    /// Returns what a field is here.
    pub(super) fn here_value(&self, item: usize, field: &Field) -> Option<String> {
        let id = self.items[item].here.as_ref()?;
        let issue = self.session.store.issue(id).unwrap();
        Some(match field {
            Field::Title => issue.title,
            Field::Body => issue.description,
            Field::Label(name) => on_off(issue.labels.iter().any(|label| label == name)),
            Field::Priority => issue.priority.name().to_owned(),
            Field::End => match issue.state.status() {
                IssueStatus::Done => End::Done.word().to_owned(),
                IssueStatus::Cancelled => End::Cancelled.word().to_owned(),
                _ => End::Open.word().to_owned(),
            },
        })
    }

    /// Remembers an edit. What is taken back before anyone looked is none.
    pub(super) fn edited(&mut self, item: usize, field: Field, side: Side, values: [String; 2]) {
        let [before, value] = values;
        let place = &self.items[item];
        self.say(format!("{side:?}: {place:?} {field:?} becomes {value:?}"));
        let rounds = self.rounds;
        let is_same = |edit: &Edit| edit.item == item && edit.field == field && edit.side == side;
        let unseen = |edit: &Edit| is_same(edit) && edit.rounds == rounds;
        let first = self.edits.iter().find(|edit| unseen(edit));
        if first.is_some_and(|first| first.before == value) {
            self.edits.retain(|edit| !unseen(edit));
            return;
        }
        self.edits.push(Edit {
            item,
            field,
            side,
            value,
            has_arrived: false,
            before,
            rounds,
        });
    }

    /// Looks which issue is which, and which edits the other side has.
    pub(super) fn follow(&mut self) {
        let database = self.bench.connection();
        let mut statement = database
            .prepare("SELECT external_id, issue FROM tracker_link ORDER BY id")
            .unwrap();
        let links: Vec<(String, String)> = statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        for (there, here) in links {
            let here = IssueId::parse(&here).unwrap();
            let place = self.items.iter().position(|item| {
                item.there.as_ref() == Some(&there) || item.here.as_ref() == Some(&here)
            });
            let item = place.unwrap_or_else(|| panic!("{here} is linked with an unknown {there}"));
            let item = &mut self.items[item];
            let (known_there, known_here) = (
                item.there.get_or_insert_with(|| there.clone()),
                item.here.get_or_insert_with(|| here.clone()),
            );
            assert_eq!(
                (&*known_there, &*known_here),
                (&there, &here),
                "a link moved"
            );
        }
        let mut edits = std::mem::take(&mut self.edits);
        for edit in edits.iter_mut().filter(|edit| !edit.has_arrived) {
            let other = match edit.side {
                Side::Here => self.there_value(edit.item, &edit.field),
                Side::There => self.here_value(edit.item, &edit.field),
            };
            edit.has_arrived = other.as_ref() == Some(&edit.value);
        }
        self.edits = edits;
    }

    /// Says whether all is as it has to be when both sides are quiet.
    pub(super) fn judge(&mut self) {
        self.judge_outbox();
        let seen = self.there.issues();
        let linked = self.items.iter().filter_map(|item| item.there.as_ref());
        let linked: BTreeSet<&String> = linked.collect();
        for issue in &seen {
            assert!(
                linked.contains(&issue.id),
                "{issue:?} is there a second time"
            );
        }
        for item in 0..self.items.len() {
            self.judge_item(item);
        }
        self.judge_comments(&seen);
        let found = self.session.store.audit(&AuditRequest::default()).unwrap();
        assert!(found.is_empty(), "{found:#?}");
        self.edits.clear();
    }

    fn judge_outbox(&self) {
        let sql = "SELECT count(*) FROM tracker_change WHERE state = 'refused'";
        let refused: i64 = self
            .bench
            .connection()
            .query_row(sql, [], |row| row.get(0))
            .unwrap();
        assert_eq!((self.waiting(), refused), (0, 0), "all was sent");
    }

    fn judge_item(&mut self, item: usize) {
        let place = self.items[item].clone();
        let (Some(_), Some(here)) = (&place.there, &place.here) else {
            if let Some(seen) = self.seen(item) {
                let is_wanted = seen.is_let_in() && seen.end == End::Open;
                assert!(!is_wanted, "{seen:?} was not taken in");
            } else {
                // A part that ended before it was made there is not wanted there any more.
                let end = self.here_value(item, &Field::End).unwrap();
                assert_ne!(end, End::Open.word(), "{place:?} was not made there");
            }
            return;
        };
        let overruled = self.overruled(here);
        let labels = LABELS.map(Field::Label);
        let mut fields = vec![Field::Title, Field::Body, Field::End];
        fields.extend(labels);
        if !self.there.is_github() {
            fields.push(Field::Priority);
        }
        for field in fields {
            let (ours, theirs) = (
                self.here_value(item, &field).unwrap(),
                self.there_value(item, &field).unwrap(),
            );
            let edits: Vec<Edit> = self
                .edits
                .iter()
                .filter(|edit| edit.item == item && edit.field == field)
                .cloned()
                .collect();
            let key = (item, format!("{field:?}"));
            assert_eq!(ours, theirs, "{field:?} of {place:?}");
            judge_edits(&edits, &ours, &overruled, self.agreed.get(&key));
            self.agreed.insert(key, ours);
        }
        if !overruled.is_empty() {
            self.count("a conflict");
        }
        if place.is_part {
            self.judge_part(item, here);
        }
    }

    /// A part is one there too, of the issue that is its parent here.
    fn judge_part(&self, item: usize, here: &IssueId) {
        let parent = self.session.store.issue(here).unwrap().parent;
        let above = self.items.iter().find(|item| item.here == parent);
        let above = above.and_then(|item| item.there.clone());
        assert_eq!(
            self.seen(item).unwrap().parent,
            above,
            "the parent of {here}"
        );
    }

    /// Returns what the log of an issue says was lost: the field, and the value.
    fn overruled(&self, issue: &IssueId) -> Vec<(String, String)> {
        let events = self.session.store.events_of_issue(issue).unwrap();
        let lost = events.iter().filter_map(|event| match event.event() {
            LogEvent::Tracker(TrackerEntry::Overruled { field, lost, .. }) => Some((field, lost)),
            _ => None,
        });
        lost.collect()
    }

    /// Each comment of a person is here once, and each of ours is there once.
    fn judge_comments(&self, seen: &[Seen]) {
        let database = self.bench.connection();
        let mut statement = database
            .prepare(
                "SELECT created FROM tracker_change WHERE state = 'applied' AND covers ->> '$.covers' = 'comment'",
            )
            .unwrap();
        let made: Vec<Option<String>> = statement
            .query_map([], |row| row.get(0))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        let mut ours = Vec::new();
        for issue in seen {
            let comments = self.there.comments(&issue.id);
            let written = comments.iter().map(|(id, _)| id);
            ours.extend(
                written
                    .filter(|id| !self.known.comments.contains_key(*id))
                    .cloned(),
            );
            let starts = comments
                .iter()
                .filter(|(_, text)| text.contains("started a worker"));
            let starts = starts.count();
            assert!(starts <= 1, "{comments:#?}");
        }
        let recorded: BTreeSet<Option<&String>> = made.iter().map(Option::as_ref).collect();
        let found: BTreeSet<Option<&String>> = ours.iter().map(Some).collect();
        assert_eq!(
            (recorded.len(), &recorded),
            (made.len(), &found),
            "our comments"
        );
        assert_eq!(ours.len(), found.len());
        for (item, text) in self.known.comments.values() {
            let Some(here) = &self.items[*item].here else {
                continue;
            };
            if self.items[*item].there.is_none() {
                continue;
            }
            let comments = self.session.store.comments(here, 1000).unwrap();
            let same = comments.iter().filter(|comment| comment.content == *text);
            assert_eq!(same.count(), 1, "{text} on {here}: {comments:#?}");
        }
    }
}

/// Says whether the last edits of a field are there, or recorded as lost.
fn judge_edits(edits: &[Edit], now: &str, overruled: &[(String, String)], before: Option<&String>) {
    let last = |side: Side| edits.iter().rfind(|edit| edit.side == side);
    let lasts: Vec<&Edit> = [Side::Here, Side::There]
        .into_iter()
        .filter_map(last)
        .collect();
    if lasts.is_empty() {
        if let Some(before) = before {
            assert_eq!(before, now, "it changed, and no one did that");
        }
        return;
    }
    let is_logged = |edit: &Edit| {
        overruled.iter().any(|(field, lost)| match &edit.field {
            Field::Title => field == "title" && lost.contains(&edit.value),
            Field::Body => field == "description" && lost.contains(&edit.value),
            Field::Label(name) => *field == format!("label `{name}`"),
            Field::Priority => field == "priority",
            Field::End => field == "status",
        })
    };
    // What ours cannot follow is overruled: nothing here makes a done issue a cancelled one.
    let is_one = lasts.iter().any(|edit| edit.value == now);
    let is_overruled = lasts.iter().all(|edit| is_logged(edit));
    assert!(
        is_one || is_overruled,
        "{now:?} is none of the last edits: {edits:#?}"
    );
    for edit in lasts.into_iter().filter(|edit| edit.value != now) {
        assert!(
            edit.has_arrived || is_logged(edit),
            "{edit:?} vanished; it is {now:?} now: {edits:#?} {overruled:#?}"
        );
    }
}

fn there_value(seen: &Seen, field: &Field) -> String {
    match field {
        Field::Title => seen.title.trim().to_owned(),
        Field::Body => {
            let body = seen.body.replace("\r\n", "\n");
            let own = body.split("\n\n<!-- symphony:change=").next();
            let own = own.unwrap_or_default().trim_end();
            // The text of a part begins with a line about its parent, until somebody edits it.
            let led = own.strip_prefix("Symphony made this issue as a part of ");
            let led = led.and_then(|led| led.split_once(".\n\n"));
            led.map_or(own, |(_, rest)| rest).to_owned()
        }
        Field::Label(name) => on_off(seen.labels.contains(*name)),
        Field::Priority => {
            let names = ["none", "urgent", "high", "medium", "low"];
            names[usize::from(seen.priority)].to_owned()
        }
        Field::End => seen.end.word().to_owned(),
    }
}

fn on_off(is_on: bool) -> String {
    if is_on { "on" } else { "off" }.to_owned()
}

//! Symphony's side in memory: what a store commits, and the process that syncs.

use std::collections::{BTreeMap, BTreeSet};

use symphony_core::Timestamp;
use symphony_core::config::TrackerSettings;
use symphony_core::id::IssueId;
use symphony_core::issue::{IssueState, IssueStatus, Review};
use symphony_tracker::arrival::{Around, Arrival, HowRead, Reading, plan_arrival};
use symphony_tracker::base::Base;
use symphony_tracker::change::{Applied, Change, ChangeId, Created, Outgoing};
use symphony_tracker::comment::{Discussion, Incoming, KnownComments, read_comment};
use symphony_tracker::confirm::{confirm, link_created};
use symphony_tracker::departure::plan_departure;
use symphony_tracker::linked::{
    Activity, Attempt, Conflict, Covers, Departing, Field, LinkedIssue, LocalIssue, Pending, TextBy,
};
use symphony_tracker::relations::{resolve, waiting};
use symphony_tracker::remote::{ExternalId, Page, RemoteComment, RemoteIssue};

use super::tracker::OWN_USER;
use super::{Edit, Tracker, tracker};
use crate::samples::{at, id};

/// What happens to one change that is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It is applied, and the answer shows the issue.
    WithIssue,
    /// It is applied, and the answer does not show the issue.
    WithoutIssue,
    /// It is applied, and the answer is lost, or the process dies before it is recorded.
    Lost,
    /// A part of it is applied, and the process dies.
    CutShort,
    /// The process dies before it sends.
    NotSent,
}

#[derive(Debug)]
pub(crate) struct Local {
    pub(crate) ours: LocalIssue,
    pub(crate) activity: Activity,
    pub(crate) review: Review,
    pub(crate) text_by: TextBy,
    pub(crate) parent: Option<IssueId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) issue: IssueId,
    pub(crate) base: Base,
    /// The status it was imported in: until ours moves on, its state there stays as it was.
    pub(crate) imported_as: Option<IssueStatus>,
    /// The text that a change of ours made it with.
    pub(crate) made_with: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) target: ExternalId,
    pub(crate) pending: Pending,
}

#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) settings: TrackerSettings,
    pub(crate) tracker: Tracker,
    pub(crate) locals: BTreeMap<IssueId, Local>,
    pub(crate) links: BTreeMap<ExternalId, Link>,
    pub(crate) outbox: Vec<Row>,
    /// Our comments, with their issue and their result.
    pub(crate) written: BTreeMap<ChangeId, (ExternalId, Option<ExternalId>)>,
    pub(crate) taken: BTreeMap<ExternalId, Timestamp>,
    /// Comments of the tracker that are here.
    pub(crate) kept: Vec<ExternalId>,
    pub(crate) conflicts: Vec<(IssueId, Conflict)>,
    pub(crate) edits: Vec<Edit>,
    /// What was sent, with or without an answer.
    pub(crate) sends: Vec<(ExternalId, Covers)>,
    /// What people changed there.
    pub(crate) touched_there: BTreeSet<(ExternalId, Field)>,
    /// What people and agents changed here.
    pub(crate) touched_here: BTreeSet<(IssueId, Field)>,
    cursor: Timestamp,
    /// Pages that were read and not decided on: a crash forgets them.
    pub(crate) pages: Vec<Page>,
    next: u32,
}

impl Model {
    pub(crate) fn new(settings: TrackerSettings) -> Self {
        Self {
            tracker: Tracker::new(settings.clone()),
            settings,
            locals: BTreeMap::new(),
            links: BTreeMap::new(),
            outbox: Vec::new(),
            written: BTreeMap::new(),
            taken: BTreeMap::new(),
            kept: Vec::new(),
            conflicts: Vec::new(),
            edits: Vec::new(),
            sends: Vec::new(),
            touched_there: BTreeSet::new(),
            touched_here: BTreeSet::new(),
            cursor: at(0),
            pages: Vec::new(),
            next: 0,
        }
    }

    pub(crate) fn number(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    pub(crate) fn external_of(&self, issue: &IssueId) -> Option<ExternalId> {
        let mut links = self.links.iter();
        links
            .find(|(_, link)| link.issue == *issue)
            .map(|(external, _)| external.clone())
    }

    pub(crate) fn fetch(&mut self) {
        let page = self.tracker.page(self.cursor);
        self.pages.push(page);
    }

    /// Decides on the first `count` items of a page. Only a whole page moves the cursor.
    pub(crate) fn process(&mut self, page: &Page, count: usize) {
        for issue in page.issues.iter().take(count) {
            self.arrive(issue, HowRead::OnPage);
        }
        let rest = count.saturating_sub(page.issues.len());
        for comment in page.comments.iter().take(rest) {
            self.hear(comment);
        }
        if count >= page.issues.len() + page.comments.len() {
            let issues = page.issues.iter().map(|issue| issue.updated_at);
            let comments = page.comments.iter().map(|comment| comment.updated_at);
            self.cursor = issues.chain(comments).fold(self.cursor, Ord::max);
        }
    }

    /// Reads the issue of the first change of the outbox by its id, and returns the change if it is still wanted.
    pub(crate) fn read_first(&mut self) -> Option<ChangeId> {
        let row = self.outbox.first()?;
        let (change, target) = (row.pending.id.clone(), row.target.clone());
        let now = self.tracker.issues[&target].clone();
        self.arrive(&now, HowRead::ById);
        let mut rows = self.outbox.iter();
        rows.any(|row| row.pending.id == change).then_some(change)
    }

    pub(crate) fn row(&self, change: &ChangeId) -> &Row {
        let mut rows = self.outbox.iter();
        rows.find(|row| row.pending.id == *change).unwrap()
    }

    /// Sends a change after its issue was read.
    pub(crate) fn send(&mut self, change_id: &ChangeId, answer: Answer) {
        let mut rows = self.outbox.iter_mut();
        let row = rows.find(|row| row.pending.id == *change_id).unwrap();
        let covers = row.pending.covers.clone();
        let outgoing = Outgoing {
            id: change_id.clone(),
            target: row.target.clone(),
            change: row.pending.change.clone(),
            made: None,
            was_tried: row.pending.attempt == Attempt::Unanswered,
        };
        // committed before the request: a crash in between must not look as if it had never been sent
        row.pending.attempt = Attempt::Unanswered;
        if answer == Answer::NotSent {
            return;
        }
        let mut applied = self.tracker.apply(&outgoing, answer == Answer::CutShort);
        self.sends.push((outgoing.target.clone(), covers));
        match answer {
            Answer::WithoutIssue => applied.issue = None,
            Answer::WithIssue => {}
            Answer::Lost | Answer::CutShort | Answer::NotSent => return,
        }
        self.record(change_id, &applied);
    }

    fn take_row(&mut self, change: &ChangeId) -> Row {
        let at = self.outbox.iter().position(|row| row.pending.id == *change);
        self.outbox.remove(at.unwrap())
    }

    fn record(&mut self, change: &ChangeId, applied: &Applied) {
        let row = self.take_row(change);
        match &applied.created {
            Some(Created::Comment(comment)) => {
                self.written
                    .insert(change.clone(), (row.target, Some(comment.clone())));
            }
            Some(Created::Issue(issue)) => self.link(&row.pending, issue),
            None => {
                let link = self.links.get_mut(&row.target).unwrap();
                let Pending { change, covers, .. } = &row.pending;
                link.base = confirm(&link.base, change, covers, applied);
            }
        }
    }

    fn link(&mut self, pending: &Pending, issue: &RemoteIssue) {
        let Covers::SubIssue { issue: ours, local } = &pending.covers else {
            panic!("{pending:?}");
        };
        let link = Link {
            issue: ours.clone(),
            base: link_created(&self.settings, &pending.change, local, issue),
            imported_as: None,
            made_with: Some(issue.body.clone()),
        };
        assert_eq!(self.links.insert(issue.id.clone(), link), None);
        assert_eq!(
            self.external_of(ours).as_ref(),
            Some(&issue.id),
            "linked once"
        );
    }

    pub(crate) fn linked(&self, external: &ExternalId) -> Option<LinkedIssue> {
        let link = self.links.get(external)?;
        let local = &self.locals[&link.issue];
        let rows = self.outbox.iter().filter(|row| row.target == *external);
        Some(LinkedIssue {
            ours: local.ours.clone(),
            review: local.review,
            activity: local.activity,
            text_by: local.text_by,
            base: link.base.clone(),
            pending: rows.map(|row| row.pending.clone()).collect(),
        })
    }

    /// Returns an issue of the tracker as each change without an answer would leave it.
    pub(crate) fn unanswered(&self, external: &ExternalId, base: &RemoteIssue) -> Vec<RemoteIssue> {
        let states = self.tracker.states();
        let rows = self
            .outbox
            .iter()
            .filter(|row| row.target == *external && row.pending.attempt == Attempt::Unanswered);
        rows.map(|row| {
            let mut issue = base.clone();
            tracker::set(&mut issue, &row.pending.change, &states, false);
            issue
        })
        .collect()
    }

    fn around(&self) -> Around {
        let links = self.links.iter();
        let rows = self.outbox.iter();
        Around {
            links: links
                .map(|(external, link)| (external.clone(), link.issue.clone()))
                .collect(),
            sub_issues: rows
                .filter_map(|row| match &row.pending.covers {
                    Covers::SubIssue { issue, .. } => Some((row.pending.id.clone(), issue.clone())),
                    _ => None,
                })
                .collect(),
        }
    }

    fn arrive(&mut self, issue: &RemoteIssue, how: HowRead) {
        let linked = self.linked(&issue.id);
        let reading = Reading { issue, how };
        match plan_arrival(&self.settings, reading, linked.as_ref(), &self.around()) {
            Arrival::NotWanted { .. } | Arrival::Unchanged => {}
            Arrival::ReadAgain => {
                assert_eq!(how, HowRead::OnPage, "once is enough");
                let now = self.tracker.issues[&issue.id].clone();
                self.arrive(&now, HowRead::ById);
            }
            Arrival::Created { change, .. } => {
                let row = self.take_row(&change);
                let now = self.tracker.issues[&issue.id].clone();
                self.link(&row.pending, &now);
            }
            Arrival::Import(import) => {
                let ours = id(&format!("SYM-{}", self.number()));
                let state = match import.status {
                    IssueStatus::Todo => IssueState::Todo,
                    _ => IssueState::Backlog,
                };
                let local = Local {
                    ours: LocalIssue {
                        id: ours.clone(),
                        title: import.title,
                        description: import.description,
                        labels: import.labels.into_iter().collect(),
                        priority: import.priority,
                        state,
                    },
                    activity: Activity::NotBegun,
                    review: Review::None,
                    text_by: TextBy::Person,
                    parent: None,
                };
                self.locals.insert(ours.clone(), local);
                let link = Link {
                    issue: ours.clone(),
                    base: import.base,
                    imported_as: Some(import.status),
                    made_with: None,
                };
                self.links.insert(issue.id.clone(), link);
                self.take(&ours, import.steps);
                self.hear_all(&issue.id);
                self.depart(&issue.id);
            }
            Arrival::Changed(changed) => {
                let ours = linked.unwrap().ours.id;
                self.links.get_mut(&issue.id).unwrap().base = changed.base;
                self.take(&ours, changed.steps);
                for change in &changed.settled {
                    self.take_row(change);
                }
                for row in &mut self.outbox {
                    if changed.untried.contains(&row.pending.id) {
                        row.pending.attempt = Attempt::Untried;
                    }
                }
                let conflicts = changed.conflicts.into_iter();
                self.conflicts
                    .extend(conflicts.map(|conflict| (ours.clone(), conflict)));
                self.depart(&issue.id);
            }
        }
        self.resolve_relations();
    }

    fn resolve_relations(&mut self) {
        let links = self.around().links;
        let externals: Vec<ExternalId> = self.links.keys().cloned().collect();
        for external in externals {
            let link = self.links.get_mut(&external).unwrap();
            if waiting(&link.base).is_empty() {
                continue;
            }
            let (steps, base) = resolve(&link.base, &links);
            link.base = base;
            let ours = link.issue.clone();
            self.take(&ours, steps);
        }
    }

    pub(crate) fn depart(&mut self, external: &ExternalId) {
        let linked = self.linked(external).unwrap();
        let departure = plan_departure(&self.settings, &linked);
        self.links.get_mut(external).unwrap().base = departure.base;
        for change in &departure.withdraw {
            let row = self.take_row(change);
            assert_eq!(row.pending.attempt, Attempt::Untried, "its fate is known");
        }
        for departing in departure.send {
            self.push(external, departing);
        }
    }

    pub(crate) fn push(&mut self, target: &ExternalId, departing: Departing) {
        let change = ChangeId::new(format!("00000000-0000-4000-8000-{:012}", self.number()));
        if let Change::AddComment { .. } = departing.change {
            self.written.insert(change.clone(), (target.clone(), None));
        }
        self.outbox.push(Row {
            target: target.clone(),
            pending: Pending {
                id: change,
                change: departing.change,
                covers: departing.covers,
                attempt: Attempt::Untried,
            },
        });
    }

    /// Reads all comments of an issue that was just linked: the cursor may have passed them.
    fn hear_all(&mut self, issue: &ExternalId) {
        let comments: Vec<RemoteComment> = self.tracker.comments.values().cloned().collect();
        for comment in comments.iter().filter(|comment| comment.issue == *issue) {
            self.hear(comment);
        }
    }

    fn hear(&mut self, comment: &RemoteComment) {
        let Some(link) = self.links.get(&comment.issue) else {
            return;
        };
        let ours = self.written.iter();
        let known = KnownComments {
            taken: self.taken.clone(),
            ours: ours
                .filter(|(_, (target, _))| *target == comment.issue)
                .map(|(change, (_, result))| (change.clone(), result.clone()))
                .collect(),
        };
        let own_user = ExternalId::new(OWN_USER);
        let discussion = Discussion {
            known: &known,
            state: &self.locals[&link.issue].ours.state,
            state_since: at(0),
            linked_at: at(0),
            pushed_head: None,
            own_user: Some(&own_user),
        };
        match read_comment(&self.settings, comment, &discussion) {
            Incoming::Ours { settles } => {
                if let Some(change) = settles {
                    let row = self.take_row(&change);
                    let result = Some(comment.id.clone());
                    self.written.insert(change, (row.target, result));
                }
            }
            Incoming::Known => {}
            Incoming::Edited => {
                self.taken.insert(comment.id.clone(), comment.updated_at);
            }
            Incoming::New(_) => {
                self.kept.push(comment.id.clone());
                self.taken.insert(comment.id.clone(), comment.updated_at);
            }
        }
    }

    /// One round without faults.
    pub(crate) fn round(&mut self) {
        self.tracker.tick();
        for _ in 0..self.outbox.len() {
            if let Some(change) = self.read_first() {
                self.send(&change, Answer::WithIssue);
            }
        }
        self.fetch();
        while !self.pages.is_empty() {
            let page = self.pages.remove(0);
            self.process(&page, usize::MAX);
        }
        let externals: Vec<ExternalId> = self.links.keys().cloned().collect();
        for external in externals {
            self.depart(&external);
        }
    }
}

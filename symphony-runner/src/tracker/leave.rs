//! Turns the log of mirrored issues into changes for the tracker.

use std::collections::BTreeMap;

use symphony_core::id::IssueId;
use symphony_core::log::{LogEvent, TrackerEntry};
use symphony_store::{EventRecord, LinkId, LinkNews, TrackerLink};
use symphony_tracker::base::Base;
use symphony_tracker::change::ChangeId;
use symphony_tracker::departure::plan_departure;
use symphony_tracker::linked::{Departing, LocalIssue};
use symphony_tracker::milestone::Written;
use symphony_tracker::sub_issue::plan_sub_issue;
use symphony_workspace::Failpoint;

use super::mirror::{Mirror, as_tracker};
use super::text::entries;
use crate::outreach::stop::Stop;

/// How many entries of the log are looked at in one transaction.
const ENTRIES: u32 = 1_000;

/// What is decided about one link.
struct Leaving {
    link: LinkId,
    base: Option<Base>,
    written: Option<Written>,
    withdraw: Vec<ChangeId>,
    send: Vec<Departing>,
    log: Vec<TrackerEntry>,
}

impl Mirror<'_> {
    /// Looks at the log since the last time, and puts what the tracker has to get into the outbox. An entry is looked at once: the
    /// changes and how far the log was read are one transaction.
    pub(super) fn leave(&mut self) -> Result<(), Stop> {
        loop {
            let store = &self.session.store;
            let news = store.events_after(self.record.seen_event, ENTRIES)?;
            let Some(last) = news.last().map(|entry| entry.id) else {
                return Ok(());
            };
            let mut by_issue: BTreeMap<IssueId, Vec<EventRecord>> = BTreeMap::new();
            let is_all = news.len() < usize::try_from(ENTRIES).unwrap_or(usize::MAX);
            for entry in news {
                if let Some(issue) = entry.issue.clone() {
                    by_issue.entry(issue).or_default().push(entry);
                }
            }
            let mut leaving = Vec::new();
            for (issue, entries) in &by_issue {
                leaving.extend(self.leaving(issue, entries)?);
            }
            let news: Vec<_> = leaving.iter().map(Leaving::news).collect();
            let context = as_tracker();
            self.session
                .store
                .settle_log(&context, self.record.id, &news, last)?;
            self.record.seen_event = last;
            Failpoint::TrackerLeft.reach();
            if is_all {
                return Ok(());
            }
        }
    }

    fn leaving(&mut self, issue: &IssueId, news: &[EventRecord]) -> Result<Option<Leaving>, Stop> {
        let link = self.session.store.link_of_issue(self.record.id, issue)?;
        match link {
            Some(link) => self.leaving_linked(&link, issue, news).map(Some),
            None => self.leaving_subtask(issue, news),
        }
    }

    fn leaving_linked(
        &mut self,
        link: &TrackerLink,
        issue: &IssueId,
        news: &[EventRecord],
    ) -> Result<Leaving, Stop> {
        let (linked, _) = self.session.store.linked_issue(link, issue)?;
        let departure = plan_departure(self.settings, &linked);
        let (written, comments) = self.milestones(link, issue, news)?;
        let mut send = departure.send;
        send.extend(comments);
        Ok(Leaving {
            link: link.id,
            base: Some(departure.base),
            written: Some(written),
            withdraw: departure.withdraw,
            send,
            log: entries(&self.settings.name, &[], &departure.notes),
        })
    }

    /// Puts the parts of an issue into the outbox that were made before it had a link: their entries of the log were read then, and
    /// there was no issue at the tracker that they could be a part of.
    pub(super) fn leave_parts(&mut self, link: &TrackerLink, issue: &IssueId) -> Result<(), Stop> {
        let store = &self.session.store;
        let mut send = Vec::new();
        for part in store.unmade_parts(self.record.id, issue)? {
            let (ours, by) = store.unlinked_issue(&part)?;
            let local = LocalIssue::from(&ours);
            send.extend(plan_sub_issue(self.settings, &link.key, &local, by));
        }
        let news = LinkNews {
            send: &send,
            ..LinkNews::of(link.id)
        };
        Ok(self.session.store.settle_link(&as_tracker(), &news)?)
    }

    /// A new part of a mirrored issue is made at the tracker too.
    fn leaving_subtask(
        &self,
        issue: &IssueId,
        news: &[EventRecord],
    ) -> Result<Option<Leaving>, Stop> {
        let is_new = |entry: &EventRecord| matches!(entry.event(), LogEvent::IssueAdded { .. });
        if !news.iter().any(is_new) {
            return Ok(None);
        }
        let store = &self.session.store;
        let (ours, by) = match store.unlinked_issue(issue) {
            Ok(found) => found,
            // Deleted since.
            Err(symphony_store::StoreError::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let Some(parent) = &ours.parent else {
            return Ok(None);
        };
        let Some(link) = store.link_of_issue(self.record.id, parent)? else {
            return Ok(None);
        };
        let departing = plan_sub_issue(self.settings, &link.key, &LocalIssue::from(&ours), by);
        Ok(departing.map(|departing| Leaving {
            link: link.id,
            base: None,
            written: None,
            withdraw: Vec::new(),
            send: vec![departing],
            log: Vec::new(),
        }))
    }
}

impl Leaving {
    fn news(&self) -> LinkNews<'_> {
        LinkNews {
            base: self.base.as_ref(),
            written: self.written.as_ref(),
            withdraw: &self.withdraw,
            send: &self.send,
            entries: &self.log,
            ..LinkNews::of(self.link)
        }
    }
}

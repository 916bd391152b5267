//! One round with one tracker.

use std::collections::BTreeSet;

use symphony_core::Timestamp;
use symphony_core::config::TrackerSettings;
use symphony_core::id::IssueId;
use symphony_core::log::TrackerEntry;
use symphony_store::{Context, LinkId, LinkNews, Store, TrackerHold, TrackerRecord};
use symphony_sync::Tracker;
use symphony_tracker::base::Base;
use symphony_tracker::change::ChangeId;
use symphony_tracker::departure::plan_departure;
use symphony_tracker::fault::Fault;
use symphony_tracker::linked::{Attempt, LinkedIssue};
use symphony_tracker::wait::{Next, Request, after_fault};
use symphony_workspace::Failpoint;

use super::report::SyncReport;
use super::text::entries;
use crate::error::RunnerError;
use crate::outreach::stop::Stop;
use crate::session::Session;

/// Most pages that one round reads; the next one goes on from there. GitHub's have 100 issues each.
const PAGES_MAX: usize = 100;

/// What a round works with.
pub(super) struct Mirror<'a> {
    pub(super) session: &'a mut Session,
    pub(super) settings: &'a TrackerSettings,
    pub(super) client: &'a dyn Tracker,
    pub(super) record: TrackerRecord,
    pub(super) report: SyncReport,
    /// Whether all comments on the issues of the page at hand are still to come.
    pub(super) has_all_comments: bool,
}

impl Mirror<'_> {
    /// Does one round. A fault of the tracker holds it, and is in the report.
    pub(super) async fn round(&mut self) -> Result<(), RunnerError> {
        match self.exchange().await {
            Ok(()) => Ok(()),
            Err(Stop::Fault(fault)) => {
                let store = &mut self.session.store;
                self.report.hold = Some(hold_tracker(store, &self.record, fault)?);
                Ok(())
            }
            Err(Stop::Error(error)) => Err(error),
        }
    }

    async fn exchange(&mut self) -> Result<(), Stop> {
        self.resume()?;
        self.learn_own_user().await?;
        // What waits goes first: a look would otherwise find our own edits missing there, and have to reason about it.
        let refused = readable(self.send().await)?;
        self.read().await?;
        self.resolve_relations()?;
        self.leave()?;
        if let Some(fault) = refused {
            return Err(Stop::Fault(fault));
        }
        self.send().await?;
        self.keep_hold()
    }

    /// Keeps showing that the token may not write while what it may not write is put off: the reading has ended the hold.
    fn keep_hold(&mut self) -> Result<(), Stop> {
        let hold = self.record.hold.as_ref();
        let Some(hold) = hold.filter(|hold| matches!(hold.fault, Fault::ReadOnly { .. })) else {
            return Ok(());
        };
        let store = &mut self.session.store;
        let is_waiting = !store.next_changes(self.record.id, 1)?.is_empty();
        if self.report.sent > 0 || !is_waiting {
            return Ok(());
        }
        let context = as_tracker();
        store.hold_tracker(&context, self.record.id, hold, self.record.tries)?;
        self.report.hold = Some(hold.clone());
        Ok(())
    }

    /// Learns who the token is, before anything is read for the first time: a marker in a comment of someone else claims nothing.
    async fn learn_own_user(&mut self) -> Result<(), Stop> {
        if self.record.own_user.is_some() || !self.record.cursor.as_str().is_empty() {
            return Ok(());
        }
        let Some(user) = self.client.check().await?.user else {
            return Ok(());
        };
        let context = as_tracker();
        let store = &mut self.session.store;
        store.note_own_user(&context, self.record.id, &user.id)?;
        self.record.own_user = Some(user.id);
        Ok(())
    }

    async fn read(&mut self) -> Result<(), Stop> {
        let is_whole = self.record.cursor.as_str().is_empty();
        let mut read = BTreeSet::new();
        for _ in 0..PAGES_MAX {
            let page = self.client.changed(&self.record.cursor).await?;
            self.has_all_comments = page.has_all_comments;
            Failpoint::TrackerRead.reach();
            read.extend(page.issues.iter().map(|issue| issue.id.clone()));
            for issue in &page.issues {
                self.arrive(issue).await?;
            }
            for comment in &page.comments {
                self.hear(comment)?;
            }
            // After all of the page is carried out: a death before this reads it again, which changes nothing twice.
            let context = as_tracker();
            self.session.store.advance_tracker(
                &context,
                self.record.id,
                &page.next,
                !page.has_more,
            )?;
            self.record.cursor = page.next;
            self.has_all_comments = false;
            if !page.has_more {
                if is_whole {
                    self.look_for_missing(&read).await?;
                }
                break;
            }
        }
        Ok(())
    }

    /// Writes what a decision about a linked issue changed, with what follows from it for the outbox: in one transaction.
    pub(super) fn settle(
        &mut self,
        link: LinkId,
        issue: &IssueId,
        news: Settling<'_>,
    ) -> Result<(), Stop> {
        let record = self.session.store.link(link)?;
        let (mut linked, _) = self.session.store.linked_issue(&record, issue)?;
        linked.base = news.base.clone();
        note_known(&mut linked, news.settled, news.untried);
        let departure = plan_departure(self.settings, &linked);
        let mut log = news.entries;
        log.extend(entries(&self.settings.name, &[], &departure.notes));
        let context = as_tracker();
        self.session.store.settle_link(
            &context,
            &LinkNews {
                link,
                base: Some(&departure.base),
                written: None,
                withdraw: &departure.withdraw,
                settled: news.settled,
                untried: news.untried,
                send: &departure.send,
                entries: &log,
            },
        )?;
        Failpoint::TrackerSettled.reach();
        Ok(())
    }
}

/// Returns what keeps a round from writing and not from reading.
fn readable(sent: Result<(), Stop>) -> Result<Option<Fault>, Stop> {
    match sent {
        Ok(()) => Ok(None),
        Err(Stop::Fault(fault @ Fault::ReadOnly { .. })) => Ok(Some(fault)),
        Err(other) => Err(other),
    }
}

/// Returns who writes what came from a tracker, now.
pub(super) fn as_tracker() -> Context {
    Context::tracker(None, Timestamp::now())
}

/// Returns how long a tracker or a forge is put aside after `tries` failed looks; `before` is the hold that it had.
pub(crate) fn hold_after(
    fault: Fault,
    before: Option<&TrackerHold>,
    tries: u32,
    place: &str,
    now: Timestamp,
) -> TrackerHold {
    let until = match after_fault(&fault, Request::Look, tries, place, now) {
        Next::HoldUntil { until, .. } | Next::WaitUntil { until } | Next::RetryAt { at: until } => {
            until
        }
        Next::CheckPlace | Next::GiveUp { .. } => now,
    };
    TrackerHold {
        since: before.map_or(now, |hold| hold.since),
        until,
        fault,
    }
}

/// Puts a tracker aside.
pub(super) fn hold_tracker(
    store: &mut Store,
    record: &TrackerRecord,
    fault: Fault,
) -> Result<TrackerHold, RunnerError> {
    let now = Timestamp::now();
    let tries = record.tries.saturating_add(1);
    let hold = hold_after(fault, record.hold.as_ref(), tries, &record.place, now);
    store.hold_tracker(&Context::tracker(None, now), record.id, &hold, tries)?;
    Ok(hold)
}

/// What a decision about a linked issue changed.
pub(super) struct Settling<'a> {
    pub(super) base: &'a Base,
    pub(super) settled: &'a [ChangeId],
    pub(super) untried: &'a [ChangeId],
    pub(super) entries: Vec<TrackerEntry>,
}

/// Applies to the outbox as it was read what is now known of its changes.
fn note_known(linked: &mut LinkedIssue, settled: &[ChangeId], untried: &[ChangeId]) {
    linked
        .pending
        .retain(|change| !settled.contains(&change.id));
    for change in &mut linked.pending {
        if untried.contains(&change.id) {
            change.attempt = Attempt::Untried;
        }
    }
}

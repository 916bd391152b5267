//! Sends what waits in the outbox.

use std::collections::BTreeSet;

use symphony_core::Timestamp;
use symphony_store::{ChangeResult, OutboxChange, TrackerLink};
use symphony_tracker::arrival::HowRead;
use symphony_tracker::change::{Applied, Change, Created};
use symphony_tracker::confirm::{confirm, give_up, link_created};
use symphony_tracker::fault::Fault;
use symphony_tracker::linked::Covers;
use symphony_tracker::remote::ExternalId;
use symphony_tracker::wait::{Next, Request, after_fault};
use symphony_workspace::Failpoint;

use super::mirror::{Mirror, as_tracker};
use crate::outreach::stop::Stop;

/// How many changes are taken from the outbox at a time: the first one of each issue.
const BATCH: u32 = 50;
/// Most changes that one round sends. GitHub asks for at most 80 requests a minute that create something; what is left goes with
/// the next round.
const SENDS_MAX: usize = 400;

impl Mirror<'_> {
    /// Sends every change that is due.
    pub(super) async fn send(&mut self) -> Result<(), Stop> {
        // A change that was put off stays the first of its issue, and must not be looked at again in this round.
        let mut passed: BTreeSet<String> = BTreeSet::new();
        for _ in 0..SENDS_MAX {
            let now = Timestamp::now();
            let waiting = self.session.store.next_changes(self.record.id, BATCH)?;
            let next = waiting.into_iter().find(|change| {
                change.due_at <= now && !passed.contains(change.outgoing.id.as_str())
            });
            let Some(change) = next else {
                return Ok(());
            };
            passed.insert(change.outgoing.id.as_str().to_owned());
            self.send_one(&change).await?;
        }
        Ok(())
    }

    async fn send_one(&mut self, change: &OutboxChange) -> Result<(), Stop> {
        let link = self.session.store.link(change.link)?;
        if !creates(&change.outgoing.change) {
            // No tracker has conditional writes, so the last look is right before the write. It may find that the change is already
            // there, or lost against an edit.
            self.look_again(&link).await?;
        }
        let id = &change.outgoing.id;
        let Some(change) = self.session.store.waiting_change(self.record.id, id)? else {
            return Ok(());
        };
        // Recorded before it is sent: if this process dies before it records the answer, the next attempt knows that the tracker may
        // have it.
        let context = as_tracker();
        self.session.store.begin_change(&context, id)?;
        Failpoint::TrackerSending.reach();
        let mut outgoing = change.outgoing.clone();
        if let Covers::SubIssue { issue, .. } = &change.covers {
            let made = self.session.store.link_of_issue(self.record.id, issue)?;
            outgoing.made = made.map(|link| link.external);
        }
        match self.client.apply(&outgoing).await {
            Ok(applied) => self.record_applied(&change, &applied).await,
            Err(fault) => self.record_fault(&change, fault).await,
        }
    }

    /// Reads a linked issue by its id and takes over what is found.
    pub(super) async fn look_again(&mut self, link: &TrackerLink) -> Result<(), Stop> {
        let Some(ours) = &link.issue else {
            return Ok(());
        };
        let found = self
            .client
            .issues(std::slice::from_ref(&link.external))
            .await?;
        match found.first() {
            Some(issue) => self.arrive_linked(link, ours, issue, HowRead::ById).await,
            None => self.unlink(link).await,
        }
    }

    async fn record_applied(
        &mut self,
        change: &OutboxChange,
        applied: &Applied,
    ) -> Result<(), Stop> {
        Failpoint::TrackerSent.reach();
        let outgoing = &change.outgoing;
        if let (Some(Created::Issue(issue)), Covers::SubIssue { issue: ours, local }) =
            (&applied.created, &change.covers)
        {
            // The link first: if this dies before the change is recorded, the next attempt finds the issue there, and the link here.
            let base = link_created(self.settings, &outgoing.change, local, issue);
            self.link_created_issue(issue, ours, &base).await?;
        }
        let link = self.session.store.link(change.link)?;
        let base = confirm(&link.base, &outgoing.change, &change.covers, applied);
        let created = applied.created.as_ref().map(created_id);
        let context = as_tracker();
        self.session.store.end_change(
            &context,
            change,
            &ChangeResult::Applied {
                created,
                base: &base,
            },
        )?;
        self.report.sent += 1;
        Ok(())
    }

    /// Records a fault: of this change alone, or of the tracker, which ends the round.
    async fn record_fault(&mut self, change: &OutboxChange, fault: Fault) -> Result<(), Stop> {
        let fault = match fault {
            // It may read, or this round would not have come so far.
            Fault::Forbidden { action, detail } => Fault::ReadOnly { action, detail },
            other => other,
        };
        let tries = change.tries.saturating_add(1);
        let place = self.record.place.clone();
        let now = Timestamp::now();
        let mut next = after_fault(&fault, Request::Change, tries, &place, now);
        if next == Next::CheckPlace {
            // Is it this issue that is gone, or the whole place? An answer of the place tells; without one, its fault holds the tracker.
            self.client.check().await?;
            next = after_fault(&fault, Request::ChangeInKnownPlace, tries, &place, now);
        }
        match next {
            Next::GiveUp { .. } if self.is_target_gone(change, &fault).await? => {
                let link = self.session.store.link(change.link)?;
                self.unlink(&link).await
            }
            Next::GiveUp { reason } => self.give_up(change, &reason),
            Next::RetryAt { at } => self.put_off(change, at, &fault, true),
            Next::WaitUntil { until } | Next::HoldUntil { until, .. } => {
                self.put_off(change, until, &fault, false)
            }
            Next::CheckPlace => self.put_off(change, now, &fault, false),
        }
    }

    /// Returns whether a change was refused because its issue is not there any more.
    async fn is_target_gone(&self, change: &OutboxChange, fault: &Fault) -> Result<bool, Stop> {
        if !matches!(fault, Fault::NotFound { .. }) {
            return Ok(false);
        }
        let target = std::slice::from_ref(&change.outgoing.target);
        Ok(self.client.issues(target).await?.is_empty())
    }

    /// Ends a change that the tracker will never take. The base says so, or the same change would be decided again at once.
    fn give_up(&mut self, change: &OutboxChange, reason: &str) -> Result<(), Stop> {
        let link = self.session.store.link(change.link)?;
        let base = give_up(&link.base, &change.outgoing.change, &change.covers);
        let result = ChangeResult::Refused {
            problem: reason,
            base: &base,
        };
        let context = as_tracker();
        self.session.store.end_change(&context, change, &result)?;
        self.report.refused += 1;
        let text = format!("a change of {} was refused: {reason}", link.key);
        self.report.problems.push(text);
        Ok(())
    }

    /// Keeps a change for later, and ends the round: what stopped this change stops the others.
    fn put_off(
        &mut self,
        change: &OutboxChange,
        due_at: Timestamp,
        fault: &Fault,
        counts: bool,
    ) -> Result<(), Stop> {
        let problem = fault.to_string();
        let result = ChangeResult::PutOff {
            due_at,
            problem: &problem,
            counts,
        };
        let context = as_tracker();
        self.session.store.end_change(&context, change, &result)?;
        Err(Stop::Fault(fault.clone()))
    }
}

const fn creates(change: &Change) -> bool {
    matches!(
        change,
        Change::AddComment { .. } | Change::AddSubIssue { .. }
    )
}

fn created_id(created: &Created) -> &ExternalId {
    match created {
        Created::Comment(id) => id,
        Created::Issue(issue) => &issue.id,
    }
}

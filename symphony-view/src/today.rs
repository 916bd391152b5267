//! What was spent today, and when something is due by itself: `status`, `run` and `tick --wait` show it in the same form.

use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::id::{IssueId, ProjectId};
use symphony_core::spending::Spent;
use symphony_core::tick::{Hold, HoldScope};
use symphony_core::wording::counted;
use symphony_store::{Store, StoreError};

use crate::text::{Clock, Page};

/// What was spent today, and when something is due.
#[derive(Debug, Clone, Serialize)]
pub struct TodayView {
    /// What runs spent today (UTC).
    pub spent_today: SpentView,
    /// When something is due by itself: an appointment, or the end of a hold.
    pub next_due_at: Option<Timestamp>,
    /// The issue whose appointment that is.
    #[serde(skip)]
    next_issue: Option<IssueId>,
}

/// What was spent.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct SpentView {
    /// Tokens of all kinds.
    pub tokens: u64,
    /// What they cost, in US dollars.
    pub cost_usd: f64,
}

impl From<Spent> for SpentView {
    fn from(spent: Spent) -> Self {
        Self::default().and(spent)
    }
}

impl SpentView {
    fn and(self, spent: Spent) -> Self {
        Self {
            tokens: self.tokens.saturating_add(spent.tokens.get()),
            cost_usd: self.cost_usd + spent.usd.usd(),
        }
    }
}

impl TodayView {
    /// Reads it of one project, or of all that share the database.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn load(
        store: &Store,
        project: Option<&ProjectId>,
        holds: &[Hold],
        now: Timestamp,
    ) -> Result<Self, StoreError> {
        let mut spent_today = SpentView::default();
        match project {
            Some(project) => spent_today = spent_today.and(store.spent_today(project, now)?),
            None => {
                for project in store.projects()? {
                    spent_today = spent_today.and(store.spent_today(&project.id, now)?);
                }
            }
        }
        let retries = store.retries(project)?;
        let concerns = |hold: &&Hold| match &hold.scope {
            HoldScope::Project(id) | HoldScope::Gates(id) => {
                project.is_none_or(|project| id == project)
            }
            HoldScope::Provider(_) | HoldScope::Model { .. } | HoldScope::Everything => true,
        };
        let ends = holds.iter().filter(concerns).map(|hold| hold.until);
        let due = retries.iter().map(|retry| retry.due_at);
        let next_due_at = due
            .chain(ends)
            .filter(|at| *at > now && *at != Timestamp::MAX)
            .min();
        let next = retries
            .iter()
            .find(|retry| Some(retry.due_at) == next_due_at);
        Ok(Self {
            spent_today,
            next_due_at,
            next_issue: next.map(|retry| retry.issue.clone()),
        })
    }

    /// Says what is tried again by itself next, and when.
    pub fn next(&self, clock: &Clock) -> Option<String> {
        let due = clock.until(self.next_due_at?);
        let what = self.next_issue.as_ref();
        Some(what.map_or_else(
            || format!("the next try is {due}"),
            |issue| format!("{issue} is tried again {due}"),
        ))
    }

    /// Returns what there is to say, by its name.
    pub fn fields(&self, clock: &Clock) -> Vec<(&'static str, String)> {
        let due = self.next_due_at.map(|due| ("next due", clock.until(due)));
        let SpentView { tokens, cost_usd } = self.spent_today;
        let cost = if cost_usd > 0.0 {
            format!(", ${cost_usd:.2}")
        } else {
            String::new()
        };
        let spent = (tokens > 0).then(|| {
            let tokens = counted(tokens, "token");
            ("spent today", format!("{tokens}{cost} (UTC)"))
        });
        due.into_iter().chain(spent).collect()
    }

    /// Writes it.
    pub fn write(&self, page: &mut Page) {
        for (name, value) in self.fields(page.clock()) {
            page.field(name, &value);
        }
    }
}

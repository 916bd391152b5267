//! Caps of spending: how much was spent, and which cap it reaches (spec: orchestrator, "Spending caps").
//!
//! Tokens are all of a run's tokens, those of the cache included, as `status` shows them. A day is a day of UTC.

use std::fmt;

use crate::Timestamp;
use serde::{Deserialize, Serialize};

use crate::closed_set::closed_set;
use crate::config::{Spending, SpendingCap};
use crate::failure::ErrorClass;
use crate::id::ProjectId;
use crate::run::Usage;
use crate::tick::{Hold, HoldScope};
use crate::unit::{Tokens, UsdMicros};

/// Milliseconds of a day.
pub const DAY_MS: i64 = 86_400_000;

/// What was spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// The tokens.
    pub tokens: Tokens,
    /// In money, as far as providers reported it.
    pub usd: UsdMicros,
}

impl Spent {
    /// Returns what a run spent.
    pub fn of(usage: &Usage) -> Self {
        Self {
            tokens: usage.input_tokens
                + usage.output_tokens
                + usage.cache_read_tokens
                + usage.cache_creation_tokens,
            usd: usage.cost.unwrap_or_default(),
        }
    }

    /// Adds what was spent since an earlier sum.
    fn grown(self, earlier: Self, later: Self) -> Self {
        let tokens = later.tokens.get().saturating_sub(earlier.tokens.get());
        let usd = later.usd.get().saturating_sub(earlier.usd.get());
        Self {
            tokens: self.tokens + Tokens::new(tokens),
            usd: self.usd + UsdMicros::new(usd),
        }
    }
}

/// What a project spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SpentByProject {
    /// Since it was added.
    pub in_all: Spent,
    /// On this day.
    pub today: Spent,
}

/// What is recorded as spent by a run, and by everything that shares a cap with it, the run included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SpentSoFar {
    /// By the run.
    pub run: Spent,
    /// On its issue; `None` for a run without one.
    pub issue: Option<Spent>,
    /// By its project.
    pub project: Spent,
    /// By its project on this day.
    pub day: Spent,
}

impl SpentSoFar {
    /// Returns the sums including what the run has used so far.
    #[must_use]
    pub fn with(&self, usage: &Usage) -> Self {
        let now = Spent::of(usage);
        Self {
            run: now,
            issue: self.issue.map(|spent| spent.grown(self.run, now)),
            project: self.project.grown(self.run, now),
            day: self.day.grown(self.run, now),
        }
    }

    fn of(&self, scope: CapScope) -> Option<Spent> {
        match scope {
            CapScope::Issue => self.issue,
            CapScope::Project => Some(self.project),
            CapScope::Day => Some(self.day),
            CapScope::Run => Some(self.run),
        }
    }
}

closed_set!(
    /// What a cap covers, the most decisive first: a human has to raise the first two, midnight resets the third.
    CapScope, "spending cap", {
        /// One issue: it is blocked.
        Issue = "issue",
        /// One project: it is on hold.
        Project = "project",
        /// One project on one day: it is on hold until the next.
        Day = "day",
        /// One run: it is ended.
        Run = "run",
    }
);

/// What is capped, with the cap and the amount spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "unit")]
pub enum CapAmount {
    /// Tokens.
    Tokens {
        /// The cap.
        limit: Tokens,
        /// What was spent.
        spent: Tokens,
    },
    /// Money.
    Usd {
        /// The cap.
        limit: UsdMicros,
        /// What was spent.
        spent: UsdMicros,
    },
}

/// A cap that is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapReached {
    /// What it covers.
    pub scope: CapScope,
    /// How much it is.
    pub amount: CapAmount,
}

impl fmt::Display for CapReached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scope = self.scope;
        let what = match scope {
            CapScope::Day => "of the project's day",
            CapScope::Issue => "of the issue",
            CapScope::Project => "of the project",
            CapScope::Run => "of the run",
        };
        match self.amount {
            CapAmount::Tokens { limit, spent } => write!(
                f,
                "spending cap {what} reached: {spent} of {limit} tokens (spending.{scope}.tokens)"
            ),
            CapAmount::Usd { limit, spent } => write!(
                f,
                "spending cap {what} reached: {spent} of {limit} (spending.{scope}.usd)"
            ),
        }
    }
}

/// Returns the cap of a scope.
const fn cap_of(caps: &Spending, scope: CapScope) -> SpendingCap {
    match scope {
        CapScope::Issue => caps.issue,
        CapScope::Project => caps.project,
        CapScope::Day => caps.day,
        CapScope::Run => caps.run,
    }
}

fn reached(scope: CapScope, cap: SpendingCap, spent: Spent) -> Option<CapReached> {
    let tokens = cap
        .tokens
        .filter(|limit| spent.tokens >= *limit)
        .map(|limit| CapAmount::Tokens {
            limit,
            spent: spent.tokens,
        });
    let usd = cap
        .usd
        .filter(|limit| spent.usd >= *limit)
        .map(|limit| CapAmount::Usd {
            limit,
            spent: spent.usd,
        });
    let amount = tokens.or(usd)?;
    Some(CapReached { scope, amount })
}

/// Returns whether any cap is set.
pub fn is_capped(caps: &Spending) -> bool {
    *caps != Spending::default()
}

/// Returns the most decisive cap that is reached.
pub fn cap_reached(caps: &Spending, spent: &SpentSoFar) -> Option<CapReached> {
    CapScope::ALL
        .iter()
        .find_map(|scope| reached(*scope, cap_of(caps, *scope), spent.of(*scope)?))
}

/// Returns the cap of the issue, when it is reached.
pub fn issue_cap_reached(caps: &Spending, spent: &SpentSoFar) -> Option<CapReached> {
    reached(CapScope::Issue, caps.issue, spent.issue?)
}

/// Returns how much money the run may still spend before the first cap is reached: for providers that enforce a budget
/// themselves, since most report the cost only at the end.
pub fn usd_left(caps: &Spending, spent: &SpentSoFar) -> Option<UsdMicros> {
    let left = |scope: &CapScope| {
        let limit = cap_of(caps, *scope).usd?;
        let spent = spent.of(*scope)?.usd;
        Some(UsdMicros::new(limit.get().saturating_sub(spent.get())))
    };
    CapScope::ALL.iter().filter_map(left).min()
}

/// Returns the number of a day, as spending is added up.
pub fn day_number(at: Timestamp) -> i64 {
    at.as_millisecond().div_euclid(DAY_MS)
}

/// Returns when the day began.
pub fn day_start(at: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(day_number(at).saturating_mul(DAY_MS)).unwrap_or(at)
}

/// Returns the hold that the caps of a project put on it.
///
/// It ends when the day does; one of the whole project ends at [`Timestamp::MAX`], that is when a human raises the cap.
pub fn cap_hold(
    project: &ProjectId,
    caps: &Spending,
    spent: SpentByProject,
    now: Timestamp,
) -> Option<Hold> {
    let next_day = (day_number(now) + 1).saturating_mul(DAY_MS);
    let tomorrow = Timestamp::from_millisecond(next_day).unwrap_or(Timestamp::MAX);
    let (cap, until) = reached(CapScope::Project, caps.project, spent.in_all)
        .map(|cap| (cap, Timestamp::MAX))
        .or_else(|| reached(CapScope::Day, caps.day, spent.today).map(|cap| (cap, tomorrow)))?;
    Some(Hold {
        tried: None,
        scope: HoldScope::Project(project.clone()),
        until,
        placed_at: now,
        class: ErrorClass::BudgetExhausted,
        reason: cap.to_string(),
        probes: 0,
        canary: None,
        trials: Vec::new(),
    })
}

#[cfg(test)]
mod tests;

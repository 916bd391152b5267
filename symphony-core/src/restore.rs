//! What is lost when one state of a database replaces another one.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

use crate::Timestamp;
use crate::id::{IssueId, PlanId, RunId};
use crate::listing::list_few;
use crate::wording::counted;

/// Issues and plans that a sentence names.
const NAMED_MAX: usize = 5;

/// What a database holds, as far as a person would miss it. The numbers of issues and plans rise with each change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Holdings {
    /// The issues.
    pub issues: BTreeMap<IssueId, i64>,
    /// The runs.
    pub runs: BTreeSet<RunId>,
    /// The plans.
    pub plans: BTreeMap<PlanId, i64>,
    /// When the newest entry of the log was written.
    pub newest: Option<Timestamp>,
}

/// What the current database has, and its replacement lacks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Loss {
    /// Issues that only the current one has.
    pub issues: Vec<IssueId>,
    /// Issues that were changed since.
    pub changed_issues: Vec<IssueId>,
    /// How many runs only the current one has.
    pub runs: usize,
    /// Plans that only the current one has, or that went on since.
    pub plans: Vec<PlanId>,
    /// When the newest entry of the current one was written.
    pub newest: Option<Timestamp>,
    /// The same of the replacement; `None` for an empty one.
    pub replacement_newest: Option<Timestamp>,
}

/// Compares the current database with its replacement; `None` is an empty one.
pub fn loss_of(current: &Holdings, replacement: Option<&Holdings>) -> Loss {
    let nothing = Holdings::default();
    let other = replacement.unwrap_or(&nothing);
    let (mut issues, mut changed_issues) = (Vec::new(), Vec::new());
    for (issue, change) in &current.issues {
        match other.issues.get(issue) {
            None => issues.push(issue.clone()),
            Some(known) if known < change => changed_issues.push(issue.clone()),
            Some(_) => {}
        }
    }
    let is_newer = |(plan, change): &(&PlanId, &i64)| {
        let known = other.plans.get(*plan);
        known.is_none_or(|known| known < *change)
    };
    Loss {
        issues,
        changed_issues,
        runs: current.runs.difference(&other.runs).count(),
        plans: current
            .plans
            .iter()
            .filter(is_newer)
            .map(|(plan, _)| plan.clone())
            .collect(),
        newest: current.newest,
        replacement_newest: other.newest,
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if !self.issues.is_empty() {
            parts.push(named("issue", &self.issues));
        }
        if !self.changed_issues.is_empty() {
            parts.push(format!(
                "changes to {}",
                named("issue", &self.changed_issues)
            ));
        }
        if self.runs > 0 {
            parts.push(count(self.runs, "run"));
        }
        if !self.plans.is_empty() {
            parts.push(named("plan", &self.plans));
        }
        match parts.split_last() {
            None => f.write_str("no issue, no run and no plan"),
            Some((last, [])) => f.write_str(last),
            Some((last, first)) => write!(f, "{} and {last}", first.join(", ")),
        }
    }
}

fn count(number: usize, noun: &str) -> String {
    counted(u64::try_from(number).unwrap_or(u64::MAX), noun)
}

/// Counts things and names the first: `2 issues (SYM-1, SYM-2)`.
fn named(noun: &str, ids: &[impl fmt::Display]) -> String {
    let names: Vec<String> = ids.iter().map(ToString::to_string).collect();
    let names = list_few(names.iter().map(String::as_str), NAMED_MAX);
    format!("{} ({names})", count(ids.len(), noun))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holdings(issues: &[(&str, i64)], runs: &[u8], plans: &[(&str, i64)], at: i64) -> Holdings {
        let run = |n: &u8| RunId::parse(format!("0198c0de-0000-7000-8000-0000000000{n:02}"));
        Holdings {
            issues: issues
                .iter()
                .map(|(id, change)| (IssueId::parse(*id).unwrap(), *change))
                .collect(),
            runs: runs.iter().map(|n| run(n).unwrap()).collect(),
            plans: plans
                .iter()
                .map(|(id, change)| (PlanId::parse(*id).unwrap(), *change))
                .collect(),
            newest: Timestamp::from_millisecond(at).ok(),
        }
    }

    #[test]
    fn what_only_the_current_database_has_is_lost() {
        let current = holdings(
            &[("SYM-1", 5), ("SYM-2", 2), ("SYM-3", 3)],
            &[1, 2, 3],
            &[("old", 1), ("ship", 2)],
            9,
        );
        let same = "no issue, no run and no plan";
        let table = [
            (Some(current.clone()), same),
            // the replacement is newer
            (
                Some(holdings(
                    &[("SYM-1", 6), ("SYM-2", 2), ("SYM-3", 3), ("SYM-4", 1)],
                    &[1, 2, 3, 4],
                    &[("old", 1), ("ship", 3)],
                    10,
                )),
                same,
            ),
            (
                Some(holdings(
                    &[("SYM-1", 1), ("SYM-2", 2)],
                    &[1],
                    &[("old", 1)],
                    4,
                )),
                "1 issue (SYM-3), changes to 1 issue (SYM-1), 2 runs and 1 plan (ship)",
            ),
            (
                Some(holdings(
                    &[("SYM-1", 5), ("SYM-2", 2), ("SYM-3", 3)],
                    &[1, 2],
                    &[("old", 1), ("ship", 2)],
                    8,
                )),
                "1 run",
            ),
            (
                None,
                "3 issues (SYM-1, SYM-2, SYM-3), 3 runs and 2 plans (old, ship)",
            ),
        ];
        for (replacement, expected) in table {
            let loss = loss_of(&current, replacement.as_ref());
            assert_eq!(loss.to_string(), expected);
            assert_eq!(loss.newest, current.newest);
            assert_eq!(loss.replacement_newest, replacement.and_then(|r| r.newest));
        }
    }
}

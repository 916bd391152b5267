//! What earlier work leaves in a repository, besides the database.

use std::collections::BTreeMap;
use std::fmt;

use crate::id::{ProjectId, RunId};
use crate::listing::list_few;

/// Most names of each kind that a message lists; the rest is counted.
const NAMES_MAX: usize = 3;

/// Traces of earlier work in a repository: folders of runs, branches, rescue refs, worktrees.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Traces {
    /// Runs that have a folder.
    pub runs: Vec<RunId>,
    /// Highest fencing number in a run's folder.
    pub fence: Option<u64>,
    /// Short names of Symphony's branches, such as `symphony/SYM-1`.
    pub branches: Vec<String>,
    /// Keys of rescued work: the third part of `refs/symphony/rescue/<key>/<time>`.
    pub rescued: Vec<String>,
    /// Names of the worktree folders.
    pub worktrees: Vec<String>,
}

/// Numbers that must not be given out again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// Highest issue number, by prefix.
    pub issues: BTreeMap<String, u64>,
    /// Number of the next issue, by project.
    pub next_numbers: BTreeMap<ProjectId, u64>,
    /// How often the database had been restored.
    pub restores: u64,
    /// Highest fencing number.
    pub fence: u64,
    /// Runs that have a folder: each of those that the database lacks had a fencing number of its own.
    pub runs: Vec<RunId>,
}

impl Traces {
    /// Returns whether nothing was found.
    pub fn is_empty(&self) -> bool {
        let Self {
            runs,
            fence: _,
            branches,
            rescued,
            worktrees,
        } = self;
        runs.is_empty() && branches.is_empty() && rescued.is_empty() && worktrees.is_empty()
    }

    /// Adds the numbers that these traces use up.
    pub fn count_in(&self, seen: &mut Seen) {
        let branches = self
            .branches
            .iter()
            .filter_map(|name| name.strip_prefix("symphony/"));
        let names = self.rescued.iter().chain(&self.worktrees);
        for (prefix, number) in branches
            .chain(names.map(String::as_str))
            .filter_map(issue_number)
        {
            let highest = seen.issues.entry(prefix.to_owned()).or_default();
            *highest = number.max(*highest);
        }
        seen.fence = seen.fence.max(self.fence.unwrap_or(0));
        seen.runs.extend(self.runs.iter().cloned());
    }
}

/// Parses the prefix and the number at the beginning of a name: `SYM-12`, and `SYM-12-20261122T…` of a folder that was
/// moved away.
fn issue_number(name: &str) -> Option<(&str, u64)> {
    let (prefix, rest) = name.split_once('-')?;
    if !crate::id::is_prefix(prefix) {
        return None;
    }
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    Some((prefix, digits.parse().ok()?))
}

impl fmt::Display for Traces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        let mut kind = |count: usize, one: &str, many: &str, names: &[String]| {
            if count > 0 {
                let noun = if count == 1 { one } else { many };
                let few = list_few(names.iter().map(String::as_str), NAMES_MAX);
                parts.push(if few.is_empty() {
                    format!("{count} {noun}")
                } else {
                    format!("{count} {noun} ({few})")
                });
            }
        };
        kind(self.runs.len(), "run", "runs", &[]);
        kind(self.branches.len(), "branch", "branches", &self.branches);
        kind(
            self.worktrees.len(),
            "worktree",
            "worktrees",
            &self.worktrees,
        );
        kind(self.rescued.len(), "rescue ref", "rescue refs", &[]);
        f.write_str(&parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn the_highest_number_of_each_prefix_is_found_wherever_it_is() {
        let traces = Traces {
            branches: names(&[
                "symphony/SYM-3",
                "symphony/plan-ship/base",
                "symphony/API-9",
            ]),
            rescued: names(&["SYM-12", "_scanner-01ab", "plan-ship.set-up"]),
            worktrees: names(&["SYM-4", "API-2-20261122T130500Z", "sym-99", "SYM-x"]),
            runs: vec![RunId::parse("r1").unwrap()],
            fence: Some(7),
        };
        let mut seen = Seen::default();
        traces.count_in(&mut seen);
        let expected = [("API".to_owned(), 9), ("SYM".to_owned(), 12)];
        assert_eq!(seen.issues, BTreeMap::from(expected));
        assert_eq!((seen.fence, seen.runs.len()), (7, 1));
    }

    #[test]
    fn traces_are_told_in_a_phrase() {
        let mut traces = Traces::default();
        assert!(traces.is_empty());
        traces.branches = names(&["a", "b", "c", "d"]);
        traces.runs = vec![RunId::parse("r1").unwrap()];
        assert_eq!(traces.to_string(), "1 run, 4 branches (a, b, c and 1 more)");
        assert!(!traces.is_empty());
    }
}

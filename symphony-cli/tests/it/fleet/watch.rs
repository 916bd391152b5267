//! Watches which agents are alive: two at once on one issue must not be.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::verdict::Beside;
use crate::support::agents_at_work;

/// Time between two looks.
const LOOK: Duration = Duration::from_millis(250);

/// Looks until it is over, and returns the agents of one issue that were alive at the same moment: each pair once.
pub(super) fn watch(is_over: impl Fn() -> bool) -> BTreeSet<Beside> {
    let mut found = BTreeSet::new();
    while !is_over() {
        found.extend(beside(&agents_at_work()));
        std::thread::sleep(LOOK);
    }
    found
}

/// Finds the issues that have two runs in a list of runs with their issues. Names of runs sort by age.
fn beside(at_work: &BTreeMap<String, String>) -> Vec<Beside> {
    let mut last: BTreeMap<&String, &String> = BTreeMap::new();
    let mut found = Vec::new();
    for (run, issue) in at_work {
        if let Some(older) = last.insert(issue, run) {
            found.push(Beside {
                issue: issue.clone(),
                older: older.clone(),
                newer: run.clone(),
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_one_issue_beside_each_other_are_found() {
        let at_work = [("a", "1"), ("b", "2"), ("c", "1")];
        let at_work = at_work.map(|(run, issue)| (run.to_owned(), issue.to_owned()));
        let [issue, older, newer] = ["1", "a", "c"].map(str::to_owned);
        let expected = Beside {
            issue,
            older,
            newer,
        };
        assert_eq!(beside(&at_work.into()), [expected]);
        assert!(beside(&BTreeMap::new()).is_empty());
    }
}

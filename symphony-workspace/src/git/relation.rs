//! How the histories of two commits are related.
//!
//! A walk from both, newest commit first, marks each commit with the histories that have it, as `git merge-base` does ("paint down to
//! common"). It ends when everything that waits is below a common commit, and what has the same date as the last other one is marked.
//!
//! Commits may lie about their dates. A commit that is older than its parent and is met ends the walk without an answer. One that is not met
//! hides that another commit is common, too: it can add a base that is none, but take none away, so a single base is the right one. It can also
//! add commits to those that only one side has, so they are counted only where there are none, or where they are a line.

use std::collections::{BinaryHeap, HashMap, HashSet};
use std::hash::Hash;

/// How many commits are visited at most. Visiting as many takes as long as a process of git.
const VISITS_MAX: usize = 4_096;

/// What a walk needs of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Commit<Id> {
    /// Its parents.
    pub(super) parents: Vec<Id>,
    /// When it was committed, in seconds.
    pub(super) date: i64,
}

/// How two commits are related.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Relation<Id> {
    /// The common ancestors that are no ancestors of another common one; none where the histories are unrelated.
    pub(super) bases: Vec<Id>,
    /// How many commits only the second one has in its history; `None` where merges are among them.
    pub(super) only_two: Option<usize>,
}

const ONE: u8 = 1;
const TWO: u8 = 2;
const BOTH: u8 = ONE | TWO;
/// An ancestor of a common commit.
const BELOW: u8 = 4;

/// Returns how two commits are related. `read` returns a commit, or `None` where it cannot be read, or not any more.
pub(super) fn relation<Id: Copy + Ord + Hash>(
    one: Id,
    two: Id,
    read: impl FnMut(Id) -> Option<Commit<Id>>,
) -> Option<Relation<Id>> {
    let mut walk = Walk {
        read,
        marks: HashMap::new(),
        waiting: BinaryHeap::new(),
        open: HashSet::new(),
        visits: 0,
    };
    walk.mark(one, ONE, i64::MAX)?;
    walk.mark(two, TWO, i64::MAX)?;
    walk.run()?;
    let marked = |wanted: u8| {
        let marks = walk.marks.iter();
        let found = marks.filter(move |(_, mark)| **mark == wanted);
        found.map(|(id, _)| *id).collect::<Vec<Id>>()
    };
    let (bases, only_two) = (marked(BOTH), marked(TWO));
    let mut has_one_parent = |id: &Id| (walk.read)(*id).is_some_and(|it| it.parents.len() == 1);
    let is_line = only_two.iter().all(&mut has_one_parent);
    Some(Relation {
        bases,
        only_two: is_line.then_some(only_two.len()),
    })
}

/// A walk that is under way.
struct Walk<Id, Read> {
    read: Read,
    marks: HashMap<Id, u8>,
    /// What is visited next, newest first.
    waiting: BinaryHeap<(i64, Id)>,
    /// Those of them that are not known to be below a common commit.
    open: HashSet<Id>,
    visits: usize,
}

impl<Id: Copy + Ord + Hash, Read: FnMut(Id) -> Option<Commit<Id>>> Walk<Id, Read> {
    fn run(&mut self) -> Option<()> {
        // The date of the last commit that was not below a common one.
        let mut floor = i64::MAX;
        while let Some((date, id)) = self.waiting.pop() {
            if self.open.is_empty() && date < floor {
                return Some(());
            }
            self.visits += 1;
            if self.visits > VISITS_MAX {
                return None;
            }
            if self.open.remove(&id) {
                floor = date;
            }
            let mark = self.marks.get(&id).copied()?;
            let mark = if mark & BOTH == BOTH {
                mark | BELOW
            } else {
                mark
            };
            for parent in (self.read)(id)?.parents {
                self.mark(parent, mark, date)?;
            }
        }
        Some(())
    }

    /// Marks a commit, and visits it if that is new. A child's date is never before its parent's.
    fn mark(&mut self, id: Id, mark: u8, child: i64) -> Option<()> {
        let before = self.marks.get(&id).copied().unwrap_or_default();
        let after = before | mark;
        if after == before {
            return Some(());
        }
        let date = (self.read)(id)?.date;
        if date > child {
            return None;
        }
        self.marks.insert(id, after);
        if after & BELOW == 0 {
            self.open.insert(id);
        } else {
            self.open.remove(&id);
        }
        self.waiting.push((date, id));
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// A history: commit `n` has parents among those before it.
    type History = Vec<Commit<usize>>;

    fn ancestors(history: &History, of: usize) -> BTreeSet<usize> {
        let mut found = BTreeSet::from([of]);
        for commit in (0..=of).rev() {
            if found.contains(&commit) {
                found.extend(&history[commit].parents);
            }
        }
        found
    }

    /// What the definitions say.
    fn expected(history: &History, one: usize, two: usize) -> Relation<usize> {
        let (of_one, of_two) = (ancestors(history, one), ancestors(history, two));
        let common: BTreeSet<usize> = of_one.intersection(&of_two).copied().collect();
        let is_best = |base: &usize| {
            let mut others = common.iter().filter(|other| *other != base);
            !others.any(|other| ancestors(history, *other).contains(base))
        };
        let only_two: Vec<usize> = of_two.difference(&of_one).copied().collect();
        let mut only_two_parents = only_two.iter().map(|commit| history[*commit].parents.len());
        Relation {
            bases: common.iter().copied().filter(is_best).collect(),
            only_two: only_two_parents
                .all(|parents| parents == 1)
                .then_some(only_two.len()),
        }
    }

    fn found(history: &History, one: usize, two: usize) -> Option<Relation<usize>> {
        let found = relation(one, two, |commit| history.get(commit).cloned());
        found.map(|mut found| {
            found.bases.sort_unstable();
            found
        })
    }

    /// Up to 24 commits, many of which are of one second.
    fn histories() -> impl Strategy<Value = History> {
        let commit = (vec(any::<prop::sample::Index>(), 0..=3), 0..=1_i64);
        vec(commit, 1..24).prop_map(|commits| {
            let mut history = History::new();
            for (parents, later) in commits {
                let number = history.len();
                let parents = parents.iter().filter(|_| number > 0);
                let parents: BTreeSet<usize> = parents.map(|index| index.index(number)).collect();
                let date = history.last().map_or(0, |last| last.date) + later;
                history.push(Commit {
                    parents: parents.into_iter().collect(),
                    date,
                });
            }
            history
        })
    }

    proptest! {
        #[test]
        fn a_walk_finds_what_the_definitions_say(history in histories(), one: prop::sample::Index, two: prop::sample::Index) {
            let (one, two) = (one.index(history.len()), two.index(history.len()));
            prop_assert_eq!(found(&history, one, two), Some(expected(&history, one, two)));
        }

        #[test]
        fn what_is_believed_holds_whatever_the_dates(
            history in histories(),
            dates in vec(0..6_i64, 24),
            one: prop::sample::Index,
            two: prop::sample::Index,
        ) {
            let mut history = history;
            for (commit, date) in history.iter_mut().zip(dates) {
                commit.date = date;
            }
            let (one, two) = (one.index(history.len()), two.index(history.len()));
            let Some(found) = found(&history, one, two) else {
                return Ok(());
            };
            let expected = expected(&history, one, two);
            if found.bases.len() <= 1 {
                prop_assert_eq!(found.bases, expected.bases);
            }
            if found.only_two.is_some() {
                prop_assert_eq!(found.only_two, expected.only_two);
            }
        }
    }

    fn line(length: usize) -> History {
        let commit = |number: usize| Commit {
            parents: number.checked_sub(1).into_iter().collect(),
            date: i64::try_from(number).unwrap(),
        };
        (0..length).map(commit).collect()
    }

    #[test]
    fn a_long_walk_is_left_to_git() {
        let history = line(VISITS_MAX + 2);
        let is_known = |one: usize, two: usize| found(&history, one, two).is_some();
        assert!(is_known(VISITS_MAX + 1, VISITS_MAX - 100));
        assert!(!is_known(VISITS_MAX + 1, 0));
    }

    #[test]
    fn a_commit_that_is_older_than_its_parent_is_left_to_git() {
        let mut history = line(6);
        history[2].date = 0;
        assert_eq!(found(&history, 5, 1), None);
        assert!(found(&history, 5, 4).is_some());
    }

    /// The smallest history whose count was wrong: the third commit's ancestor is older than that one's parent, which is not met.
    #[test]
    fn merges_that_only_one_side_has_are_left_to_git() {
        let commit = |parents: &[usize], date| Commit {
            parents: parents.to_vec(),
            date,
        };
        let history = vec![
            commit(&[], 0),
            commit(&[0], -5),
            commit(&[1], 2),
            commit(&[1, 2, 0], 3),
        ];
        let found = found(&history, 2, 3).unwrap();
        assert_eq!((found.bases, found.only_two), (vec![2], None));
    }

    #[test]
    fn a_commit_that_cannot_be_read_is_left_to_git() {
        let mut history = line(4);
        history[1].parents = vec![9];
        assert_eq!(found(&history, 3, 0), None);
        assert_eq!(found(&history, 3, 9), None);
        assert!(found(&history, 3, 2).is_some());
    }
}

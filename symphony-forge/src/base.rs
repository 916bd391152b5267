//! What happens to a base branch that both sides have.
//!
//! Symphony pushes a base only over merges that it made itself: a person's commits are theirs to push, and what was taken out of the
//! base at the forge must not come back.

use std::collections::BTreeMap;

/// Most merges in a row that one push brings to the forge.
const MERGES_MAX: usize = 1_000;

/// How a base branch here is related to the one at the forge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// Both are at the same commit.
    Same,
    /// The forge has more.
    Behind,
    /// This side has more.
    Ahead,
    /// Each has commits that the other lacks.
    Apart,
}

/// What is known of a base branch on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Base<'a> {
    /// How they are related.
    pub relation: Relation,
    /// The commit that the forge had at an earlier look, if it has been taken out there since and is still here.
    pub removed: Option<&'a str>,
    /// The newest commit here that the forge lacks and that no recorded merge brought.
    pub unowned: Option<&'a str>,
}

/// What to do with a base branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BaseStep {
    /// Nothing: both sides have the same.
    Nothing,
    /// The one here follows.
    Forward,
    /// The forge gets the merges that were made here.
    Push,
    /// A person has to push, or not: this commit is no merge by Symphony.
    Unowned {
        /// The commit.
        commit: String,
    },
    /// A person has to decide: the branch was rewritten at the forge, and this commit was taken out there.
    Removed {
        /// The commit.
        commit: String,
    },
    /// A person has to bring both together.
    Apart,
}

/// Decides about a base branch.
pub fn plan_base(base: Base<'_>) -> BaseStep {
    match (base.relation, base.removed, base.unowned) {
        (Relation::Same, ..) => BaseStep::Nothing,
        (Relation::Behind, ..) => BaseStep::Forward,
        (Relation::Ahead | Relation::Apart, Some(removed), _) => BaseStep::Removed {
            commit: removed.to_owned(),
        },
        (Relation::Apart, None, _) => BaseStep::Apart,
        (Relation::Ahead, None, Some(unowned)) => BaseStep::Unowned {
            commit: unowned.to_owned(),
        },
        (Relation::Ahead, None, None) => BaseStep::Push,
    }
}

/// Returns where a base was before each of its newest merges, beginning with where it is. `merges` has the commit that each
/// recorded merge moved it to, with the one that it was at before.
pub fn before_merges(head: &str, merges: &BTreeMap<String, String>) -> Vec<String> {
    let mut steps = vec![head.to_owned()];
    let mut at = head;
    while let Some(before) = merges.get(at)
        // a merge that moved nothing brought no commit
        && before != at
        && steps.len() < MERGES_MAX
    {
        steps.push(before.clone());
        at = before;
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_merges_are_pushed_and_nothing_that_was_taken_out() {
        use Relation::{Ahead, Apart, Behind, Same};
        let removed = BaseStep::Removed {
            commit: "r".to_owned(),
        };
        let unowned = BaseStep::Unowned {
            commit: "u".to_owned(),
        };
        for (relation, gone, foreign, expected) in [
            (Same, None, None, BaseStep::Nothing),
            (Same, Some("r"), Some("u"), BaseStep::Nothing),
            (Behind, None, None, BaseStep::Forward),
            (Behind, Some("r"), None, BaseStep::Forward),
            (Ahead, None, None, BaseStep::Push),
            (Ahead, None, Some("u"), unowned),
            (Ahead, Some("r"), None, removed.clone()),
            (Ahead, Some("r"), Some("u"), removed.clone()),
            (Apart, None, None, BaseStep::Apart),
            (Apart, Some("r"), None, removed),
        ] {
            let base = Base {
                relation,
                removed: gone,
                unowned: foreign,
            };
            assert_eq!(plan_base(base), expected, "{base:?}");
        }
    }

    #[test]
    fn merges_are_followed_back_to_what_no_merge_brought() {
        for (merges, expected) in [
            ("", "c"),
            ("b:a", "c"),
            ("c:b", "c b"),
            ("c:b b:a", "c b a"),
            // two merges of which the second moved nothing, and a record that leads in a circle
            ("c:c", "c"),
        ] {
            let merges: BTreeMap<String, String> = merges
                .split_whitespace()
                .filter_map(|merge| merge.split_once(':'))
                .map(|(to, from)| (to.to_owned(), from.to_owned()))
                .collect();
            assert_eq!(before_merges("c", &merges).join(" "), expected);
        }
        let circle = BTreeMap::from([
            ("a".to_owned(), "b".to_owned()),
            ("b".to_owned(), "a".to_owned()),
        ]);
        assert_eq!(before_merges("a", &circle).len(), MERGES_MAX);
    }
}

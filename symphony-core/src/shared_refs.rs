//! Branches, tags and the stash, which all checkouts of a repository share: what was deleted or rewritten during a run.
//!
//! A person moves branches while agents work. Commits that are added to a branch, and new branches, tags and stash
//! entries, are not reported; what may have lost commits is, with the command that restores it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::command_line::shell_quoted;
use crate::config_change::AtWork;
use crate::listing::list_few;

/// Most losses that a sentence lists; the rest is counted.
const NAMED_MAX: usize = 5;
/// Characters of a commit that a text shows, as git abbreviates it.
const COMMIT_CHARS: usize = 8;
/// What the full name of a branch begins with.
const BRANCHES: &str = "refs/heads/";
/// What the full name of a tag begins with.
const TAGS: &str = "refs/tags/";

/// The refs at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedRefs {
    /// Full names of branches and tags, with the object that each has.
    pub refs: BTreeMap<String, String>,
    /// The entries of the stash, newest first.
    pub stash: Vec<String>,
}

/// A ref that has moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedRef {
    /// Its full name.
    pub name: String,
    /// The object that it had.
    pub was: String,
    /// Its current object; `None` if it is gone.
    pub now: Option<String>,
}

impl ChangedRef {
    /// Returns whether it may have been moved forward: only the history can tell.
    pub fn may_have_gone_on(&self) -> bool {
        self.now.is_some() && self.name.starts_with(BRANCHES)
    }
}

impl SharedRefs {
    /// Returns the branches and tags that are gone or at another object, sorted. Those for which `own` has the name are
    /// Symphony's to move. One that is gone while a new one of its kind is at the same object was renamed.
    pub fn changed_since(&self, before: &Self, own: &BTreeSet<String>) -> Vec<ChangedRef> {
        let made = |name: &String| !before.refs.contains_key(name);
        let new: BTreeSet<&String> = self
            .refs
            .iter()
            .filter(|(name, _)| made(name))
            .map(|(_, object)| object)
            .collect();
        before
            .refs
            .iter()
            .filter(|(name, _)| !own.contains(*name))
            .map(|(name, was)| ChangedRef {
                name: name.clone(),
                was: was.clone(),
                now: self.refs.get(name).cloned(),
            })
            .filter(|changed| changed.now.as_ref() != Some(&changed.was))
            .filter(|changed| changed.now.is_some() || !new.contains(&changed.was))
            .collect()
    }

    /// Returns the branches of a plan (those that begin with `prefix`) that have moved or are gone without an explanation.
    ///
    /// `explained` has, by branch, the commits to which a move is expected; `None` among them explains a branch that is gone.
    /// Only Symphony moves and removes these branches, except that each phase's agent moves its own.
    pub fn unexplained_since(
        &self,
        before: &Self,
        prefix: &str,
        explained: &BTreeMap<String, BTreeSet<Option<String>>>,
    ) -> Vec<ChangedRef> {
        let changed = self.changed_since(before, &BTreeSet::new()).into_iter();
        let is_explained = |changed: &ChangedRef| {
            let places = explained.get(&changed.name);
            places.is_some_and(|places| places.contains(&changed.now))
        };
        changed
            .filter(|changed| changed.name.starts_with(prefix))
            .filter(|changed| !is_explained(changed))
            .collect()
    }

    /// Returns the stash entries that are gone, in their order.
    pub fn dropped_since(&self, before: &Self) -> Vec<String> {
        let now: BTreeSet<&String> = self.stash.iter().collect();
        let dropped = before.stash.iter().filter(|entry| !now.contains(entry));
        dropped.cloned().collect()
    }
}

/// What happened to the objects of a shared ref.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// A rescue ref has them now.
    Rescued,
    /// The repository no longer has them.
    Gone,
}

/// Describes what happened to a branch or a tag, and how to restore it.
pub fn changed_ref_text(changed: &ChangedRef, kept: Kept) -> String {
    let (what, name) = match changed.name.strip_prefix(TAGS) {
        Some(tag) => ("tag", tag),
        None => (
            "branch",
            changed.name.strip_prefix(BRANCHES).unwrap_or(&changed.name),
        ),
    };
    let was = &changed.was;
    let did = match &changed.now {
        None => format!("{what} {name} was deleted"),
        Some(now) => format!(
            "{what} {name} was moved from {} to {}",
            short(was),
            short(now)
        ),
    };
    let command = match (&changed.now, what) {
        (None, _) => format!("git {what} {} {was}", shell_quoted(name)),
        (Some(_), "tag") => format!("git tag -f {} {was}", shell_quoted(name)),
        // its own name may be checked out
        (Some(_), _) => format!(
            "git branch {} {was}",
            shell_quoted(&format!("{name}-before"))
        ),
    };
    restored_by(&did, &command, kept)
}

/// Describes that a stash entry is gone, and how to restore it.
pub fn dropped_text(entry: &str, kept: Kept) -> String {
    let did = format!("the stash entry {} was dropped", short(entry));
    restored_by(&did, &format!("git stash store {entry}"), kept)
}

fn restored_by(did: &str, command: &str, kept: Kept) -> String {
    match kept {
        Kept::Rescued => format!("{did} (`{command}` brings it back)"),
        Kept::Gone => format!("{did} (the repository no longer has its commits)"),
    }
}

/// Describes in one sentence what was lost. Who did it is not known.
pub fn lost_refs_text(lost: &[impl AsRef<str>], at_work: AtWork) -> String {
    let (when, who) = at_work.names();
    format!(
        "{when}, branches, tags or stash entries that all checkouts share were deleted or rewritten ({}), by you or by {who}",
        list_few(lost.iter().map(AsRef::as_ref), NAMED_MAX)
    )
}

/// Returns the commands that a sentence has between backquotes.
pub(crate) fn commands_in(text: &str) -> Vec<String> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted
        .filter(|quoted| quoted.starts_with("git ") || quoted.starts_with("symphony "))
        .map(str::to_owned)
        .collect()
}

fn short(commit: &str) -> &str {
    commit.get(..COMMIT_CHARS).unwrap_or(commit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refs(list: &[(&str, &str)], stash: &[&str]) -> SharedRefs {
        let owned = |(name, object): &(&str, &str)| ((*name).to_owned(), (*object).to_owned());
        SharedRefs {
            refs: list.iter().map(owned).collect(),
            stash: stash.iter().map(|entry| (*entry).to_owned()).collect(),
        }
    }

    #[test]
    fn a_branch_of_a_plan_that_nobody_should_have_moved_is_named() {
        let at = |base: &str, a: &str, b: &str| {
            refs(
                &[
                    ("refs/heads/main", base),
                    ("refs/heads/symphony/plan-p/a", a),
                    ("refs/heads/symphony/plan-p/b", b),
                    ("refs/heads/symphony/plan-p/base", base),
                ],
                &[],
            )
        };
        let before = at("base1", "a1", "b1");
        let explained = [("a", "a2"), ("b", "b1"), ("base", "base2")]
            .map(|(name, place)| {
                let name = format!("refs/heads/symphony/plan-p/{name}");
                (name, BTreeSet::from([Some(place.to_owned())]))
            })
            .into();
        let moved = |now: &SharedRefs| -> Vec<String> {
            let moved = now.unexplained_since(&before, "refs/heads/symphony/plan-p/", &explained);
            moved.into_iter().map(|moved| moved.name).collect()
        };
        assert_eq!(moved(&at("base2", "a2", "b1")), Vec::<String>::new());
        assert_eq!(
            moved(&at("base3", "a2", "b2")),
            [
                "refs/heads/symphony/plan-p/b",
                "refs/heads/symphony/plan-p/base"
            ]
        );
        let gone = refs(&[("refs/heads/symphony/plan-p/base", "base2")], &[]);
        assert_eq!(moved(&gone).len(), 2);

        // the branch of a complete phase may be removed, and no other
        let mut explained = explained.clone();
        let name = "refs/heads/symphony/plan-p/a";
        explained.entry(name.to_owned()).or_default().insert(None);
        let moved = gone.unexplained_since(&before, "refs/heads/symphony/plan-p/", &explained);
        let moved: Vec<String> = moved.into_iter().map(|moved| moved.name).collect();
        assert_eq!(moved, ["refs/heads/symphony/plan-p/b"]);
    }

    #[test]
    fn what_is_gone_or_elsewhere_is_named_and_what_is_new_or_renamed_is_not() {
        let before = refs(
            &[
                ("refs/heads/gone", "a1"),
                ("refs/heads/moved", "b1"),
                ("refs/heads/old-name", "c1"),
                ("refs/heads/same", "d1"),
                ("refs/heads/symphony/SYM-1", "e1"),
                ("refs/tags/v1", "f1"),
            ],
            &["s2", "s1"],
        );
        let now = refs(
            &[
                ("refs/heads/moved", "b2"),
                ("refs/heads/new-name", "c1"),
                ("refs/heads/new", "g1"),
                ("refs/heads/same", "d1"),
                ("refs/tags/v1", "f2"),
            ],
            &["s3", "s1"],
        );
        let own = BTreeSet::from(["refs/heads/symphony/SYM-1".to_owned()]);
        let changed = now.changed_since(&before, &own);
        let told: Vec<String> = changed
            .iter()
            .map(|changed| changed_ref_text(changed, Kept::Rescued))
            .collect();
        assert_eq!(
            told,
            [
                "branch gone was deleted (`git branch gone a1` brings it back)",
                "branch moved was moved from b1 to b2 (`git branch moved-before b1` brings it back)",
                "tag v1 was moved from f1 to f2 (`git tag -f v1 f1` brings it back)",
            ]
        );
        let may_have_gone_on: Vec<bool> =
            changed.iter().map(ChangedRef::may_have_gone_on).collect();
        assert_eq!(may_have_gone_on, [false, true, false]);
        assert_eq!(now.dropped_since(&before), ["s2"]);
        assert_eq!(before.changed_since(&before, &own), []);
    }

    #[test]
    fn the_sentence_accuses_nobody_and_its_commands_can_be_typed() {
        let gone = ChangedRef {
            name: "refs/heads/a;b".to_owned(),
            was: "c1".to_owned(),
            now: None,
        };
        let lost = [
            changed_ref_text(&gone, Kept::Rescued),
            dropped_text("0123456789", Kept::Gone),
        ];
        let text = lost_refs_text(&lost, AtWork::Agent);
        assert_eq!(
            text,
            "during the run, branches, tags or stash entries that all checkouts share were deleted or rewritten (branch a;b was deleted \
             (`git branch 'a;b' c1` brings it back), the stash entry 01234567 was dropped (the repository no longer \
             has its commits)), by you or by the agent"
        );
        assert_eq!(commands_in(&text), ["git branch 'a;b' c1"]);
        assert!(lost_refs_text(&lost, AtWork::Gates).starts_with("while gates ran, "));
    }
}

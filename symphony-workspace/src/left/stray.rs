//! Work of an agent that is not on the branch of its run: on another branch, on none, or in the stash.
//!
//! The reflog of the worktree's `HEAD` has every commit that was made there. Commits that a rebase or an amendment
//! replaced, and those whose change the run's own branch has in another commit, are not lost work.

use std::collections::BTreeSet;

use symphony_core::Timestamp;

use crate::change::RescueRef;
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::git::fields;
use crate::repository::{Repository, tree_of};
use crate::worktree::Worktree;

/// Reflog messages of a new commit.
const MADE: &[&str] = &[
    "commit",
    "merge",
    "pull",
    "rebase",
    "cherry-pick",
    "revert",
    "am",
];
/// Reflog messages of a commit that replaces the one before.
const REPLACES: &[&str] = &["commit (amend)", "rebase (start)", "rebase -i (start)"];
/// Reflog messages that only moved to an existing commit.
const WENT: &[&str] = &["(start)", "(finish)", "(abort)", ": Fast-forward"];
/// Reflog message of a checkout of a branch or a commit.
const CHECKOUT: &str = "checkout: moving from ";
/// Most tips that are examined: more is not the work of one agent.
const TIPS_MAX: usize = 50;
/// How git names the place of a stash entry that was made on no branch.
const NO_BRANCH: &str = "(no branch)";

/// What of an agent's work is elsewhere.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StrayWork {
    /// Other branches and tags that have commits of it, sorted.
    pub branches: BTreeSet<String>,
    /// Where commits of it are that no branch has.
    pub unreferenced: Vec<RescueRef>,
    /// Where the stash entries are that it made.
    pub stashed: Vec<RescueRef>,
}

/// What is known of the time before.
#[derive(Debug, Clone, Copy)]
pub struct KnownWork<'a> {
    /// The head of the base branch.
    pub base: Option<&'a CommitId>,
    /// The rescue refs of the worktree when the run ended: their commits were reported before.
    pub rescues: &'a BTreeSet<String>,
    /// The stash entries when the run began; `None` if they were not recorded.
    pub stash: Option<&'a [String]>,
}

/// A commit that was made in a worktree and that its branch does not have.
#[derive(Debug)]
struct LostCommit {
    commit: CommitId,
    /// Whether no other one has it.
    is_tip: bool,
}

/// One entry of the log of `HEAD`, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Step {
    commit: String,
    did: String,
}

impl Repository {
    /// Finds work of an agent that is not on the branch of its run, which is at its recorded head; what no branch has
    /// is saved to rescue refs. Repeating it finds the same.
    ///
    /// # Errors
    /// When git fails.
    pub fn stray_work(
        &self,
        worktree: &Worktree,
        known: KnownWork<'_>,
        now: Timestamp,
    ) -> Result<StrayWork, WorkspaceError> {
        let steps = steps(worktree)?;
        let head = self.head(worktree)?;
        let mut stray = StrayWork::default();
        let (mut made, replaced) = made_and_replaced(&steps);
        let (stashed, imported) = self.imported_commits(worktree.key())?;
        made.extend(imported.iter().map(ToString::to_string));
        let own_trees = self.trees_of(&head, known.base, &replaced)?;
        for lost in self.lost_commits(made, replaced, &head, known)? {
            if self.has_same_change(&head, &lost.commit, &own_trees)? {
                continue;
            }
            let branches = self.refs_with(&lost.commit, &["refs/heads/", "refs/tags/"])?;
            if !branches.is_empty() {
                stray.branches.extend(branches.iter().map(|name| {
                    let short = name.strip_prefix("refs/heads/");
                    let short = short.or_else(|| name.strip_prefix("refs/tags/"));
                    short.unwrap_or(name).to_owned()
                }));
            } else if lost.is_tip {
                let rescue = self.saved_once(worktree, lost.commit, now)?;
                stray.unreferenced.push(rescue);
            }
        }
        if let Some(before) = known.stash {
            stray.stashed = self.stashed_here(worktree, &steps, before, now)?;
        }
        for commit in stashed {
            let saved = self.keep_once(&rescue_folder(worktree), &commit, now)?;
            stray.stashed.push(saved);
        }
        Ok(stray)
    }

    /// Returns the commit that the log of a worktree's own `HEAD` ends with: where its agent or Symphony left it.
    /// Another worktree that moves the branch writes no entry there.
    ///
    /// # Errors
    /// When git fails.
    pub fn logged_head(&self, worktree: &Worktree) -> Result<Option<String>, WorkspaceError> {
        Ok(steps(worktree)?.into_iter().next().map(|step| step.commit))
    }

    /// Returns the rescue ref of the worktree that has a commit, or makes one.
    fn saved_once(
        &self,
        worktree: &Worktree,
        commit: CommitId,
        now: Timestamp,
    ) -> Result<RescueRef, WorkspaceError> {
        let folder = rescue_folder(worktree);
        let saved = self.refs_with(&commit, &[&format!("{folder}/")])?;
        match saved.into_iter().next() {
            Some(reference) => Ok(RescueRef { reference, commit }),
            None => self.keep_once(&folder, &commit, now),
        }
    }

    /// Returns the commits that were made in the worktree and that neither its branch, nor the base, nor what is known
    /// has: those that no other one of them has, and those that a branch or a tag is at.
    fn lost_commits(
        &self,
        made: BTreeSet<String>,
        replaced: BTreeSet<String>,
        head: &CommitId,
        known: KnownWork<'_>,
    ) -> Result<Vec<LostCommit>, WorkspaceError> {
        if made.is_empty() {
            return Ok(Vec::new());
        }
        let without = std::iter::once(head)
            .chain(known.base)
            .map(ToString::to_string)
            .chain(replaced)
            .chain(known.rescues.iter().cloned())
            .map(|name| format!("^{name}"));
        let asked: Vec<String> = made.into_iter().chain(without).collect();
        let list = self
            .git
            .command("rev-list")
            .args(["--parents", "--ignore-missing", "--stdin"])
            .stdin(asked.join("\n").into_bytes())
            .run()?;
        let list = String::from_utf8_lossy(&list).into_owned();
        if list.is_empty() {
            return Ok(Vec::new());
        }
        let parents: BTreeSet<&str> = list
            .lines()
            .flat_map(|line| line.split(' ').skip(1))
            .collect();
        let named: BTreeSet<String> = self.shared_refs()?.refs.into_values().collect();
        let commits = list.lines().filter_map(|line| line.split(' ').next());
        let lost = commits.filter_map(|commit| {
            Some(LostCommit {
                is_tip: !parents.contains(commit),
                commit: CommitId::parse(commit).ok()?,
            })
        });
        Ok(lost
            .filter(|lost| lost.is_tip || named.contains(lost.commit.as_str()))
            .take(TIPS_MAX)
            .collect())
    }

    /// Returns whether the branch of the run has the files of a commit, or each of its changes, in other commits.
    fn has_same_change(
        &self,
        head: &CommitId,
        tip: &CommitId,
        own_trees: &BTreeSet<String>,
    ) -> Result<bool, WorkspaceError> {
        if own_trees.contains(tree_of(&self.git, tip)?.as_str()) {
            return Ok(true);
        }
        let beyond = self
            .git
            .command("rev-list")
            .args(["-n", "1", "--cherry-pick", "--right-only", "--no-merges"])
            .arg(format!("{head}...{tip}"))
            .run()?;
        Ok(beyond.is_empty())
    }

    /// Returns the trees that the branch has, or had before it was rewritten.
    fn trees_of(
        &self,
        head: &CommitId,
        base: Option<&CommitId>,
        replaced: &BTreeSet<String>,
    ) -> Result<BTreeSet<String>, WorkspaceError> {
        let mut command = self
            .git
            .command("log")
            .args(["--ignore-missing", "--format=%T", head.as_str()])
            .args(replaced);
        if let Some(base) = base {
            command = command.arg(format!("^{base}"));
        }
        let trees = command.run()?;
        let trees = String::from_utf8_lossy(&trees).into_owned();
        Ok(trees.lines().map(str::to_owned).collect())
    }

    fn refs_with(&self, commit: &CommitId, places: &[&str]) -> Result<Vec<String>, WorkspaceError> {
        let found = self
            .git
            .command("for-each-ref")
            .arg("--format=%(refname)%00")
            .arg(format!("--contains={commit}"))
            .args(places)
            .run()?;
        let names = fields(&found).filter_map(|name| str::from_utf8(name).ok());
        let names = names.map(|name| name.trim_start_matches('\n').to_owned());
        Ok(names.filter(|name| !name.is_empty()).collect())
    }

    /// Saves the new stash entries that were made on a branch which was checked out here.
    fn stashed_here(
        &self,
        worktree: &Worktree,
        steps: &[Step],
        before: &[String],
        now: Timestamp,
    ) -> Result<Vec<RescueRef>, WorkspaceError> {
        let own = worktree.branch().map(ToString::to_string);
        let places = checked_out(steps, own.as_deref());
        let mut saved = Vec::new();
        for (entry, message) in self.stash_log()? {
            let is_here = stash_place(&message).is_some_and(|place| places.contains(place));
            if let (true, false, Ok(commit)) =
                (is_here, before.contains(&entry), CommitId::parse(&entry))
            {
                saved.push(self.keep_once(&rescue_folder(worktree), &commit, now)?);
            }
        }
        Ok(saved)
    }
}

fn rescue_folder(worktree: &Worktree) -> String {
    format!("refs/symphony/rescue/{}", worktree.key().as_ref_part())
}

/// Reads the reflog of a worktree's `HEAD`; empty if git keeps none.
fn steps(worktree: &Worktree) -> Result<Vec<Step>, WorkspaceError> {
    let log = worktree
        .git
        .command("log")
        .args(["-g", "--format=%H %gs", "HEAD", "--"])
        .answer(&[0, 128])?;
    let log = String::from_utf8_lossy(&log.stdout).into_owned();
    let steps = log.lines().filter_map(|line| line.split_once(' '));
    Ok(steps
        .map(|(commit, did)| Step {
            commit: commit.to_owned(),
            did: did.to_owned(),
        })
        .collect())
}

/// Returns the commits that were made, and those in whose place others came.
fn made_and_replaced(steps: &[Step]) -> (BTreeSet<String>, BTreeSet<String>) {
    let begins = |step: &Step, words: &[&str]| words.iter().any(|word| step.did.starts_with(word));
    let went = |step: &Step| WENT.iter().any(|words| step.did.contains(words));
    let made = steps
        .iter()
        .filter(|step| begins(step, MADE) && !went(step));
    let replaced = steps
        .windows(2)
        .filter_map(|pair| match pair {
            [step, before] if begins(step, REPLACES) => Some(before.commit.clone()),
            _ => None,
        })
        .collect();
    (made.map(|step| step.commit.clone()).collect(), replaced)
}

/// Returns the branches that were checked out, as the stash names them.
fn checked_out<'a>(steps: &'a [Step], own: Option<&'a str>) -> BTreeSet<&'a str> {
    let targets = steps.iter().filter_map(|step| {
        let (_, target) = step.did.strip_prefix(CHECKOUT)?.rsplit_once(" to ")?;
        Some(target)
    });
    let mut places: BTreeSet<&str> = targets.chain(own).collect();
    // a commit was checked out, at some time
    if places.len() > 1 || own.is_none() {
        places.insert(NO_BRANCH);
    }
    places
}

/// Returns the branch that a stash entry was made on: `WIP on main: …`, `On main: …`.
fn stash_place(message: &str) -> Option<&str> {
    let rest = message.strip_prefix("WIP on ");
    let rest = rest.or_else(|| message.strip_prefix("On "))?;
    rest.split_once(": ").map(|(place, _)| place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(list: &[(&str, &str)]) -> Vec<Step> {
        let step = |(commit, did): &(&str, &str)| Step {
            commit: (*commit).to_owned(),
            did: (*did).to_owned(),
        };
        list.iter().map(step).collect()
    }

    fn names(set: &BTreeSet<String>) -> Vec<&str> {
        set.iter().map(String::as_str).collect()
    }

    #[test]
    fn the_log_tells_what_was_made_and_what_was_replaced() {
        let steps = log(&[
            ("h", "merge feature: Fast-forward"),
            ("f", "commit: on a detached head"),
            ("b", "checkout: moving from symphony/SYM-1 to other"),
            ("e", "rebase (pick): work"),
            ("a", "rebase (start): checkout main"),
            ("d", "commit (amend): work"),
            ("c", "commit: work"),
            ("b", "reset: moving to HEAD~1"),
            ("b", "checkout: moving from main to symphony/SYM-1"),
        ]);
        let (made, replaced) = made_and_replaced(&steps);
        assert_eq!(names(&made), ["c", "d", "e", "f"]);
        assert_eq!(names(&replaced), ["c", "d"]);
        let places = checked_out(&steps, Some("symphony/SYM-1"));
        let expected = BTreeSet::from(["(no branch)", "other", "symphony/SYM-1"]);
        assert_eq!(places, expected);
        assert_eq!(
            checked_out(&[], Some("symphony/SYM-1")),
            BTreeSet::from(["symphony/SYM-1"])
        );
    }

    #[test]
    fn a_stash_entry_names_its_branch() {
        for (message, expected) in [
            ("WIP on main: 1234567 a: b", Some("main")),
            ("On symphony/SYM-1: for later", Some("symphony/SYM-1")),
            ("WIP on (no branch): 1234567 x", Some("(no branch)")),
            ("autostash", None),
        ] {
            assert_eq!(stash_place(message), expected, "{message}");
        }
    }
}

//! Commits that were made on a branch of Symphony's and that the base has.
//!
//! The history alone does not show whether a commit came from the branch to the base or the other way round: a branch
//! starts at the base and gets it merged in. The reflog of the branch shows it, because it lists which commits were
//! made there.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use symphony_core::outside::MERGED_BY;

use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::identity::is_own_branch;
use crate::repository::{BranchName, Repository};

/// Most commits of the base that are searched: those since the last look; if there are more, the newest.
const COMMITS_MAX: &str = "1000";
/// The end of a reflog that is read: a thousand commits and more.
const LOG_BYTES_MAX: u64 = 256 * 1024;

/// Prefixes of reflog entries of git and Symphony for a commit that is made on a branch. Merges are not among them: the
/// base may be what was merged.
const MADE_HERE: &[&str] = &[
    "commit:",
    "commit (initial):",
    "commit (amend):",
    "symphony(",
    "cherry-pick:",
    "revert:",
    "am:",
    // the work of a phase in the base of its plan; nothing else of Symphony's is merged into a branch of its own
    MERGED_BY,
];

impl Repository {
    /// Returns the branches of Symphony's with their own commits that reached the base since the last look, newest
    /// first. If git keeps no reflogs, none is found.
    ///
    /// # Errors
    /// When git fails.
    pub fn branch_commits_on(
        &self,
        base: &CommitId,
        since: &CommitId,
    ) -> Result<Vec<(BranchName, Vec<CommitId>)>, WorkspaceError> {
        let list = self
            .git
            .command("rev-list")
            .args(["--max-count", COMMITS_MAX])
            .args([base.as_str(), &format!("^{since}")])
            .slow()
            .run()?;
        let text = String::from_utf8_lossy(&list);
        let new: BTreeSet<&str> = text.lines().collect();
        if new.is_empty() {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for name in self
            .branches()?
            .into_iter()
            .filter(|name| is_own_branch(name))
        {
            let branch = BranchName::parse(&name)?;
            let log = self.common_dir().join("logs").join(branch.reference());
            let mut commits = made_here(&read_end(&log));
            commits.retain(|commit| new.contains(commit.as_str()));
            if !commits.is_empty() {
                found.push((branch, commits));
            }
        }
        Ok(found)
    }
}

/// Reads the end of a reflog; empty if there is none.
pub(super) fn read_end(path: &Path) -> String {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(LOG_BYTES_MAX)))?;
        let mut bytes = Vec::new();
        file.take(LOG_BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
}

/// Returns the commits that a reflog says were made on its branch, newest first.
fn made_here(log: &str) -> Vec<CommitId> {
    let made = |line: &str| {
        let (head, message) = line.split_once('\t')?;
        let is_made = MADE_HERE.iter().any(|start| message.starts_with(start));
        let new = head.split(' ').nth(1).filter(|_| is_made)?;
        CommitId::parse(new).ok()
    };
    let mut seen = BTreeSet::new();
    let newest_first = log.lines().rev().filter_map(made);
    newest_first
        .filter(|commit| seen.insert(commit.as_str().to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_made_on_the_branch_is_its_own() {
        let line = |new: &str, message: &str| {
            let (old, new) = ("0".repeat(40), new.repeat(40));
            format!("{old} {new} A Person <a@example.invalid> 1700000000 +0000\t{message}\n")
        };
        let log = [
            line("1", "symphony: branch created"),
            line("2", "commit: Add a parser"),
            line("3", "Merge branch 'main' into SYM-1"),
            line("4", "merge main: Fast-forward"),
            line("5", "symphony(SYM-1): work in progress"),
            line("2", "symphony: back to the recorded head"),
            line("6", "reset: moving to main"),
            line("7", "commit (amend): Add a better parser"),
            line("7", "commit: Add a parser"),
            "broken\n".to_owned(),
        ]
        .concat();
        let made: Vec<String> = made_here(&log).iter().map(ToString::to_string).collect();
        let expected: Vec<String> = ["7", "5", "2"].iter().map(|c| c.repeat(40)).collect();
        assert_eq!(made, expected);
    }
}

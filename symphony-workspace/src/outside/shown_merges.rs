//! The merges that a branch shows: merge commits in its history, and what Symphony wrote into its reflog.

use symphony_core::outside::MERGED_BY;

use super::branch_log::read_end;
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::repository::{BranchName, Repository};

/// Merge commits that are read, the newest.
const MERGES_MAX: &str = "1000";

impl Repository {
    /// Returns the merges that a branch shows, each with the subject of its commit or the entry of the reflog, newest
    /// first. A fast-forward is in the reflog alone, which a clone does not have.
    ///
    /// # Errors
    /// When git fails.
    pub fn shown_merges(
        &self,
        branch: &BranchName,
        head: &CommitId,
    ) -> Result<Vec<(CommitId, String)>, WorkspaceError> {
        let log = self.common_dir().join("logs").join(branch.reference());
        let mut shown = moves(&read_end(&log));
        // A base that was moved back no longer has what the reflog says was merged.
        let mut kept = Vec::new();
        for (commit, entry) in shown.drain(..) {
            if self.has_merged(&commit, head)? {
                kept.push((commit, entry));
            }
        }
        let list = self
            .git
            .command("rev-list")
            .args(["--merges", "--no-commit-header", "--format=%H%x09%s"])
            .args(["--max-count", MERGES_MAX])
            .arg(head.as_str())
            .slow()
            .run()?;
        let text = String::from_utf8_lossy(&list);
        kept.extend(text.lines().filter_map(|line| {
            let (commit, subject) = line.split_once('\t')?;
            Some((CommitId::parse(commit).ok()?, subject.to_owned()))
        }));
        Ok(kept)
    }
}

/// Returns the commits to which a reflog says Symphony moved its branch, newest first.
fn moves(log: &str) -> Vec<(CommitId, String)> {
    let moved = |line: &str| {
        let (head, message) = line.split_once('\t')?;
        let new = head.split(' ').nth(1)?;
        let is_merge = message.starts_with(MERGED_BY);
        Some((CommitId::parse(new).ok()?, message.to_owned())).filter(|_| is_merge)
    };
    log.lines().rev().filter_map(moved).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_symphonys_own_moves_are_merges() {
        let line = |new: &str, message: &str| {
            let (old, new) = ("0".repeat(40), new.repeat(40));
            format!("{old} {new} A Person <a@example.invalid> 1700000000 +0000\t{message}\n")
        };
        let log = [
            line("1", "commit: Add a parser"),
            line("2", "symphony: merged by Ada (SYM-1)"),
            line("3", "merge symphony/SYM-2: Fast-forward"),
            line("4", "symphony: merged by Ada"),
            "broken\n".to_owned(),
        ]
        .concat();
        let found: Vec<(String, String)> = moves(&log)
            .into_iter()
            .map(|(commit, entry)| (commit.to_string(), entry))
            .collect();
        let expected = [
            ("4", "symphony: merged by Ada"),
            ("2", "symphony: merged by Ada (SYM-1)"),
        ];
        assert_eq!(
            found,
            expected.map(|(commit, entry)| (commit.repeat(40), entry.to_owned()))
        );
    }
}

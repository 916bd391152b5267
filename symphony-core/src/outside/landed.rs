//! Issues that are still to be done by the database although the base has their merge, as after the restore of an older
//! database: an agent would do the work again.

use crate::id::IssueId;
use crate::issue::IssueStatus;

/// What Symphony writes into the reflog of a base before the name of who merged.
pub const MERGED_BY: &str = "symphony: merged by ";

/// A merge that a base shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownMerge {
    /// The commit of the base.
    pub commit: String,
    /// The issue that it names.
    pub issue: IssueId,
}

/// What the database records of an issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedIssue {
    /// The issue.
    pub issue: IssueId,
    /// Its status.
    pub status: IssueStatus,
    /// The commits with which its pull requests were merged.
    pub merged: Vec<String>,
}

/// An issue that would be done again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LandedIssue {
    /// The issue.
    pub issue: IssueId,
    /// Its status.
    pub status: IssueStatus,
    /// The commit with which its change came to the base.
    pub commit: String,
}

/// Returns the issue that the subject of a merge commit, or an entry of a base's reflog, says was merged: in the words of
/// Symphony, of git, or of a forge.
pub fn merged_issue(text: &str) -> Option<IssueId> {
    if let Some(by) = text.strip_prefix(MERGED_BY) {
        let (_name, of) = by.rsplit_once(" (")?;
        return IssueId::parse(of.strip_suffix(')')?).ok();
    }
    let what = text.strip_prefix("Merge ")?;
    let branch = what
        .strip_prefix("branch '")
        .and_then(|rest| rest.split('\'').next())
        .or_else(|| Some(what.strip_prefix("pull request ")?.split_once(" from ")?.1));
    let id = match branch {
        Some(branch) => branch.rsplit_once("symphony/")?.1,
        None => what.split_once(": ")?.0,
    };
    IssueId::parse(id).ok()
}

/// Returns the issues that are open by the database, and merged by the base, with the newest merge of each. `shown` is
/// ordered newest first.
///
/// An issue under review is left out: the next tick searches the base for its pull request, and records what it finds. A
/// merge that the database knows of was followed by a reopening.
pub fn landed(recorded: &[RecordedIssue], shown: &[ShownMerge]) -> Vec<LandedIssue> {
    let is_open =
        |issue: &&RecordedIssue| !issue.status.is_terminal() && issue.status != IssueStatus::Review;
    let open = recorded.iter().filter(is_open);
    open.filter_map(|recorded| {
        let mut merges = shown.iter().filter(|shown| shown.issue == recorded.issue);
        let unknown = merges.find(|shown| !recorded.merged.contains(&shown.commit))?;
        Some(LandedIssue {
            issue: recorded.issue.clone(),
            status: recorded.status,
            commit: unknown.commit.clone(),
        })
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> IssueId {
        IssueId::parse(text).unwrap()
    }

    #[test]
    fn a_merge_names_its_issue() {
        for (text, expected) in [
            ("Merge SYM-1: Add a parser", Some("SYM-1")),
            ("Merge branch 'symphony/SYM-12'", Some("SYM-12")),
            ("Merge branch 'symphony/SYM-12' into next", Some("SYM-12")),
            (
                "Merge pull request #4 from me/symphony/SYM-3",
                Some("SYM-3"),
            ),
            ("symphony: merged by Ada (SYM-7)", Some("SYM-7")),
            ("symphony: merged by Ada (at work) (SYM-7)", Some("SYM-7")),
            ("symphony: merged by Ada", None),
            ("symphony: merged by Ada (plan ship)", None),
            ("Merge plan ship: Ship it", None),
            ("Merge branch 'main' into symphony/SYM-1", None),
            ("Merge branch 'SYM-1'", None),
            ("Merge pull request #4 from me/fix", None),
            // a person's commit about the issue, which may be a part of the work
            ("SYM-1: Add a parser", None),
            ("", None),
        ] {
            assert_eq!(merged_issue(text), expected.map(id), "{text}");
        }
    }

    #[test]
    fn an_open_issue_whose_merge_the_database_does_not_know_has_landed() {
        let shown = [("c3", "SYM-1"), ("c2", "SYM-2"), ("c1", "SYM-1")].map(|(commit, issue)| {
            let commit = commit.to_owned();
            let issue = id(issue);
            ShownMerge { commit, issue }
        });
        for (issue, status, merged, expected) in [
            ("SYM-1", IssueStatus::Todo, &[][..], Some("c3")),
            ("SYM-1", IssueStatus::InProgress, &[], Some("c3")),
            ("SYM-1", IssueStatus::Backlog, &["c3"], Some("c1")),
            ("SYM-1", IssueStatus::Blocked, &["c1"], Some("c3")),
            // it was merged, and a person opened it again
            ("SYM-2", IssueStatus::Todo, &["c2"], None),
            ("SYM-2", IssueStatus::Review, &[], None),
            ("SYM-2", IssueStatus::Done, &[], None),
            ("SYM-2", IssueStatus::Cancelled, &[], None),
            ("SYM-3", IssueStatus::Todo, &[], None),
        ] {
            let recorded = RecordedIssue {
                issue: id(issue),
                status,
                merged: merged.iter().map(|commit| (*commit).to_owned()).collect(),
            };
            let found = landed(&[recorded], &shown);
            let expected: Vec<LandedIssue> = expected
                .into_iter()
                .map(|commit| LandedIssue {
                    issue: id(issue),
                    status,
                    commit: commit.to_owned(),
                })
                .collect();
            assert_eq!(found, expected, "{issue} {status} {merged:?}");
        }
    }
}

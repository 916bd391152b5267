//! Base branches that were moved back or rewritten: commits that a person took out of them are not to return by a
//! merge.

use super::{BaseNotice, NoticeKind};
use crate::command_line::shell_quoted;
use crate::id::{PrId, ProjectId};
use crate::wording::counted;

/// Characters of a commit that a text shows, as git abbreviates it.
const COMMIT_CHARS: usize = 8;

/// A base branch that has lost commits since the last look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewoundBase {
    /// The branch.
    pub branch: String,
    /// Where it was.
    pub was: String,
    /// Where it is.
    pub now: String,
    /// How many commits it lost.
    pub lost: usize,
}

/// An open pull request with commits that were removed from its base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReturningCommits {
    /// The pull request.
    pub pr: PrId,
    /// Its base; the lost commits are those that the pull request has.
    pub base: RewoundBase,
}

impl RewoundBase {
    /// Creates the notice of what happened to the branch, whether the person did it or not. Its record is permanent: a
    /// merge needs it to know what was removed.
    pub fn notice(&self, project: &ProjectId) -> BaseNotice {
        let Self {
            branch,
            was,
            now,
            lost,
        } = self;
        let lost_commits = counted(*lost as u64, "commit");
        BaseNotice {
            project: project.clone(),
            of: None,
            pr: None,
            kind: NoticeKind::Rewound,
            commit: format!("{was}:{branch}"),
            text: format!(
                "{branch} was moved back or rewritten outside Symphony: it was at {}, is now at {}, and no longer has \
                 {lost_commits} (`git log {}..{}`). A pull request that has them is not merged without `--force`",
                short(was),
                short(now),
                short(now),
                short(was)
            ),
        }
    }

    /// Returns the branch and where it was, from a notice.
    pub fn of_notice(commit: &str) -> Option<(&str, &str)> {
        let (was, branch) = commit.split_once(':')?;
        Some((branch, was))
    }
}

impl ReturningCommits {
    /// Describes what is wrong, in words that follow "it cannot be merged:".
    pub fn text(&self) -> String {
        let base = &self.base;
        let them = if base.lost == 1 { "it" } else { "them" };
        format!(
            "it has {} that {} no longer has ({} was at {}, and is now at {}): a merge would bring {them} back",
            counted(base.lost as u64, "commit"),
            base.branch,
            base.branch,
            short(&base.was),
            short(&base.now)
        )
    }

    /// Returns the commands that resolve it, for the pull request of this name.
    pub fn answers(&self, reference: &str) -> Vec<String> {
        let RewoundBase {
            branch, was, now, ..
        } = &self.base;
        let was = short(was);
        let feedback = format!(
            "{branch} was moved back: take its former commits out of your branch (git rebase --onto {branch} {was})"
        );
        vec![
            format!("git log {}..{was}", short(now)),
            format!(
                "symphony pr reject {reference} --feedback {}",
                shell_quoted(&feedback)
            ),
            format!("symphony pr merge {reference} --force"),
        ]
    }
}

fn short(commit: &str) -> &str {
    commit.get(..COMMIT_CHARS).unwrap_or(commit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_heads_are_named_with_what_takes_the_commits_out_and_what_accepts_them() {
        let base = |lost| RewoundBase {
            branch: "main".to_owned(),
            was: "aaaaaaaaaa".to_owned(),
            now: "bbbbbbbbbb".to_owned(),
            lost,
        };
        let notice = base(2).notice(&ProjectId::parse("p").unwrap());
        assert_eq!(
            notice.text,
            "main was moved back or rewritten outside Symphony: it was at aaaaaaaa, is now at bbbbbbbb, and no longer has 2 commits (`git log bbbbbbbb..aaaaaaaa`). A pull request that has them is not merged without `--force`"
        );
        assert_eq!(
            RewoundBase::of_notice(&notice.commit),
            Some(("main", "aaaaaaaaaa"))
        );
        let returning = ReturningCommits {
            pr: PrId::new(1),
            base: base(1),
        };
        assert_eq!(
            returning.text(),
            "it has 1 commit that main no longer has (main was at aaaaaaaa, and is now at bbbbbbbb): a merge would bring it back"
        );
        assert_eq!(
            returning.answers("SYM-1"),
            [
                "git log bbbbbbbb..aaaaaaaa",
                "symphony pr reject SYM-1 --feedback 'main was moved back: take its former commits out of your branch (git rebase --onto main \
                 aaaaaaaa)'",
                "symphony pr merge SYM-1 --force",
            ]
        );
    }
}

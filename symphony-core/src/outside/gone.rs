//! Base branches of open pull requests that no longer exist.

use crate::Timestamp;
use crate::id::{PrId, ProjectId};
use crate::listing::list_few;
use crate::pull_request::PullRequestOf;

/// Most pull requests that a sentence lists; the rest is counted.
const NAMED_MAX: usize = 5;

/// An open pull request, with what its base was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenInto {
    /// The pull request.
    pub pr: PrId,
    /// What it finishes.
    pub of: PullRequestOf,
    /// Its base branch.
    pub base: String,
    /// The commit of the base that it begins from.
    pub base_commit: String,
    /// The commit to be merged.
    pub head_commit: String,
    /// Whether it is approved already.
    pub is_approved: bool,
    /// Whether its commits are at the hub only: a run on another host made them, and no tick has brought them in.
    pub is_at_hub: bool,
    /// When it was made.
    pub created_at: Timestamp,
}

/// A base branch that is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoneBase {
    /// The project.
    pub project: ProjectId,
    /// The branch.
    pub branch: String,
    /// Where it was when it was seen last.
    pub commit: String,
    /// The open pull requests that go into it, oldest first; never empty.
    pub prs: Vec<OpenInto>,
    /// When the oldest of them was made.
    pub since: Timestamp,
}

impl GoneBase {
    /// Collects the open pull requests into a missing branch; `None` if there are none. If the branch was never looked
    /// at, the newest commit that one of them starts from is its last known one.
    pub fn of(
        project: &ProjectId,
        branch: &str,
        seen: Option<String>,
        open: &[OpenInto],
    ) -> Option<Self> {
        let into = open.iter().filter(|open| open.base == branch);
        let prs: Vec<OpenInto> = into.cloned().collect();
        let (first, last) = (prs.first()?, prs.last()?);
        Some(Self {
            project: project.clone(),
            branch: branch.to_owned(),
            commit: seen.unwrap_or_else(|| last.base_commit.clone()),
            since: first.created_at,
            prs,
        })
    }

    /// Describes what is wrong, and each way on.
    pub fn text(&self) -> String {
        let Self { branch, .. } = self;
        let names: Vec<String> = self
            .prs
            .iter()
            .map(|open| format!("pull request {} of {}", open.pr, open.of))
            .collect();
        let go = if names.len() == 1 { "goes" } else { "go" };
        format!(
            "the branch `{branch}` no longer exists, and {} {go} into it. {}",
            list_few(names.iter().map(String::as_str), NAMED_MAX),
            ways_on(branch, &self.commit)
        )
    }

    /// Returns the commands that resolve it, first the one that restores everything.
    pub fn answers(&self) -> Vec<String> {
        let mut answers = vec![
            format!("git branch {} {}", self.branch, self.commit),
            "symphony config set base_branch NAME".to_owned(),
        ];
        let close = |open: &OpenInto| format!("symphony pr close {}", open.pr);
        answers.extend(self.prs.iter().take(NAMED_MAX).map(close));
        answers
    }
}

/// Describes how a missing base branch is restored, or how its pull requests get another base.
pub fn ways_on(branch: &str, commit: &str) -> String {
    format!(
        "`git branch {branch} {commit}` restores it; if it has a new name, `symphony config set base_branch NAME` \
         redirects the work for `{branch}` to that branch"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{IssueId, PlanId};

    fn open(pr: i64, of: impl Into<PullRequestOf>, base: &str) -> OpenInto {
        OpenInto {
            pr: PrId::new(pr),
            of: of.into(),
            base: base.to_owned(),
            base_commit: format!("c{pr}"),
            head_commit: format!("h{pr}"),
            is_approved: false,
            is_at_hub: false,
            created_at: Timestamp::UNIX_EPOCH,
        }
    }

    #[test]
    fn a_base_that_is_gone_names_its_pull_requests_and_the_ways_on() {
        let project = ProjectId::parse("p").unwrap();
        let issue = IssueId::parse("SYM-1").unwrap();
        let plan = PlanId::parse("ship").unwrap();
        let all = [
            open(1, issue.clone(), "main"),
            open(2, plan, "next"),
            open(3, issue, "main"),
        ];
        let gone = |branch: &str, seen: Option<&str>| {
            GoneBase::of(&project, branch, seen.map(str::to_owned), &all)
        };
        assert_eq!(gone("other", Some("abc")), None);
        let main = gone("main", None).unwrap();
        assert_eq!(main.commit, "c3");
        let next = gone("next", Some("abc")).unwrap();
        assert_eq!(
            next.text(),
            "the branch `next` no longer exists, and pull request 2 of plan ship goes into it. `git branch next abc` restores it; if it has a new name, `symphony config set base_branch NAME` redirects the work for `next` to that branch"
        );
        assert_eq!(
            next.answers(),
            [
                "git branch next abc",
                "symphony config set base_branch NAME",
                "symphony pr close 2"
            ]
        );
        assert!(
            main.text()
                .contains("pull request 1 of SYM-1, pull request 3 of SYM-1 go into it"),
            "{}",
            main.text()
        );
    }
}

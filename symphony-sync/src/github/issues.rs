//! Issues by number, and what else has to be asked for to complete one.

use std::collections::BTreeSet;

use symphony_tracker::fault::Fault;
use symphony_tracker::remote::{ExternalId, RemoteComment, RemoteIssue};

use super::wire::{WireComment, WireIssue, WireRepository, external};
use super::{Asked, Github};

/// Most pages of blockers, of 100 each. GitHub allows 50 blockers an issue.
const BLOCKER_PAGES_MAX: u32 = 5;

/// Most pages of an issue's comments, of 100 each: those after the 2,000th are left out.
const COMMENT_PAGES_MAX: u32 = 20;

impl Github {
    /// Reads issues one by one; GitHub has no request for several.
    pub(super) async fn load_issues(&self, ids: &[ExternalId]) -> Result<Vec<RemoteIssue>, Fault> {
        let mut found = Vec::new();
        for number in ids.iter().filter_map(number) {
            let issue = match self.load_wire_issue(number).await {
                Err(Fault::NotFound { .. }) => continue,
                other => other?,
            };
            if !issue.is_pull_request() {
                found.push(self.complete(issue).await?);
            }
        }
        Ok(found)
    }

    /// Reads the comments of an issue, which come in the order in which they were written.
    pub(super) async fn load_comments(&self, id: &ExternalId) -> Result<Vec<RemoteComment>, Fault> {
        let Some(number) = number(id) else {
            let what = format!("issue {id} of {}/{}", self.owner, self.name);
            return Err(Fault::NotFound { what });
        };
        let asked = self.reading(number);
        let mut comments = Vec::new();
        for page in 1..=COMMENT_PAGES_MAX {
            let mut url = self.repository_url(&["issues", &number.to_string(), "comments"]);
            url.query_pairs_mut()
                .append_pair("per_page", "100")
                .append_pair("page", &page.to_string());
            let answer = self.get(url, None, &asked).await?;
            let found: Vec<WireComment> =
                answer.read("the comments of an issue", self.client.token())?;
            let is_last = found.len() < 100;
            comments.extend(found.into_iter().filter_map(WireComment::comment));
            if is_last {
                break;
            }
        }
        Ok(comments)
    }

    /// Reads one issue of this repository.
    ///
    /// An issue that was transferred leads to the one it is now, in another repository, where its number means something
    /// else: for us it does not exist any more. A renamed repository leads to the same issue.
    pub(super) async fn load_wire_issue(&self, number: u64) -> Result<WireIssue, Fault> {
        let asked = self.reading(number);
        let url = self.repository_url(&["issues", &number.to_string()]);
        let answer = self.get(url, None, &asked).await?;
        let issue: WireIssue = answer.read("an issue", self.client.token())?;
        if answer.was_moved && !self.has_issue(&issue).await? {
            return Err(Fault::NotFound { what: asked.what });
        }
        Ok(issue)
    }

    async fn has_issue(&self, issue: &WireIssue) -> Result<bool, Fault> {
        let repository = self.load_repository().await?;
        Ok(repository.url.eq_ignore_ascii_case(&issue.repository_url))
    }

    /// Reads the repository as it is called now.
    pub(super) async fn load_repository(&self) -> Result<WireRepository, Fault> {
        let asked = self.reading_repository();
        let answer = self.get(self.repository_url(&[]), None, &asked).await?;
        answer.read("a repository", self.client.token())
    }

    /// Adds what an issue's own answer does not have.
    pub(super) async fn complete(&self, issue: WireIssue) -> Result<RemoteIssue, Fault> {
        let mut blocked_by = BTreeSet::new();
        if issue.has_blockers() {
            blocked_by = self.load_blockers(&issue).await?;
        }
        Ok(issue.issue(blocked_by))
    }

    /// Reads which issues of the same repository block one. An older enterprise host does not know this request.
    async fn load_blockers(&self, issue: &WireIssue) -> Result<BTreeSet<ExternalId>, Fault> {
        let number = issue.number.to_string();
        let asked = Asked {
            action: "read which issues block another",
            what: self.issue_named(issue.number),
        };
        let mut blockers = BTreeSet::new();
        for page in 1..=BLOCKER_PAGES_MAX {
            let mut url = self.repository_url(&["issues", &number, "dependencies", "blocked_by"]);
            url.query_pairs_mut()
                .append_pair("per_page", "100")
                .append_pair("page", &page.to_string());
            let answer = match self.get(url, None, &asked).await {
                Err(Fault::NotFound { .. }) => break,
                other => other?,
            };
            let found: Vec<WireIssue> =
                answer.read("the issues that block another", self.client.token())?;
            let is_last = found.len() < 100;
            let here = found.into_iter().filter(|other| {
                other
                    .repository_url
                    .eq_ignore_ascii_case(&issue.repository_url)
            });
            blockers.extend(here.map(|other| external(other.number)));
            if is_last {
                break;
            }
        }
        Ok(blockers)
    }
}

/// Returns the number of an issue; other texts are no ids of GitHub's.
pub(super) fn number(id: &ExternalId) -> Option<u64> {
    id.as_str().parse().ok()
}

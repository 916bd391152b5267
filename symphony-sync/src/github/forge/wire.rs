//! The parts of GitHub's answers about pull requests that are read, and what they mean.

use serde::Deserialize;
use symphony_core::Timestamp;
use symphony_forge::remote::{
    PullNumber, RemoteLines, RemotePull, RemoteReview, RemoteReviewComment, RemoteState,
    ReviewVerdict, Standing,
};

use super::super::wire::{WireLabel, WireUser, external, unix_lines};

/// The repository that a branch is in.
#[derive(Debug, Deserialize)]
struct WireSource {
    id: u64,
}

/// The repository, as no rename changes it.
#[derive(Debug, Deserialize)]
pub(super) struct WireIdentity {
    pub(super) id: u64,
}

/// One end of a pull request.
#[derive(Debug, Deserialize)]
struct WireEnd {
    #[serde(rename = "ref")]
    branch: String,
    sha: String,
    /// Missing if the repository was deleted.
    repo: Option<WireSource>,
}

/// A pull request, in a list or alone.
#[derive(Debug, Deserialize)]
pub(super) struct WirePull {
    number: u64,
    html_url: String,
    state: String,
    title: String,
    body: Option<String>,
    labels: Vec<WireLabel>,
    #[serde(default)]
    draft: bool,
    head: WireEnd,
    base: WireEnd,
    merged_at: Option<Timestamp>,
    /// Of an open one it is the commit of a merge on trial.
    merge_commit_sha: Option<String>,
    /// Missing in lists.
    merged_by: Option<WireUser>,
    updated_at: Timestamp,
}

impl WirePull {
    /// Returns whether it is from a branch of the repository itself, into another one.
    pub(super) fn is_from(&self, head_branch: &str, base_branch: &str) -> bool {
        let (head, base) = (&self.head, &self.base);
        let repository = |end: &WireEnd| end.repo.as_ref().map(|repository| repository.id);
        head.branch == head_branch
            && base.branch == base_branch
            && repository(head).is_some()
            && repository(head) == repository(base)
    }

    pub(super) const fn number(&self) -> PullNumber {
        PullNumber::new(self.number)
    }

    pub(super) const fn is_merged(&self) -> bool {
        self.merged_at.is_some()
    }

    /// Returns the pull request in the form of all forges, as of an answer at a time.
    pub(super) fn pull(self, answered_at: Option<Timestamp>) -> RemotePull {
        let state = match (self.merged_at, self.state.as_str()) {
            (Some(_), _) => RemoteState::Merged {
                commit: self.merge_commit_sha,
                by: self.merged_by.map(WireUser::user),
            },
            (None, "closed") => RemoteState::Closed,
            (None, _) => RemoteState::Open,
        };
        RemotePull {
            number: PullNumber::new(self.number),
            url: self.html_url,
            state,
            head_branch: self.head.branch,
            head: self.head.sha,
            base_branch: self.base.branch,
            title: self.title,
            body: unix_lines(self.body.as_deref().unwrap_or_default()),
            labels: self
                .labels
                .into_iter()
                .filter_map(WireLabel::name)
                .collect(),
            is_draft: self.draft,
            updated_at: self.updated_at,
            answered_at,
        }
    }
}

/// A review.
#[derive(Debug, Deserialize)]
pub(super) struct WireReview {
    id: u64,
    user: Option<WireUser>,
    body: Option<String>,
    state: String,
    commit_id: Option<String>,
    author_association: Option<String>,
    /// Missing for one that its author has not sent.
    submitted_at: Option<Timestamp>,
}

impl WireReview {
    /// Returns the review in the form of all forges; nothing for one that was not submitted.
    pub(super) fn review(self) -> Option<RemoteReview> {
        let verdict = match self.state.as_str() {
            "APPROVED" => ReviewVerdict::Approved,
            "CHANGES_REQUESTED" => ReviewVerdict::ChangesRequested,
            "DISMISSED" => ReviewVerdict::Dismissed,
            "PENDING" => return None,
            _ => ReviewVerdict::Commented,
        };
        Some(RemoteReview {
            id: external(self.id),
            author: self.user.map(WireUser::user),
            standing: standing(self.author_association.as_deref()),
            verdict,
            commit: self.commit_id,
            body: unix_lines(self.body.as_deref().unwrap_or_default()),
            at: self.submitted_at?,
        })
    }
}

/// A comment at a place of the change.
#[derive(Debug, Deserialize)]
pub(super) struct WireReviewComment {
    pub(super) id: u64,
    pull_request_review_id: Option<u64>,
    in_reply_to_id: Option<u64>,
    user: Option<WireUser>,
    author_association: Option<String>,
    path: String,
    /// Missing when the place is gone, and for a comment on a file.
    line: Option<u32>,
    start_line: Option<u32>,
    /// `LEFT` for lines that the change removes.
    side: Option<String>,
    start_side: Option<String>,
    /// The newest commit at which the place is still there.
    commit_id: Option<String>,
    original_commit_id: Option<String>,
    body: Option<String>,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl WireReviewComment {
    /// Returns the comment in the form of all forges.
    pub(super) fn comment(self) -> RemoteReviewComment {
        let lines = self.lines();
        // without lines it is about what its author saw
        let commit = match (lines, self.original_commit_id) {
            (None, Some(original)) => Some(original),
            (_, original) => self.commit_id.or(original),
        };
        RemoteReviewComment {
            id: external(self.id),
            review: self.pull_request_review_id.map(external),
            reply_to: self.in_reply_to_id.map(external),
            author: self.user.map(WireUser::user),
            standing: standing(self.author_association.as_deref()),
            path: self.path,
            lines,
            commit,
            body: unix_lines(self.body.as_deref().unwrap_or_default()),
            created_at: self.created_at,
            updated_at: self.updated_at,
        }
    }

    fn lines(&self) -> Option<RemoteLines> {
        let last = self.line?;
        if self.side.as_deref() == Some("LEFT") {
            return None;
        }
        // a range can begin at a removed line, whose number counts in the old version
        let begins_here = self.start_side.as_deref() != Some("LEFT");
        let first = self
            .start_line
            .filter(|first| begins_here && *first <= last);
        Some(RemoteLines {
            first: first.unwrap_or(last),
            last,
        })
    }
}

fn standing(association: Option<&str>) -> Standing {
    match association {
        Some("OWNER" | "MEMBER" | "COLLABORATOR") => Standing::Member,
        _ => Standing::Stranger,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lines_are_those_of_the_new_version() {
        let base = json!({
            "id": 7, "path": "a.rs", "body": "x\r\ny", "commit_id": "new", "original_commit_id": "old",
            "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
        });
        let table = [
            (json!({ "line": 5, "side": "RIGHT" }), Some((5, 5)), "new"),
            (
                json!({ "line": 5, "start_line": 3, "side": "RIGHT", "start_side": "RIGHT" }),
                Some((3, 5)),
                "new",
            ),
            (
                json!({ "line": 5, "start_line": 9, "side": "RIGHT", "start_side": "LEFT" }),
                Some((5, 5)),
                "new",
            ),
            (json!({ "line": 5, "side": "LEFT" }), None, "old"),
            (
                json!({ "line": null, "original_line": 5, "side": "RIGHT" }),
                None,
                "old",
            ),
            (json!({ "subject_type": "file" }), None, "old"),
        ];
        for (more, expected, commit) in table {
            let mut value = base.clone();
            let fields = value.as_object_mut().unwrap();
            fields.extend(more.as_object().unwrap().clone());
            let comment: WireReviewComment = serde_json::from_value(value).unwrap();
            let comment = comment.comment();
            let lines = comment.lines.map(|lines| (lines.first, lines.last));
            assert_eq!(
                (lines, comment.commit.as_deref()),
                (expected, Some(commit)),
                "{more}"
            );
            assert_eq!(comment.body, "x\ny");
        }
    }
}

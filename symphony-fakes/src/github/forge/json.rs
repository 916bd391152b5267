//! The forms of a forge's answers: every field that GitHub's description requires.

use serde_json::{Value, json};

use super::state::{
    GithubCheckRun, GithubPull, GithubReview, GithubReviewComment, GithubStatus, MergeKind,
};
use crate::github::Role;
use crate::github::json::{Shown, merge, page_address, time};

/// Fields of a repository that are not there where it is an end of a pull request.
const NOT_IN_ENDS: [&str; 2] = ["network_count", "subscribers_count"];

/// Fields of a repository that are not there where statuses name it.
const NOT_IN_STATUSES: [&str; 3] = [
    "allow_merge_commit",
    "allow_rebase_merge",
    "allow_squash_merge",
];

impl Shown<'_> {
    fn api(&self) -> String {
        self.repository_address(&self.world.repository)
    }

    fn pull_page(&self, number: u64) -> String {
        format!("{}/pull/{number}", page_address(&self.world.repository))
    }

    /// How close a user is to the repository.
    fn association(&self, user: Option<u64>) -> &'static str {
        let role = user.and_then(|user| self.world.repository.roles.get(&user));
        role.map_or("NONE", |_| "COLLABORATOR")
    }

    fn repository_without(&self, missing: &[&str]) -> Value {
        let mut shown = self.repository(Some(Role::Write));
        if let Value::Object(fields) = &mut shown {
            fields.retain(|name, _| !missing.contains(&name.as_str()));
        }
        shown
    }

    fn end(&self, branch: &str, commit: &str) -> Value {
        let repository = &self.world.repository;
        let shown = self.repository_without(&NOT_IN_ENDS);
        json!({
            "label": format!("{}:{branch}", repository.owner),
            "ref": branch,
            "sha": commit,
            "user": self.user(Some(1)),
            "repo": shown,
        })
    }

    /// A pull request; in a list it has less.
    pub(super) fn pull(&self, pull: &GithubPull, is_alone: bool) -> Value {
        let number = pull.number;
        let issue = self.world.issue(number);
        let (api, page) = (self.api(), self.pull_page(number));
        let own = format!("{api}/pulls/{number}");
        let of_issue = format!("{api}/issues/{number}");
        let closed_at = if issue.is_open {
            Value::Null
        } else {
            time(issue.updated_at)
        };
        let labels: Vec<Value> = issue.labels.iter().map(|name| self.label(name)).collect();
        let statuses = format!("{api}/statuses/{}", pull.head);
        let merged = pull.merged.as_ref();
        let mut shown = json!({
            "url": own, "id": issue.id, "node_id": format!("PR_{}", issue.id), "html_url": page,
            "diff_url": format!("{page}.diff"), "patch_url": format!("{page}.patch"), "issue_url": of_issue,
            "commits_url": format!("{own}/commits"), "review_comments_url": format!("{own}/comments"),
            "review_comment_url": format!("{api}/pulls/comments{{/number}}"),
            "comments_url": format!("{of_issue}/comments"), "statuses_url": statuses,
            "number": number, "state": if issue.is_open { "open" } else { "closed" }, "locked": false,
            "title": issue.title, "user": self.user(issue.author), "body": issue.body, "labels": labels,
            "milestone": null, "active_lock_reason": null,
            "created_at": time(issue.created_at), "updated_at": time(issue.updated_at), "closed_at": closed_at,
            "merged_at": merged.map(|merged| time(merged.at)),
            // of an open one this is the commit of a merge on trial
            "merge_commit_sha": merged.map_or(Value::Null, |merged| json!(merged.commit)),
            "assignee": null, "assignees": [], "requested_reviewers": [], "requested_teams": [],
            "head": self.end(&pull.head_branch, &pull.head), "base": self.end(&pull.base_branch, &pull.base),
            "author_association": self.association(issue.author), "auto_merge": null, "draft": pull.is_draft,
        });
        let link = |address: String| json!({ "href": address });
        merge(
            &mut shown,
            json!({ "_links": {
                "self": link(own.clone()), "html": link(page), "issue": link(of_issue.clone()),
                "comments": link(format!("{of_issue}/comments")), "review_comments": link(format!("{own}/comments")),
                "review_comment": link(format!("{api}/pulls/comments{{/number}}")),
                "commits": link(format!("{own}/commits")), "statuses": link(statuses),
            } }),
        );
        if is_alone {
            merge(&mut shown, self.alone(pull));
        }
        shown
    }

    /// What only a pull request by itself has.
    fn alone(&self, pull: &GithubPull) -> Value {
        let world = self.world;
        let number = pull.number;
        let is_open = world.is_open(number);
        let store = world.store();
        let base = world.forge.branches.get(&pull.base_branch);
        let base = base.unwrap_or(&pull.base);
        let mergeable = is_open.then(|| store.is_mergeable(base, &pull.head));
        let state = match mergeable {
            Some(_) if pull.is_draft => "draft",
            Some(true) => "clean",
            Some(false) => "dirty",
            None => "unknown",
        };
        let [commits, files, added, removed] = store.size(&pull.base, &pull.head);
        let comments = world.comments(number).len();
        json!({
            "merged": pull.merged.is_some(), "mergeable": mergeable, "rebaseable": mergeable, "mergeable_state": state,
            "merged_by": self.user(pull.merged.as_ref().and_then(|merged| merged.by)),
            "comments": comments, "review_comments": world.review_comments(number).len(),
            "maintainer_can_modify": false,
            "commits": commits, "additions": added, "deletions": removed, "changed_files": files,
        })
    }

    pub(super) fn review(&self, review: &GithubReview) -> Value {
        let own = format!("{}/pulls/{}", self.api(), review.pull);
        let page = format!(
            "{}#pullrequestreview-{}",
            self.pull_page(review.pull),
            review.id
        );
        let mut shown = json!({
            "id": review.id, "node_id": format!("PRR_{}", review.id), "user": self.user(review.author),
            "body": review.body, "state": review.state, "html_url": page, "pull_request_url": own,
            "_links": { "html": { "href": page }, "pull_request": { "href": own } },
            "commit_id": review.commit, "author_association": self.association(review.author),
        });
        if review.state != "PENDING" {
            merge(&mut shown, json!({ "submitted_at": time(review.at) }));
        }
        shown
    }

    pub(super) fn review_comment(&self, comment: &GithubReviewComment) -> Value {
        let api = self.api();
        let own = format!("{api}/pulls/comments/{}", comment.id);
        let pull = format!("{api}/pulls/{}", comment.pull);
        let page = format!(
            "{}#discussion_r{}",
            self.pull_page(comment.pull),
            comment.id
        );
        let is_on_file = comment.original_line.is_none();
        let side = if comment.is_on_removed {
            "LEFT"
        } else {
            "RIGHT"
        };
        let mut shown = json!({
            "url": own, "id": comment.id, "node_id": format!("PRRC_{}", comment.id),
            "pull_request_review_id": comment.review, "diff_hunk": "@@ -0,0 +1 @@\n+line", "path": comment.path,
            "commit_id": comment.commit, "original_commit_id": comment.original_commit,
            "user": self.user(comment.author), "body": comment.body,
            "created_at": time(comment.created_at), "updated_at": time(comment.updated_at),
            "html_url": page, "pull_request_url": pull, "author_association": self.association(comment.author),
            "_links": { "self": { "href": own }, "html": { "href": page }, "pull_request": { "href": pull } },
            "subject_type": if is_on_file { "file" } else { "line" },
            "line": comment.line,
            "start_line": comment.start_line, "original_start_line": comment.start_line,
            "start_side": comment.start_line.map(|_| side), "side": side,
        });
        if let Some(line) = comment.original_line {
            merge(&mut shown, json!({ "original_line": line }));
        }
        if let Some(first) = comment.reply_to {
            merge(&mut shown, json!({ "in_reply_to_id": first }));
        }
        shown
    }

    pub(super) fn check_run(&self, run: &GithubCheckRun) -> Value {
        let own = format!("{}/check-runs/{}", self.api(), run.id);
        let page = format!(
            "{}/actions/runs/1/job/{}",
            page_address(&self.world.repository),
            run.id
        );
        let has_ended = run.conclusion.is_some();
        let ended = has_ended.then(|| time(run.at));
        json!({
            "id": run.id, "head_sha": run.commit, "node_id": format!("CR_{}", run.id), "external_id": "", "url": own,
            "html_url": page, "details_url": page, "name": run.name,
            "status": if has_ended { "completed" } else { "queued" }, "conclusion": run.conclusion,
            "started_at": time(run.at), "completed_at": ended,
            "output": {
                "title": run.title, "summary": run.summary, "text": null,
                "annotations_count": run.annotations.len(), "annotations_url": format!("{own}/annotations"),
            },
            "check_suite": { "id": 1 }, "app": self.app(run.is_job), "pull_requests": [],
        })
    }

    fn app(&self, is_actions: bool) -> Value {
        let (id, slug) = if is_actions {
            (15368, "github-actions")
        } else {
            (7, "another-ci")
        };
        json!({
            "id": id, "slug": slug, "node_id": format!("A_{id}"), "owner": self.user(Some(1)), "name": slug,
            "description": null, "external_url": "https://example.invalid", "html_url": format!("https://github.com/apps/{slug}"),
            "created_at": "2020-01-01T00:00:00Z", "updated_at": "2020-01-01T00:00:00Z", "permissions": {}, "events": [],
        })
    }

    pub(super) fn status(&self, status: &GithubStatus) -> Value {
        json!({
            "url": format!("{}/statuses/{}", self.api(), status.commit), "avatar_url": null, "id": status.id,
            "node_id": format!("S_{}", status.id), "state": status.state, "description": status.description,
            "target_url": format!("https://ci.example.invalid/{}", status.id), "context": status.context,
            "created_at": time(status.at), "updated_at": time(status.at),
        })
    }

    /// What the statuses of a commit have together, beside their list.
    pub(super) fn combined(&self, commit: &str, state: &str) -> Value {
        let api = self.api();
        json!({
            "state": state, "sha": commit, "repository": self.repository_without(&NOT_IN_STATUSES),
            "commit_url": format!("{api}/commits/{commit}"), "url": format!("{api}/commits/{commit}/status"),
        })
    }

    pub(super) fn branch(
        &self,
        name: &str,
        commit: &str,
        is_protected: bool,
        protection: &Value,
    ) -> Value {
        let (api, page) = (self.api(), page_address(&self.world.repository));
        let own = format!("{api}/commits/{commit}");
        let signed = json!({ "name": "octocat", "email": "octocat@users.noreply.example", "date": "2026-01-01T00:00:00Z" });
        json!({
            "name": name,
            "commit": {
                "url": own, "sha": commit, "node_id": format!("C_{commit}"),
                "html_url": format!("{page}/commit/{commit}"), "comments_url": format!("{own}/comments"),
                "commit": {
                    "url": format!("{api}/git/commits/{commit}"), "author": signed, "committer": signed,
                    "message": "Change", "comment_count": 0,
                    "tree": { "sha": commit, "url": format!("{api}/git/trees/{commit}") },
                },
                "author": self.user(Some(1)), "committer": self.user(Some(1)), "parents": [],
            },
            "_links": { "html": format!("{page}/tree/{name}"), "self": format!("{api}/branches/{name}") },
            "protected": is_protected,
            "protection": protection,
            "protection_url": format!("{api}/branches/{name}/protection"),
        })
    }

    /// Which ways of merging a repository allows.
    pub(in crate::github) fn methods(&self) -> Value {
        let allows = |kind| self.world.forge.allows(kind);
        json!({
            "allow_merge_commit": allows(MergeKind::Merge),
            "allow_squash_merge": allows(MergeKind::Squash),
            "allow_rebase_merge": allows(MergeKind::Rebase),
        })
    }
}

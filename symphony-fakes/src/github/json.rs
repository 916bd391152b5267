//! The forms of GitHub's answers: every field that its description requires.

use serde_json::{Map, Value, json};
use symphony_core::Timestamp;

use super::world::{GithubComment, GithubIssue, GithubWorld, Repository, Role};
use crate::http::message::Request;

/// Writes what exists as an answer to one request.
pub(super) struct Shown<'a> {
    pub(super) world: &'a GithubWorld,
    /// The address of the API.
    api: String,
}

/// Writes a time as GitHub does: without a fraction.
pub(super) fn time(at: Timestamp) -> Value {
    json!(at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

/// The addresses of a user, each with what follows the user's own.
const USER_ADDRESSES: [(&str, &str); 10] = [
    ("events_url", "/events{/privacy}"),
    ("followers_url", "/followers"),
    ("following_url", "/following{/other_user}"),
    ("gists_url", "/gists{/gist_id}"),
    ("organizations_url", "/orgs"),
    ("received_events_url", "/received_events"),
    ("repos_url", "/repos"),
    ("starred_url", "/starred{/owner}{/repo}"),
    ("subscriptions_url", "/subscriptions"),
    ("url", ""),
];

/// The addresses of a repository, each with what follows the repository's own.
const REPOSITORY_ADDRESSES: [&str; 36] = [
    "archive",
    "assignees",
    "blobs",
    "branches",
    "collaborators",
    "comments",
    "commits",
    "compare",
    "contents",
    "contributors",
    "deployments",
    "downloads",
    "events",
    "forks",
    "git_commits",
    "git_refs",
    "git_tags",
    "hooks",
    "issue_comment",
    "issue_events",
    "issues",
    "keys",
    "labels",
    "languages",
    "merges",
    "milestones",
    "notifications",
    "pulls",
    "releases",
    "stargazers",
    "statuses",
    "subscribers",
    "subscription",
    "tags",
    "teams",
    "trees",
];

/// Numbers of a repository that no test needs.
const REPOSITORY_NUMBERS: [&str; 10] = [
    "forks",
    "forks_count",
    "open_issues",
    "open_issues_count",
    "size",
    "stargazers_count",
    "watchers",
    "watchers_count",
    "network_count",
    "subscribers_count",
];

impl<'a> Shown<'a> {
    pub(super) fn of(world: &'a GithubWorld, request: &Request) -> Self {
        Self {
            world,
            api: request.own_address.clone(),
        }
    }

    pub(super) fn repository_address(&self, repository: &Repository) -> String {
        format!(
            "{}/repos/{}/{}",
            self.api, repository.owner, repository.name
        )
    }

    /// A user, as issues and comments have it; deleted users are `null`.
    pub(super) fn user(&self, id: Option<u64>) -> Value {
        let Some((id, login)) = id.and_then(|id| self.world.users.get_key_value(&id)) else {
            return Value::Null;
        };
        let mut user = Map::new();
        user.insert("id".to_owned(), json!(id));
        user.insert("login".to_owned(), json!(login));
        user.insert("node_id".to_owned(), json!(format!("U_{id}")));
        user.insert("type".to_owned(), json!("User"));
        user.insert("site_admin".to_owned(), json!(false));
        user.insert("gravatar_id".to_owned(), json!(""));
        user.insert(
            "html_url".to_owned(),
            json!(format!("https://github.com/{login}")),
        );
        let picture = format!("https://avatars.githubusercontent.com/u/{id}?v=4");
        user.insert("avatar_url".to_owned(), json!(picture));
        for (name, rest) in USER_ADDRESSES {
            let address = format!("{}/users/{login}{rest}", self.api);
            user.insert(name.to_owned(), json!(address));
        }
        Value::Object(user)
    }

    /// A user as they see themselves.
    pub(super) fn own_user(&self, id: u64) -> Value {
        let mut user = self.user(Some(id));
        let own = json!({
            "user_view_type": "public",
            "name": null, "company": null, "blog": "", "location": null, "email": null, "hireable": null, "bio": null,
            "public_repos": 1, "public_gists": 0, "followers": 0, "following": 0,
            "created_at": "2020-01-01T00:00:00Z", "updated_at": "2020-01-01T00:00:00Z",
        });
        merge(&mut user, own);
        user
    }

    pub(super) fn repository(&self, role: Option<Role>) -> Value {
        let repository = &self.world.repository;
        let api = self.repository_address(repository);
        let page = page_address(repository);
        let mut shown = Map::new();
        for name in REPOSITORY_ADDRESSES {
            shown.insert(format!("{name}_url"), json!(format!("{api}/{name}")));
        }
        for name in REPOSITORY_NUMBERS {
            shown.insert(name.to_owned(), json!(0));
        }
        let mut shown = Value::Object(shown);
        let has = |least: Role| role.is_some_and(|role| role >= least);
        merge(
            &mut shown,
            json!({
                "id": repository.id,
                "node_id": format!("R_{}", repository.id),
                "name": repository.name,
                "full_name": format!("{}/{}", repository.owner, repository.name),
                "owner": self.user(Some(1)),
                "private": repository.is_private,
                "archived": repository.is_archived,
                "has_issues": repository.has_issues,
                "permissions": {
                    "admin": false, "maintain": false, "push": has(Role::Write), "triage": has(Role::Triage), "pull": true,
                },
                "url": api,
                "html_url": page,
                "clone_url": format!("{page}.git"),
                "svn_url": page,
                "git_url": format!("git://github.com/{}/{}.git", repository.owner, repository.name),
                "ssh_url": format!("git@github.com:{}/{}.git", repository.owner, repository.name),
                "description": null, "homepage": null, "language": null, "license": null, "mirror_url": null,
                "default_branch": "main", "fork": false, "disabled": false,
                "has_downloads": true, "has_projects": true, "has_wiki": true, "has_pages": false, "has_discussions": false,
                "created_at": "2020-01-01T00:00:00Z", "updated_at": "2020-01-01T00:00:00Z", "pushed_at": "2020-01-01T00:00:00Z",
            }),
        );
        merge(&mut shown, self.methods());
        shown
    }

    pub(super) fn label(&self, name: &str) -> Value {
        let repository = &self.world.repository;
        let id = repository.labels.get(name).copied().unwrap_or_default();
        let escaped: String = form_urlencoded::byte_serialize(name.as_bytes()).collect();
        let escaped = escaped.replace('+', "%20");
        json!({
            "id": id,
            "node_id": format!("LA_{id}"),
            "url": format!("{}/labels/{escaped}", self.repository_address(repository)),
            "name": name,
            "color": "ededed",
            "default": false,
            "description": null,
        })
    }

    pub(super) fn issue(&self, issue: &GithubIssue, repository: &Repository) -> Value {
        let api = self.repository_address(repository);
        let number = issue.number;
        let url = format!("{api}/issues/{number}");
        let kind = if issue.is_pull_request {
            "pull"
        } else {
            "issues"
        };
        let html = format!("{}/{kind}/{number}", page_address(repository));
        let assignees: Vec<Value> = issue
            .assignees
            .iter()
            .map(|id| self.user(Some(*id)))
            .collect();
        let labels: Vec<Value> = issue.labels.iter().map(|name| self.label(name)).collect();
        let comments = repository
            .comments
            .values()
            .filter(|comment| comment.issue == number)
            .count();
        let parts: Vec<_> = repository
            .issues
            .values()
            .filter(|part| part.parent == Some(number))
            .collect();
        let done = parts.iter().filter(|part| !part.is_open).count();
        let closed_at = if issue.is_open {
            Value::Null
        } else {
            time(issue.updated_at)
        };
        let mut shown = json!({
            "id": issue.id,
            "node_id": format!("I_{}", issue.id),
            "url": url,
            "repository_url": api,
            "labels_url": format!("{url}/labels{{/name}}"),
            "comments_url": format!("{url}/comments"),
            "events_url": format!("{url}/events"),
            "html_url": html,
            "number": number,
            "state": if issue.is_open { "open" } else { "closed" },
            "state_reason": issue.reason,
            "title": issue.title,
            "body": issue.body,
            "user": self.user(issue.author),
            "labels": labels,
            "assignee": assignees.first(),
            "assignees": assignees,
            "milestone": null,
            "locked": false,
            "active_lock_reason": null,
            "comments": comments,
            "closed_at": closed_at,
            "created_at": time(issue.created_at),
            "updated_at": time(issue.updated_at),
            "author_association": "NONE",
        });
        if issue.is_pull_request {
            let api = format!("{api}/pulls/{number}");
            merge(
                &mut shown,
                json!({ "pull_request": {
                "url": api, "html_url": html, "diff_url": format!("{html}.diff"), "patch_url": format!("{html}.patch"),
            } }),
            );
        }
        if repository.has_sub_issues {
            let percent = (done * 100).checked_div(parts.len()).unwrap_or(0);
            merge(
                &mut shown,
                json!({
                    "sub_issues_summary": { "total": parts.len(), "completed": done, "percent_completed": percent },
                }),
            );
            if let Some(parent) = issue.parent {
                merge(
                    &mut shown,
                    json!({ "parent_issue_url": format!("{}/issues/{parent}", self.repository_address(repository)) }),
                );
            }
        }
        if repository.has_dependencies {
            let is_open = |number: &&u64| {
                repository
                    .issues
                    .get(number)
                    .is_some_and(|issue| issue.is_open)
            };
            let blocking = repository
                .issues
                .values()
                .filter(|other| other.blocked_by.contains(&number));
            merge(
                &mut shown,
                json!({ "issue_dependencies_summary": {
                "blocked_by": issue.blocked_by.iter().filter(is_open).count(),
                "total_blocked_by": issue.blocked_by.len(),
                "blocking": if issue.is_open { blocking.clone().count() } else { 0 },
                "total_blocking": blocking.count(),
            } }),
            );
        }
        shown
    }

    pub(super) fn comment(&self, comment: &GithubComment) -> Value {
        let repository = &self.world.repository;
        let api = self.repository_address(repository);
        let is_pull_request = repository
            .issues
            .get(&comment.issue)
            .is_some_and(|issue| issue.is_pull_request);
        let kind = if is_pull_request { "pull" } else { "issues" };
        json!({
            "id": comment.id,
            "node_id": format!("IC_{}", comment.id),
            "url": format!("{api}/issues/comments/{}", comment.id),
            "html_url": format!("{}/{kind}/{}#issuecomment-{}", page_address(repository), comment.issue, comment.id),
            "issue_url": format!("{api}/issues/{}", comment.issue),
            "body": comment.body,
            "user": self.user(comment.author),
            "created_at": time(comment.created_at),
            "updated_at": time(comment.updated_at),
            "author_association": "NONE",
            "performed_via_github_app": null,
        })
    }
}

/// Returns the address of a repository's page, which is not the API's.
pub(super) fn page_address(repository: &Repository) -> String {
    format!(
        "https://github.com/{}/{}",
        repository.owner, repository.name
    )
}

pub(super) fn merge(target: &mut Value, more: Value) {
    if let (Value::Object(target), Value::Object(more)) = (target, more) {
        target.extend(more);
    }
}

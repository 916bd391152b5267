//! The parts of GitHub's answers that are read, and what they mean.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde::de::IgnoredAny;
use symphony_core::Timestamp;
use symphony_tracker::remote::{
    ExternalId, RemoteComment, RemoteIssue, RemoteState, RemoteUser, StateGroup,
};

/// A user.
#[derive(Debug, Deserialize)]
pub(super) struct WireUser {
    pub(super) id: u64,
    pub(super) login: String,
}

impl WireUser {
    pub(super) fn user(self) -> RemoteUser {
        RemoteUser {
            id: ExternalId::new(self.id.to_string()),
            login: self.login,
        }
    }
}

/// A label; old answers have the name alone.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum WireLabel {
    Name(String),
    Full { name: Option<String> },
}

impl WireLabel {
    pub(super) fn name(self) -> Option<String> {
        match self {
            Self::Name(name) => Some(name),
            Self::Full { name } => name,
        }
    }
}

/// How many open issues block one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct DependenciesSummary {
    blocked_by: u64,
    total_blocked_by: u64,
}

/// An issue or a pull request.
#[derive(Debug, Deserialize)]
pub(super) struct WireIssue {
    /// The id that the API of sub-issues takes; everything else takes the number.
    pub(super) id: u64,
    pub(super) number: u64,
    html_url: String,
    pub(super) repository_url: String,
    title: String,
    pub(super) body: Option<String>,
    state: String,
    state_reason: Option<String>,
    labels: Vec<WireLabel>,
    assignees: Option<Vec<WireUser>>,
    user: Option<WireUser>,
    pull_request: Option<IgnoredAny>,
    parent_issue_url: Option<String>,
    issue_dependencies_summary: Option<DependenciesSummary>,
    created_at: Timestamp,
    pub(super) updated_at: Timestamp,
}

impl WireIssue {
    pub(super) const fn is_pull_request(&self) -> bool {
        self.pull_request.is_some()
    }

    /// Whether its blockers have to be asked for.
    pub(super) fn has_blockers(&self) -> bool {
        let summary = self.issue_dependencies_summary.as_ref();
        summary.is_some_and(|summary| summary.blocked_by > 0 || summary.total_blocked_by > 0)
    }

    /// Returns the number of the issue that it is a part of, if that is in the same repository.
    pub(super) fn parent(&self) -> Option<u64> {
        let (repository, number) = self.parent_issue_url.as_deref()?.rsplit_once("/issues/")?;
        let is_here = repository.eq_ignore_ascii_case(&self.repository_url);
        number.parse().ok().filter(|_| is_here)
    }

    /// Returns the issue in the form of all trackers, with its blockers.
    pub(super) fn issue(self, blocked_by: BTreeSet<ExternalId>) -> RemoteIssue {
        let parent = self.parent().map(external);
        let names = self.labels.into_iter().filter_map(WireLabel::name);
        RemoteIssue {
            id: external(self.number),
            key: format!("#{}", self.number),
            url: self.html_url,
            title: self.title,
            body: unix_lines(self.body.as_deref().unwrap_or_default()),
            state: state(&self.state, self.state_reason.as_deref()),
            labels: names.collect(),
            priority: None,
            assignees: self
                .assignees
                .unwrap_or_default()
                .into_iter()
                .map(WireUser::user)
                .collect(),
            author: self.user.map(WireUser::user),
            parent,
            blocked_by,
            created_at: self.created_at,
            updated_at: self.updated_at,
        }
    }
}

/// A comment on an issue or a pull request.
#[derive(Debug, Deserialize)]
pub(super) struct WireComment {
    pub(super) id: u64,
    html_url: String,
    issue_url: String,
    user: Option<WireUser>,
    pub(super) body: Option<String>,
    created_at: Timestamp,
    pub(super) updated_at: Timestamp,
}

impl WireComment {
    /// Returns the comment in the form of all trackers; nothing for one on a pull request.
    pub(super) fn comment(self) -> Option<RemoteComment> {
        let (_, number) = self.issue_url.rsplit_once("/issues/")?;
        let is_of_pull_request = self.html_url.contains("/pull/");
        let issue: u64 = number.parse().ok().filter(|_| !is_of_pull_request)?;
        Some(self.comment_on(issue))
    }

    /// Returns the comment as one on an issue or a pull request that is known.
    pub(super) fn comment_on(self, number: u64) -> RemoteComment {
        RemoteComment {
            id: external(self.id),
            issue: external(number),
            author: self.user.map(WireUser::user),
            body: unix_lines(self.body.as_deref().unwrap_or_default()),
            is_edited: self.updated_at > self.created_at,
            created_at: self.created_at,
            updated_at: self.updated_at,
        }
    }
}

/// What a token may do in a repository.
#[expect(clippy::struct_excessive_bools, reason = "the form of GitHub's answer")]
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct Permissions {
    pub(super) admin: bool,
    pub(super) maintain: bool,
    pub(super) push: bool,
    pub(super) triage: bool,
}

/// A repository.
#[derive(Debug, Deserialize)]
pub(super) struct WireRepository {
    pub(super) full_name: String,
    pub(super) url: String,
    #[serde(default)]
    pub(super) private: bool,
    #[serde(default)]
    pub(super) archived: bool,
    #[serde(default = "yes")]
    pub(super) has_issues: bool,
    pub(super) permissions: Option<Permissions>,
    #[serde(default)]
    pub(super) default_branch: String,
    /// Which ways of merging are allowed; missing for those who may not push.
    pub(super) allow_merge_commit: Option<bool>,
    pub(super) allow_squash_merge: Option<bool>,
    pub(super) allow_rebase_merge: Option<bool>,
}

const fn yes() -> bool {
    true
}

pub(super) fn external(number: u64) -> ExternalId {
    ExternalId::new(number.to_string())
}

/// Returns a text with `\n` as line end: what people type on the page has `\r\n`.
pub(super) fn unix_lines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// Returns what a state means with its reason. Closed without one is done: so were all before there were reasons.
fn state(name: &str, reason: Option<&str>) -> RemoteState {
    let group = match (name, reason) {
        ("closed", Some("not_planned" | "duplicate")) => StateGroup::NotPlanned,
        ("closed", _) => StateGroup::Completed,
        _ => StateGroup::Open,
    };
    RemoteState {
        name: name.to_owned(),
        group,
    }
}

//! The parts of Linear's answers that are read, and what they mean.

use serde::Deserialize;
use symphony_core::Timestamp;
use symphony_core::issue::Priority;
use symphony_tracker::remote::{
    ExternalId, RemoteComment, RemoteIssue, RemoteState, RemoteUser, StateGroup,
};

/// An answer without errors.
#[derive(Debug, Deserialize)]
pub(super) struct Reply<T> {
    pub(super) data: T,
}

/// A list, or a page of one.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Nodes<T> {
    pub(super) nodes: Vec<T>,
    pub(super) page_info: Option<PageInfo>,
}

impl<T> Nodes<T> {
    /// Returns where the next page begins.
    pub(super) fn next(&self) -> Option<&str> {
        let info = self.page_info.as_ref().filter(|info| info.has_next_page)?;
        info.end_cursor.as_deref()
    }
}

/// Whether a page follows.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PageInfo {
    has_next_page: bool,
    end_cursor: Option<String>,
}

/// An entity of which only the id is asked.
#[derive(Debug, Deserialize)]
pub(super) struct Id {
    pub(super) id: String,
}

/// An entity with a name.
#[derive(Debug, Deserialize)]
pub(super) struct Named {
    pub(super) id: String,
    pub(super) name: String,
}

/// A user.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireUser {
    id: String,
    display_name: String,
    #[serde(default)]
    pub(super) guest: bool,
}

impl WireUser {
    pub(super) fn user(self) -> RemoteUser {
        RemoteUser {
            id: ExternalId::new(self.id),
            login: self.display_name,
        }
    }
}

/// A state of a team.
#[derive(Debug, Deserialize)]
pub(super) struct WireState {
    #[serde(default)]
    pub(super) id: String,
    pub(super) name: String,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    pub(super) position: f64,
}

impl WireState {
    /// Returns what the state means.
    pub(super) fn group(&self) -> StateGroup {
        match self.kind.as_str() {
            "started" => StateGroup::Started,
            "completed" => StateGroup::Completed,
            "canceled" | "cancelled" | "duplicate" => StateGroup::NotPlanned,
            // triage, backlog, unstarted, and what may come
            _ => StateGroup::Open,
        }
    }

    /// Returns which of the states of one group a person would choose first: the lowest.
    pub(super) fn rank(&self) -> u8 {
        match self.kind.as_str() {
            "backlog" => 1,
            "triage" | "duplicate" => 2,
            _ => 0,
        }
    }
}

#[derive(Debug, Deserialize)]
struct LabelName {
    name: String,
}

/// A relation as the issue at its other end sees it.
#[derive(Debug, Deserialize)]
struct WireRelation {
    #[serde(rename = "type")]
    kind: String,
    issue: Id,
}

/// A team.
#[derive(Debug, Deserialize)]
pub(super) struct WireTeam {
    #[serde(default)]
    pub(super) id: String,
    pub(super) key: String,
    #[serde(default)]
    pub(super) name: String,
    pub(super) states: Option<Nodes<WireState>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireProject {
    slug_id: String,
}

/// An issue.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireIssue {
    pub(super) id: String,
    pub(super) identifier: String,
    url: String,
    title: String,
    description: Option<String>,
    priority: f64,
    trashed: Option<bool>,
    created_at: Timestamp,
    pub(super) updated_at: Timestamp,
    pub(super) team: WireTeam,
    project: Option<WireProject>,
    state: WireState,
    assignee: Option<WireUser>,
    creator: Option<WireUser>,
    parent: Option<Id>,
    labels: Nodes<LabelName>,
    inverse_relations: Nodes<WireRelation>,
}

impl WireIssue {
    /// Whether its labels or relations have more than one page.
    pub(super) fn is_cut(&self) -> bool {
        self.labels.next().is_some() || self.inverse_relations.next().is_some()
    }

    /// Returns the slug id of its project.
    pub(super) fn project_slug(&self) -> Option<&String> {
        self.project.as_ref().map(|project| &project.slug_id)
    }

    /// Returns the issue in the form of all trackers. One in the bin is not wanted, whatever its state is.
    pub(super) fn issue(self) -> RemoteIssue {
        let is_trashed = self.trashed == Some(true);
        let group = match self.state.group() {
            _ if is_trashed => StateGroup::NotPlanned,
            group => group,
        };
        let blockers = self.inverse_relations.nodes.into_iter();
        let blockers = blockers.filter(|relation| relation.kind == "blocks");
        RemoteIssue {
            id: ExternalId::new(self.id),
            key: self.identifier,
            url: self.url,
            title: self.title,
            body: unix_lines(self.description.as_deref().unwrap_or_default()),
            state: RemoteState {
                name: self.state.name,
                group,
            },
            labels: self
                .labels
                .nodes
                .into_iter()
                .map(|label| label.name)
                .collect(),
            priority: Some(priority(self.priority)),
            assignees: self.assignee.into_iter().map(WireUser::user).collect(),
            author: self.creator.map(WireUser::user),
            parent: self.parent.map(|parent| ExternalId::new(parent.id)),
            blocked_by: blockers
                .map(|relation| ExternalId::new(relation.issue.id))
                .collect(),
            created_at: self.created_at,
            updated_at: self.updated_at,
        }
    }
}

/// A comment; those on projects and documents have no issue.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireComment {
    pub(super) id: String,
    body: String,
    created_at: Timestamp,
    pub(super) updated_at: Timestamp,
    edited_at: Option<Timestamp>,
    issue: Option<Id>,
    user: Option<WireUser>,
}

impl WireComment {
    pub(super) fn comment(self) -> Option<RemoteComment> {
        Some(RemoteComment {
            id: ExternalId::new(self.id),
            issue: ExternalId::new(self.issue?.id),
            author: self.user.map(WireUser::user),
            body: unix_lines(&self.body),
            is_edited: self.edited_at.is_some(),
            created_at: self.created_at,
            updated_at: self.updated_at,
        })
    }
}

/// Issues by a filter.
#[derive(Debug, Deserialize)]
pub(super) struct IssuesData {
    pub(super) issues: Nodes<WireIssue>,
}

/// One issue.
#[derive(Debug, Deserialize)]
pub(super) struct IssueData {
    pub(super) issue: WireIssue,
}

/// Reads a priority: a number, for which Linear's schema has a fraction.
fn priority(number: f64) -> Priority {
    let is = |whole: f64| (number - whole).abs() < 0.5;
    match number {
        _ if is(1.0) => Priority::Urgent,
        _ if is(2.0) => Priority::High,
        _ if is(3.0) => Priority::Medium,
        _ if is(4.0) => Priority::Low,
        _ => Priority::None,
    }
}

/// Returns the number of a priority.
pub(super) const fn priority_number(priority: Priority) -> u8 {
    match priority {
        Priority::None => 0,
        Priority::Urgent => 1,
        Priority::High => 2,
        Priority::Medium => 3,
        Priority::Low => 4,
    }
}

fn unix_lines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

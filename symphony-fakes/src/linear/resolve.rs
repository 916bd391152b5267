//! The fields of each thing.

use serde_json::{Value, json};
use symphony_core::Timestamp;

use super::filter::matches;
use super::graphql::Problem;
use super::world::LinearWorld;

/// A thing that has fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    Issue(String),
    Comment(String),
    Team(String),
    State(String),
    Label(String),
    User(String),
    Project(String),
    Relation(usize),
}

/// What a field has.
#[derive(Debug)]
pub(super) enum Resolved {
    Scalar(Value),
    One(Option<Node>),
    Page(Page),
    Payload(Vec<(&'static str, Resolved)>),
}

/// A page of a list.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) nodes: Vec<Node>,
    pub(super) has_next: bool,
    pub(super) has_previous: bool,
}

impl Node {
    pub(super) const fn type_name(&self) -> &'static str {
        match self {
            Self::Issue(_) => "Issue",
            Self::Comment(_) => "Comment",
            Self::Team(_) => "Team",
            Self::State(_) => "WorkflowState",
            Self::Label(_) => "IssueLabel",
            Self::User(_) => "User",
            Self::Project(_) => "Project",
            Self::Relation(_) => "IssueRelation",
        }
    }

    pub(super) fn id(&self) -> String {
        match self {
            Self::Issue(id)
            | Self::Comment(id)
            | Self::Team(id)
            | Self::State(id)
            | Self::Label(id)
            | Self::User(id)
            | Self::Project(id) => id.clone(),
            Self::Relation(place) => format!("relation-{place}"),
        }
    }
}

/// Most items of a page, and how many there are when nothing is asked.
const ITEMS_MAX: u64 = 250;
const ITEMS_DEFAULT: u64 = 50;

fn text(value: impl Into<String>) -> Resolved {
    Resolved::Scalar(json!(value.into()))
}

fn one(id: Option<&String>, make: fn(String) -> Node) -> Resolved {
    Resolved::One(id.cloned().map(make))
}

impl LinearWorld {
    /// Returns a field of a thing; nothing if there is no such field.
    pub(super) fn field(
        &self,
        node: &Node,
        name: &str,
        arguments: &Value,
    ) -> Result<Resolved, Problem> {
        let found = match node {
            _ if name == "id" => Some(text(node.id())),
            Node::Issue(id) => self.issue_field(id, name, arguments)?,
            Node::Comment(id) => self.comment_field(id, name),
            Node::Team(id) => self.team_field(id, name, arguments)?,
            Node::State(id) => self.states.get(id).and_then(|state| match name {
                "name" => Some(text(&state.name)),
                "type" => Some(text(state.kind)),
                "position" => Some(Resolved::Scalar(json!(state.position))),
                _ => None,
            }),
            Node::Label(id) => self.labels.get(id).and_then(|label| match name {
                "name" => Some(text(&label.name)),
                "isGroup" => Some(Resolved::Scalar(json!(false))),
                "team" => Some(one(label.team.as_ref(), Node::Team)),
                _ => None,
            }),
            Node::User(id) => self.users.get(id).and_then(|user| match name {
                "name" | "displayName" => Some(text(user)),
                "guest" => Some(Resolved::Scalar(json!(false))),
                _ => None,
            }),
            Node::Project(id) => self.projects.get(id).and_then(|project| match name {
                "name" => Some(text(&project.name)),
                "slugId" => Some(text(&project.slug)),
                _ => None,
            }),
            Node::Relation(place) => self.relations.get(*place).and_then(|relation| match name {
                "type" => Some(text(&relation.kind)),
                "issue" => Some(one(Some(&relation.issue), Node::Issue)),
                "relatedIssue" => Some(one(Some(&relation.related), Node::Issue)),
                _ => None,
            }),
        };
        found.ok_or_else(|| Problem::unknown_field(node.type_name(), name))
    }

    fn issue_field(
        &self,
        id: &str,
        name: &str,
        arguments: &Value,
    ) -> Result<Option<Resolved>, Problem> {
        let Some(issue) = self.issues.get(id) else {
            return Err(Problem::not_found("Issue"));
        };
        Ok(Some(match name {
            "identifier" => {
                let key = self.teams.get(&issue.team).map(|team| team.key.as_str());
                text(format!("{}-{}", key.unwrap_or_default(), issue.number))
            }
            "title" => text(&issue.title),
            "description" => Resolved::Scalar(json!(issue.description)),
            "url" => text(format!("https://linear.app/acme/issue/{id}")),
            "branchName" => text(format!("ada/{}", issue.number)),
            "number" => Resolved::Scalar(json!(issue.number)),
            "priority" => Resolved::Scalar(json!(f64::from(issue.priority))),
            "trashed" => Resolved::Scalar(json!(issue.is_trashed.then_some(true))),
            "createdAt" => text(issue.created_at.to_string()),
            "updatedAt" => text(issue.updated_at.to_string()),
            "team" => one(Some(&issue.team), Node::Team),
            "project" => one(issue.project.as_ref(), Node::Project),
            "state" => one(Some(&issue.state), Node::State),
            "assignee" => one(issue.assignee.as_ref(), Node::User),
            "creator" => one(issue.creator.as_ref(), Node::User),
            "parent" => one(issue.parent.as_ref(), Node::Issue),
            "labels" => {
                let labels = issue.labels.iter().cloned().map(Node::Label);
                Resolved::Page(self.page(labels.collect(), arguments)?)
            }
            "inverseRelations" => {
                let relations = (0_usize..).zip(&self.relations);
                let here = relations.filter(|(_, relation)| relation.related == id);
                let nodes = here.map(|(place, _)| Node::Relation(place));
                Resolved::Page(self.page(nodes.collect(), arguments)?)
            }
            _ => return Ok(None),
        }))
    }

    fn comment_field(&self, id: &str, name: &str) -> Option<Resolved> {
        let comment = self.comments.get(id)?;
        Some(match name {
            "body" => text(&comment.body),
            "createdAt" => text(comment.created_at.to_string()),
            "updatedAt" => text(comment.updated_at.to_string()),
            "editedAt" => Resolved::Scalar(json!(comment.edited_at)),
            "issue" => one(comment.issue.as_ref(), Node::Issue),
            "user" => one(comment.user.as_ref(), Node::User),
            _ => return None,
        })
    }

    fn team_field(
        &self,
        id: &str,
        name: &str,
        arguments: &Value,
    ) -> Result<Option<Resolved>, Problem> {
        let Some(team) = self.teams.get(id) else {
            return Err(Problem::not_found("Team"));
        };
        Ok(Some(match name {
            "key" => text(&team.key),
            "name" => text(&team.name),
            "states" => {
                let states = self.states.iter().filter(|(_, state)| state.team == id);
                let nodes = states.map(|(id, _)| Node::State(id.clone()));
                Resolved::Page(self.page(nodes.collect(), arguments)?)
            }
            _ => return Ok(None),
        }))
    }

    /// Returns a field at the top of a query.
    pub(super) fn query_field(&self, name: &str, arguments: &Value) -> Result<Resolved, Problem> {
        let id = arguments.get("id").and_then(Value::as_str);
        let found = |is_known: bool, kind: &str, make: fn(String) -> Node| match id {
            Some(id) if is_known => Ok(Resolved::One(Some(make(id.to_owned())))),
            _ => Err(Problem::not_found(kind)),
        };
        let has = |keys: &dyn Fn(&str) -> bool| id.is_some_and(keys);
        let all = |ids: Vec<Node>| self.list(ids, arguments);
        match name {
            "viewer" => Ok(Resolved::One(Some(Node::User(self.viewer.clone())))),
            "issue" => found(
                has(&|id| self.issues.contains_key(id)),
                "Issue",
                Node::Issue,
            ),
            "comment" => found(
                has(&|id| self.comments.contains_key(id)),
                "Comment",
                Node::Comment,
            ),
            "issues" => all(self.issues.keys().cloned().map(Node::Issue).collect()),
            "comments" => all(self.comments.keys().cloned().map(Node::Comment).collect()),
            "teams" => all(self.teams.keys().cloned().map(Node::Team).collect()),
            "projects" => all(self.projects.keys().cloned().map(Node::Project).collect()),
            "issueLabels" => all(self.labels.keys().cloned().map(Node::Label).collect()),
            _ => Err(Problem::unknown_field("Query", name)),
        }
    }

    fn list(&self, nodes: Vec<Node>, arguments: &Value) -> Result<Resolved, Problem> {
        let filter = arguments.get("filter").unwrap_or(&Value::Null);
        let with_archive = arguments.get("includeArchived") == Some(&Value::Bool(true));
        let mut found = Vec::new();
        for node in nodes {
            if (with_archive || !self.is_archived(&node)) && matches(self, &node, filter)? {
                found.push(node);
            }
        }
        Ok(Resolved::Page(self.page(found, arguments)?))
    }

    fn is_archived(&self, node: &Node) -> bool {
        match node {
            Node::Issue(id) => self
                .issues
                .get(id)
                .is_some_and(|issue| issue.is_archived || issue.is_trashed),
            _ => false,
        }
    }

    /// Cuts a page out of a list, the last changed first; things without times keep their order.
    fn page(&self, mut nodes: Vec<Node>, arguments: &Value) -> Result<Page, Problem> {
        let by_change = arguments.get("orderBy").and_then(Value::as_str) == Some("updatedAt");
        nodes.sort_by_key(|node| std::cmp::Reverse((self.time(node, by_change), node.id())));
        let first = arguments.get("first").and_then(Value::as_u64);
        let first = first.unwrap_or(ITEMS_DEFAULT);
        if first > ITEMS_MAX {
            return Err(Problem::input("first can be at most 250"));
        }
        let start = match arguments.get("after").and_then(Value::as_str) {
            Some(after) => {
                let place = nodes.iter().position(|node| node.id() == after);
                place.ok_or_else(|| Problem::input("the cursor is not valid"))? + 1
            }
            None => 0,
        };
        let size = usize::try_from(first).unwrap_or(usize::MAX);
        let has_next = nodes.len() > start.saturating_add(size);
        Ok(Page {
            nodes: nodes.into_iter().skip(start).take(size).collect(),
            has_next,
            has_previous: start > 0,
        })
    }

    fn time(&self, node: &Node, by_change: bool) -> Timestamp {
        let times = match node {
            Node::Issue(id) => self
                .issues
                .get(id)
                .map(|issue| (issue.created_at, issue.updated_at)),
            Node::Comment(id) => {
                let comment = self.comments.get(id);
                comment.map(|comment| (comment.created_at, comment.updated_at))
            }
            _ => None,
        };
        let (created_at, updated_at) = times.unwrap_or((Timestamp::MIN, Timestamp::MIN));
        if by_change { updated_at } else { created_at }
    }
}

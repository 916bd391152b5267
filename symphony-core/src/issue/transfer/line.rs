//! One issue of an export, and what is wrong with one.

use serde::{Deserialize, Serialize};

use crate::config::NamedProvider;
use crate::issue::attributes::{IssueStatus, Priority, Size};
use crate::issue::record::{Issue, check_labels, check_line, check_text, check_title};
use crate::issue::state::IssueState;
use crate::profile::{AgentChoice, ModelName};

/// One issue of an export. Only `title` is required.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IssueLine {
    /// Its identifier where it was exported.
    #[serde(default)]
    pub identifier: Option<String>,
    /// Title.
    pub title: String,
    /// The description.
    #[serde(default)]
    pub description: String,
    /// Its state.
    #[serde(default = "todo")]
    pub status: IssueStatus,
    /// The priority.
    #[serde(default = "no_priority")]
    pub priority: Priority,
    /// The estimated size.
    #[serde(default)]
    pub size: Option<Size>,
    /// Labels.
    #[serde(default)]
    pub labels: Vec<String>,
    /// The issue that it is a part of.
    #[serde(default)]
    pub parent: Option<String>,
    /// Issues that must be done before.
    #[serde(default)]
    pub depends_on: Vec<String>,
    /// Its id in another tracker.
    #[serde(default)]
    pub external_id: Option<String>,
    /// The provider that its authors run with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The model that its authors use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelName>,
}

const fn todo() -> IssueStatus {
    IssueStatus::Todo
}

const fn no_priority() -> Priority {
    Priority::None
}

impl IssueLine {
    /// A line with a title and defaults for everything else.
    pub fn titled(title: impl Into<String>) -> Self {
        Self {
            identifier: None,
            title: title.into(),
            description: String::new(),
            status: todo(),
            priority: no_priority(),
            size: None,
            labels: Vec::new(),
            parent: None,
            depends_on: Vec::new(),
            external_id: None,
            agent: None,
            model: None,
        }
    }

    /// Returns where the issue begins here: what was in progress or in review elsewhere has to be done again, what was
    /// blocked there goes to the backlog.
    pub const fn state(&self) -> IssueState {
        match self.status {
            IssueStatus::Backlog | IssueStatus::Blocked => IssueState::Backlog,
            IssueStatus::Todo | IssueStatus::InProgress | IssueStatus::Review => IssueState::Todo,
            IssueStatus::Done => IssueState::Done,
            IssueStatus::Cancelled => IssueState::Cancelled,
        }
    }

    /// Returns every name that the line uses for other issues.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parent
            .iter()
            .chain(&self.depends_on)
            .map(String::as_str)
    }

    /// Returns what its authors run with.
    pub fn choice(&self) -> AgentChoice {
        AgentChoice {
            provider: self.agent.clone(),
            model: self.model.clone(),
        }
    }

    pub(super) fn problems(&self) -> Vec<String> {
        let external = self
            .external_id
            .as_ref()
            .map_or(Ok(()), |id| check_line("external_id", id));
        let agent = self.agent.as_deref().map(NamedProvider::parse);
        let agent = agent.and_then(Result::err).map(|error| error.to_string());
        [
            check_title(&self.title),
            check_text("description", &self.description),
            check_labels(&self.labels),
            external,
        ]
        .into_iter()
        .filter_map(Result::err)
        .map(|error| error.to_string())
        .chain(agent)
        .collect()
    }
}

impl From<&Issue> for IssueLine {
    fn from(issue: &Issue) -> Self {
        Self {
            identifier: Some(issue.id.to_string()),
            title: issue.title.clone(),
            description: issue.description.clone(),
            status: issue.state.status(),
            priority: issue.priority,
            size: issue.size,
            labels: issue.labels.clone(),
            parent: issue.parent.as_ref().map(ToString::to_string),
            depends_on: issue.depends_on.iter().map(ToString::to_string).collect(),
            external_id: issue.external_id.clone(),
            agent: issue.choice.provider.clone(),
            model: issue.choice.model.clone(),
        }
    }
}

/// What is wrong with a document, and where.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TransferProblem {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub problem: String,
}

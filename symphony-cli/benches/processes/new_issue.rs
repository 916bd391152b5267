//! An issue that can start.

use symphony_core::id::ProjectId;
use symphony_core::issue::{IssueStatus, Priority};
use symphony_core::profile::AgentChoice;
use symphony_store::NewIssue;

pub(crate) fn new_issue(project: &ProjectId, title: String) -> NewIssue {
    NewIssue {
        project: project.clone(),
        title,
        description: "Please do it.".into(),
        status: IssueStatus::Todo,
        priority: Priority::None,
        size: None,
        labels: vec![],
        parent: None,
        depends_on: vec![],
        external_id: None,
        choice: AgentChoice::default(),
    }
}

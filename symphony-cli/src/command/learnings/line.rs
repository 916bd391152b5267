//! One learning as a line of an export.

use serde::{Deserialize, Serialize};
use symphony_core::Timestamp;
use symphony_core::id::{IssueId, LearningId, ProjectId, RunId};
use symphony_core::issue::CommentAuthor;
use symphony_core::learning::{Learning, LearningState, LearningType};
use symphony_store::LearningRecord;

/// A line. Only `pattern` is required: what is missing is as if a person had just added the learning.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LearningLine {
    #[serde(default = "first_version")]
    version: FirstVersion,
    #[serde(default)]
    id: Option<LearningId>,
    #[serde(default)]
    project: Option<ProjectId>,
    #[serde(default)]
    issue: Option<IssueId>,
    #[serde(default)]
    run: Option<RunId>,
    #[serde(default)]
    commit: Option<String>,
    #[serde(default)]
    author: Option<CommentAuthor>,
    pattern: String,
    #[serde(default)]
    learning_type: Option<LearningType>,
    #[serde(default)]
    applies_to: Vec<String>,
    #[serde(default)]
    labels: Vec<String>,
    #[serde(default)]
    state: Option<LearningState>,
    /// The field that exports had before there were states.
    #[serde(default, skip_serializing)]
    retired: bool,
    #[serde(default)]
    created_at: Option<Timestamp>,
}

/// The version of these lines: 1.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
struct FirstVersion;

const fn first_version() -> FirstVersion {
    FirstVersion
}

impl TryFrom<u32> for FirstVersion {
    type Error = String;

    fn try_from(found: u32) -> Result<Self, String> {
        if found == 1 {
            Ok(Self)
        } else {
            Err(format!("{found} is unknown here; expected 1"))
        }
    }
}

impl From<FirstVersion> for u32 {
    fn from(FirstVersion: FirstVersion) -> Self {
        1
    }
}

impl LearningLine {
    /// Makes the record; a missing project is none of this installation's, so that issue and run do not count.
    pub(super) fn into_record(self, own: &ProjectId, now: Timestamp) -> LearningRecord {
        let fresh = || {
            LearningId::parse(uuid::Uuid::now_v7().to_string()).expect("a UUID is a learning id")
        };
        let is_placed = self.project.is_some();
        LearningRecord {
            learning: Learning {
                id: self.id.unwrap_or_else(fresh),
                pattern: self.pattern,
                learning_type: self.learning_type,
                applies_to: self.applies_to,
                labels: self.labels,
                created_at: self.created_at.unwrap_or(now),
            },
            project: self.project.unwrap_or_else(|| own.clone()),
            issue: self.issue.filter(|_issue| is_placed),
            run: self.run.filter(|_run| is_placed),
            commit: self.commit,
            author: self.author.unwrap_or(CommentAuthor::Human),
            state: self.state.unwrap_or(if self.retired {
                LearningState::Retired
            } else {
                LearningState::Accepted
            }),
            sources: Vec::new(),
        }
    }
}

impl From<LearningRecord> for LearningLine {
    fn from(record: LearningRecord) -> Self {
        let learning = record.learning;
        Self {
            version: FirstVersion,
            id: Some(learning.id),
            project: Some(record.project),
            issue: record.issue,
            run: record.run,
            commit: record.commit,
            author: Some(record.author),
            pattern: learning.pattern,
            learning_type: learning.learning_type,
            applies_to: learning.applies_to,
            labels: learning.labels,
            state: Some(record.state),
            retired: false,
            created_at: Some(learning.created_at),
        }
    }
}

//! Learnings.

use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::id::{IssueId, LearningId, ProjectId, RunId};
use symphony_core::issue::CommentAuthor;
use symphony_core::learning::LearningType;
use symphony_learning::Parts;
use symphony_store::LearningRecord;

use crate::output::{List, Page, Table, View, ago};

/// A learning.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct LearningView {
    pub(crate) id: LearningId,
    pub(crate) project: ProjectId,
    pub(crate) issue: Option<IssueId>,
    pub(crate) run: Option<RunId>,
    pub(crate) commit: Option<String>,
    pub(crate) author: CommentAuthor,
    pub(crate) pattern: String,
    pub(crate) learning_type: Option<LearningType>,
    pub(crate) applies_to: Vec<String>,
    pub(crate) labels: Vec<String>,
    pub(crate) retired: bool,
    pub(crate) created_at: Timestamp,
}

impl From<LearningRecord> for LearningView {
    fn from(record: LearningRecord) -> Self {
        let learning = record.learning;
        Self {
            id: learning.id,
            project: record.project,
            issue: record.issue,
            run: record.run,
            commit: record.commit,
            author: record.author,
            pattern: learning.pattern,
            learning_type: learning.learning_type,
            applies_to: learning.applies_to,
            labels: learning.labels,
            retired: record.retired,
            created_at: learning.created_at,
        }
    }
}

fn kind(learning: &LearningView) -> String {
    learning
        .learning_type
        .map_or("", LearningType::name)
        .to_owned()
}

impl View for List<LearningView> {
    fn write(&self, page: &mut Page) {
        if self.items.is_empty() {
            page.line("No learnings.");
            return;
        }
        let mut table = Table::new(["TYPE", "ISSUE", "CREATED", "LEARNING", "APPLIES TO"]);
        for learning in &self.items {
            table.row([
                kind(learning),
                learning
                    .issue
                    .as_ref()
                    .map_or_else(String::new, ToString::to_string),
                ago(learning.created_at, page.now()),
                learning.pattern.clone(),
                learning.applies_to.join(", "),
            ]);
        }
        page.table(&table);
    }
}

/// A learning with its score for a query.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ScoredLearning {
    #[serde(flatten)]
    pub(crate) learning: LearningView,
    pub(crate) score: f64,
    pub(crate) parts: Parts,
}

impl View for List<ScoredLearning> {
    fn write(&self, page: &mut Page) {
        if self.items.is_empty() {
            page.line("No learning fits.");
            return;
        }
        let mut table = Table::new(["SCORE", "PATHS", "WORDS", "AGE", "TYPE", "LEARNING"]);
        for found in &self.items {
            let parts = found.parts;
            table.row([
                format!("{:.3}", found.score),
                format!("{:.2}", parts.paths),
                format!("{:.2}", parts.keywords),
                format!("{:.2}", parts.recency),
                kind(&found.learning),
                found.learning.pattern.clone(),
            ]);
        }
        page.table(&table);
    }
}

//! A learning with how useful it was.

use std::collections::BTreeMap;

use serde::Serialize;
use symphony_core::id::{LearningId, ProjectId};
use symphony_learning::Comparison;
use symphony_store::{LearningRecord, Store, StoreError};

use super::learning::{LearningView, write_learnings};
use crate::text::{Listed, Page, View, ago};

/// A learning, and a comparison of issues whose agents had it with issues whose agents did not.
#[derive(Debug, Clone, Serialize)]
pub struct MeasuredLearning {
    /// The learning.
    #[serde(flatten)]
    pub learning: LearningView,
    /// None while no issue that is done had it.
    pub usefulness: Option<Comparison>,
}

impl MeasuredLearning {
    /// Adds to learnings how useful they were.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn of(records: Vec<LearningRecord>, store: &Store) -> Result<Vec<Self>, StoreError> {
        let mut compared: BTreeMap<ProjectId, BTreeMap<LearningId, Comparison>> = BTreeMap::new();
        for record in &records {
            if !compared.contains_key(&record.project) {
                let found = store.learning_comparisons(&record.project)?;
                compared.insert(record.project.clone(), found);
            }
        }
        let measured = records.into_iter().map(|record| {
            let of_project = compared.get(&record.project);
            let usefulness = of_project.and_then(|found| found.get(&record.learning.id));
            Self {
                usefulness: usefulness.copied(),
                learning: record.into(),
            }
        });
        Ok(measured.collect())
    }
}

impl Listed for MeasuredLearning {
    fn write_all(items: &[Self], page: &mut Page) {
        write_learnings(items.iter().map(|item| &item.learning), page);
    }
}

impl View for MeasuredLearning {
    fn write(&self, page: &mut Page) {
        let learning = &self.learning;
        page.field("learning", learning.id.as_str());
        page.field("state", learning.state.name());
        if let Some(kind) = learning.learning_type {
            page.field("type", kind.name());
        }
        page.field("author", learning.author.name());
        page.field("created", &ago(learning.created_at, page.now()));
        for (name, values) in [
            ("applies to", &learning.applies_to),
            ("labels", &learning.labels),
        ] {
            if !values.is_empty() {
                page.field(name, &values.join(", "));
            }
        }
        page.gap();
        page.line(&learning.pattern);
        page.heading("Usefulness");
        match &self.usefulness {
            None => {
                page.line(
                    "Not measured yet: no issue whose first agent had this learning is done.",
                );
            }
            Some(comparison) => {
                for sentence in comparison.sentences() {
                    page.line(&sentence);
                }
            }
        }
    }
}

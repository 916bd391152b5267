//! Learnings.

use std::collections::BTreeMap;

use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::id::{IssueId, LearningId, ProjectId, RunId};
use symphony_core::issue::CommentAuthor;
use symphony_core::learning::{LearningSource, LearningState, LearningType};
use symphony_core::run::RunStatus;
use symphony_learning::Parts;
use symphony_store::{Imported, LearningRecord, LearningUse, RankedLearning};

use crate::text::{Listed, Page, Table, ago};

/// A learning.
#[derive(Debug, Clone, Serialize)]
pub struct LearningView {
    /// Its id.
    pub id: LearningId,
    /// The project it was learned in.
    pub project: ProjectId,
    /// The issue it was learned from.
    pub issue: Option<IssueId>,
    /// The run it was learned in.
    pub run: Option<RunId>,
    /// The commit it was seen at.
    pub commit: Option<String>,
    /// Who wrote it.
    pub author: CommentAuthor,
    /// What was learned, as one sentence or a few.
    pub pattern: String,
    /// What kind of knowledge it is.
    pub learning_type: Option<LearningType>,
    /// Paths and globs that it is about; empty: everything.
    pub applies_to: Vec<String>,
    /// Its labels.
    pub labels: Vec<String>,
    /// Its state.
    pub state: LearningState,
    /// The issues and plans that reported it.
    pub sources: Vec<LearningSource>,
    /// Whether it is no longer given to agents.
    pub retired: bool,
    /// When it was created.
    pub created_at: Timestamp,
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
            retired: record.state == LearningState::Retired,
            state: record.state,
            sources: record.sources,
            created_at: learning.created_at,
        }
    }
}

/// The work that it comes from.
fn sources(learning: &LearningView) -> String {
    if learning.sources.is_empty() {
        return learning
            .issue
            .as_ref()
            .map_or_else(String::new, ToString::to_string);
    }
    let sources: Vec<String> = learning.sources.iter().map(ToString::to_string).collect();
    sources.join(", ")
}

fn kind(learning: &LearningView) -> String {
    learning
        .learning_type
        .map_or("", LearningType::name)
        .to_owned()
}

/// The end of an id: enough to name it. Its beginning is the time, which neighbours share.
fn short(id: &LearningId) -> String {
    let text = id.as_str();
    let start = text.len().saturating_sub(ID_CHARS_SHOWN);
    text.get(start..).unwrap_or(text).to_owned()
}

/// Characters of an id that tables show: the last group of a UUID.
const ID_CHARS_SHOWN: usize = 12;

impl Listed for LearningView {
    fn write_all(items: &[Self], page: &mut Page) {
        write_learnings(items.iter(), page);
    }
}

/// Writes learnings as a table.
pub(super) fn write_learnings<'a>(
    learnings: impl Iterator<Item = &'a LearningView>,
    page: &mut Page,
) {
    let mut learnings = learnings.peekable();
    if learnings.peek().is_none() {
        page.line("No learnings.");
        return;
    }
    let mut table = Table::new([
        "ID",
        "STATE",
        "TYPE",
        "SOURCE",
        "AUTHOR",
        "CREATED",
        "LEARNING",
        "APPLIES TO",
    ]);
    for learning in learnings {
        table.row([
            short(&learning.id),
            learning.state.to_string(),
            kind(learning),
            sources(learning),
            learning.author.to_string(),
            ago(learning.created_at, page.now()),
            learning.pattern.clone(),
            learning.applies_to.join(", "),
        ]);
    }
    page.table(&table);
}

/// A learning that a search found.
#[derive(Debug, Clone, Serialize)]
pub struct FoundLearning {
    /// The learning.
    #[serde(flatten)]
    pub learning: LearningView,
    /// How well it fits, from 0; higher is better.
    pub score: f64,
}

impl From<RankedLearning> for FoundLearning {
    fn from(ranked: RankedLearning) -> Self {
        Self {
            learning: ranked.record.into(),
            score: ranked.hit.score,
        }
    }
}

impl Listed for FoundLearning {
    fn write_all(items: &[Self], page: &mut Page) {
        if items.is_empty() {
            page.line("No learning matches.");
            return;
        }
        let mut table = Table::new(["SCORE", "ID", "TYPE", "LEARNING"]);
        for found in items {
            table.row([
                format!("{:.3}", found.score),
                short(&found.learning.id),
                kind(&found.learning),
                found.learning.pattern.clone(),
            ]);
        }
        page.table(&table);
    }
}

/// A learning with its score for a query, and why.
#[derive(Debug, Clone, Serialize)]
pub struct ScoredLearning {
    /// The learning.
    #[serde(flatten)]
    pub learning: LearningView,
    /// How well it fits, from 0; higher is better.
    pub score: f64,
    /// What the score is made of.
    pub parts: Parts,
}

impl From<RankedLearning> for ScoredLearning {
    fn from(ranked: RankedLearning) -> Self {
        Self {
            learning: ranked.record.into(),
            score: ranked.hit.score,
            parts: ranked.hit.parts,
        }
    }
}

impl Listed for ScoredLearning {
    fn write_all(items: &[Self], page: &mut Page) {
        if items.is_empty() {
            page.line("No learning matches.");
            return;
        }
        let mut table = Table::new(["SCORE", "PATHS", "WORDS", "AGE", "ID", "TYPE", "LEARNING"]);
        for found in items {
            let parts = found.parts;
            table.row([
                format!("{:.3}", found.score),
                format!("{:.2}", parts.paths),
                format!("{:.2}", parts.keywords),
                format!("{:.2}", parts.recency),
                short(&found.learning.id),
                kind(&found.learning),
                found.learning.pattern.clone(),
            ]);
        }
        page.table(&table);
    }
}

/// What happens to a learning when an agent is started on an issue.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "fate", rename_all = "snake_case")]
pub enum LearningFate {
    /// It is given.
    Given {
        /// How well it fits.
        score: f64,
        /// What the score is made of.
        parts: Parts,
    },
    /// Better ones leave no room for it.
    OverCap {
        /// How well it fits.
        score: f64,
        /// What the score is made of.
        parts: Parts,
    },
    /// Another one says the same and more.
    Covered {
        /// That other one.
        covered_by: Option<LearningId>,
    },
    /// It has no words.
    Empty,
}

/// A learning with what happens to it for an issue, and why.
#[derive(Debug, Clone, Serialize)]
pub struct ExplainedLearning {
    /// The learning.
    #[serde(flatten)]
    pub learning: LearningView,
    /// What happens to it.
    #[serde(flatten)]
    pub fate: LearningFate,
}

impl ExplainedLearning {
    /// Views a learning with its fate.
    pub fn new(record: LearningRecord, fate: LearningFate) -> Self {
        Self {
            learning: record.into(),
            fate,
        }
    }
}

impl Listed for ExplainedLearning {
    fn write_all(items: &[Self], page: &mut Page) {
        if items.is_empty() {
            page.line("No learnings of other issues.");
            return;
        }
        let mut table = Table::new([
            "FATE", "SCORE", "LABELS", "PATHS", "WORDS", "AGE", "USE", "ID", "TYPE", "LEARNING",
        ]);
        for explained in items {
            let (fate, numbers) = match &explained.fate {
                LearningFate::Given { score, parts } => ("given".to_owned(), Some((score, parts))),
                LearningFate::OverCap { score, parts } => {
                    ("over the cap".to_owned(), Some((score, parts)))
                }
                LearningFate::Covered {
                    covered_by: Some(by),
                } => (format!("in {}", short(by)), None),
                LearningFate::Covered { covered_by: None } | LearningFate::Empty => {
                    ("no words".to_owned(), None)
                }
            };
            let number = |of: fn(&Parts) -> f64| {
                numbers.map_or_else(String::new, |(_, parts)| format!("{:.2}", of(parts)))
            };
            table.row([
                fate,
                numbers.map_or_else(String::new, |(score, _)| format!("{score:.3}")),
                number(|parts| parts.labels),
                number(|parts| parts.paths),
                number(|parts| parts.keywords),
                number(|parts| parts.recency),
                number(|parts| parts.usefulness),
                short(&explained.learning.id),
                kind(&explained.learning),
                explained.learning.pattern.clone(),
            ]);
        }
        page.table(&table);
    }
}

/// A learning with what happened to the runs that were given it.
#[derive(Debug, Clone, Serialize)]
pub struct LearningUseView {
    /// The learning.
    #[serde(flatten)]
    pub learning: LearningView,
    /// Runs that were given it.
    pub given: u64,
    /// How many of these runs are in each status.
    pub runs: BTreeMap<RunStatus, u64>,
    /// When the last of them started.
    pub last_given_at: Option<Timestamp>,
}

impl From<LearningUse> for LearningUseView {
    fn from(found: LearningUse) -> Self {
        Self {
            given: found.given(),
            learning: found.record.into(),
            runs: found.runs,
            last_given_at: found.last_given_at,
        }
    }
}

impl Listed for LearningUseView {
    fn write_all(items: &[Self], page: &mut Page) {
        if items.is_empty() {
            page.line("No learnings.");
            return;
        }
        let mut table = Table::new([
            "GIVEN",
            "SUCCEEDED",
            "OTHERWISE",
            "LAST",
            "ID",
            "TYPE",
            "LEARNING",
        ])
        .right(0)
        .right(1);
        for item in items {
            let count = |status| item.runs.get(&status).copied().unwrap_or(0);
            let others: Vec<String> = item
                .runs
                .iter()
                .filter(|(status, _)| **status != RunStatus::Succeeded)
                .map(|(status, count)| format!("{count} {status}"))
                .collect();
            let state = match item.learning.state {
                LearningState::Accepted => String::new(),
                state => format!(" ({state})"),
            };
            table.row([
                item.given.to_string(),
                count(RunStatus::Succeeded).to_string(),
                others.join(", "),
                item.last_given_at
                    .map_or_else(|| "never".to_owned(), |at| ago(at, page.now())),
                short(&item.learning.id),
                kind(&item.learning),
                format!("{}{state}", item.learning.pattern),
            ]);
        }
        page.table(&table);
    }
}

/// What an import added.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct ImportView {
    /// Learnings that are new.
    pub added: u64,
    /// Learnings that already existed.
    pub skipped: u64,
}

impl From<Imported> for ImportView {
    fn from(imported: Imported) -> Self {
        Self {
            added: imported.added,
            skipped: imported.skipped,
        }
    }
}

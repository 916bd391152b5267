//! `search_learnings`: what was learned on other issues.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use symphony_core::Timestamp;
use symphony_core::issue::check_required_text;
use symphony_core::tools::{Role, Tool};
use symphony_core::wording::counted;
use symphony_learning::{Options, Relevance};
use symphony_store::{CoverageRecord, LearningScope, RankedLearning, Store};

use crate::answer::{Answer, ToolError};
use crate::identity::Identity;
use crate::tool_call::ToolCall;

/// Default number of results of `search_learnings`, and the largest one.
const RESULTS: u32 = 10;
const RESULTS_MAX: u32 = 100;

/// Most coverage entries that are searched, and most matches that are returned.
const COVERAGE_LOOKED_MAX: u32 = 10_000;
const COVERAGE_SHOWN_MAX: usize = 20;
/// Minimum length of a search word: shorter ones match everywhere.
const WORD_CHARS_MIN: usize = 3;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchLearnings {
    /// What you want to know about, in your own words.
    query: String,
    /// Maximum number of learnings, 1 to 100. Defaults to 10.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<u32>,
    /// Also search the other projects of this installation.
    #[serde(default)]
    all_projects: bool,
}

impl ToolCall for SearchLearnings {
    const DESCRIPTION: &str =
        "Searches what was learned on other issues; the best match comes first.";

    fn description(role: Role) -> &'static str {
        if role.allowed().contains(Tool::RecordCoverage) {
            "Searches what was learned on other issues; the best match comes first. `read_before` names files that research has read for \
             something like it."
        } else {
            Self::DESCRIPTION
        }
    }

    fn carry_out(self, store: &mut Store, identity: &Identity) -> Result<Answer, ToolError> {
        let limit = self.limit.unwrap_or(RESULTS);
        if !(1..=RESULTS_MAX).contains(&limit) {
            return Err(ToolError::new(format!(
                "limit is {limit}; it must be from 1 to {RESULTS_MAX}"
            )));
        }
        check_required_text("query", &self.query)?;
        let own = match identity.actor.run() {
            Some(run) => store.learning_source_of(run)?,
            None => None,
        };
        let scope = if self.all_projects {
            LearningScope::Installation
        } else {
            LearningScope::Project(&identity.project, own.as_ref())
        };
        let options = Options {
            max_results: usize::try_from(limit).unwrap_or(usize::MAX),
            ..Options::default()
        };
        let found = store.search_learnings(
            scope,
            &self.query,
            Relevance::Matching,
            Timestamp::now(),
            options,
        )?;
        let items: Vec<Value> = found.iter().map(item).collect();
        let message = match items.len() {
            0 => "no learning matches".to_owned(),
            n => format!("{}, best first", counted(n as u64, "learning")),
        };
        let answer = Answer::new(message).with("items", Value::Array(items));
        let read = read_before(store, identity, &self.query)?;
        Ok(if read.is_empty() {
            answer
        } else {
            answer.with("read_before", Value::Array(read))
        })
    }
}

fn item(ranked: &RankedLearning) -> Value {
    let record = &ranked.record;
    json!({
        "id": record.learning.id,
        "pattern": record.learning.pattern,
        "learning_type": record.learning.learning_type,
        "applies_to": record.learning.applies_to,
        "project": record.project,
        "issue": record.issue,
        "author": record.author,
        "score": ranked.hit.score,
    })
}

/// Returns what research has read about a query, newest first; empty for roles that record no coverage.
fn read_before(store: &Store, identity: &Identity, query: &str) -> Result<Vec<Value>, ToolError> {
    if !identity.callable().contains(Tool::RecordCoverage) {
        return Ok(Vec::new());
    }
    let words: Vec<String> = query
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() >= WORD_CHARS_MIN)
        .map(str::to_lowercase)
        .collect();
    let mut found = store.coverage(&identity.project, COVERAGE_LOOKED_MAX)?;
    found.retain(|record| {
        let text = format!("{}\n{}\n{}", record.file, record.concept, record.notes).to_lowercase();
        words.iter().any(|word| text.contains(word))
    });
    found.sort_by_key(|record| std::cmp::Reverse(record.created_at));
    let shown = found.into_iter().take(COVERAGE_SHOWN_MAX);
    let row = |record: CoverageRecord| {
        json!({
            "file": record.file, "concept": record.concept, "notes": record.notes, "created_at": record.created_at,
        })
    };
    Ok(shown.map(row).collect())
}

//! Recording and searching learnings.

use serde_json::{Value, json};
use symphony_core::Timestamp;
use symphony_core::id::LearningId;
use symphony_core::issue::check_required_text;
use symphony_core::learning::LearningType;
use symphony_learning::{Options, Relevance};
use symphony_store::{NewLearning, RankedLearning, Store};
use symphony_workspace::Repository;
use uuid::Uuid;

use crate::answer::{Answer, ToolError};
use crate::identity::Identity;
use crate::params::{AddLearning, LearningName, SearchLearnings};

/// Results of `search_learnings` when the call names none, and the largest number.
const RESULTS: u32 = 10;
const RESULTS_MAX: u32 = 100;

/// `add_learning`
pub(super) fn add(
    store: &mut Store,
    identity: &Identity,
    params: AddLearning,
) -> Result<Answer, ToolError> {
    let id = LearningId::parse(Uuid::now_v7().to_string())
        .map_err(|error| ToolError::new(error.to_string()))?;
    let record = store.add_learning(
        &identity.context(),
        &NewLearning {
            id,
            project: identity.project.clone(),
            issue: identity.issue.clone(),
            commit: head_commit(identity),
            pattern: params.pattern,
            learning_type: params.learning_type.map(|name| match name {
                LearningName::Convention => LearningType::Convention,
                LearningName::Pattern => LearningType::Pattern,
                LearningName::Gotcha => LearningType::Gotcha,
            }),
            applies_to: params.applies_to,
        },
    )?;
    Ok(Answer::new("recorded the learning").with("id", json!(record.learning.id)))
}

/// Returns the commit that the session's worktree is at; none when it has none, or git cannot tell: a learning is
/// worth keeping without.
fn head_commit(identity: &Identity) -> Option<String> {
    let workspace = identity.workspace.as_ref()?;
    let repository = Repository::open(&workspace.project_root, workspace.options.clone()).ok()?;
    let worktree = repository
        .worktree(&workspace.key, Some(&workspace.branch))
        .ok()?;
    let head = repository.head(&worktree).ok()?;
    Some(head.as_str().to_owned())
}

/// `search_learnings`
pub(super) fn search(
    store: &mut Store,
    identity: &Identity,
    params: &SearchLearnings,
) -> Result<Answer, ToolError> {
    let limit = params.limit.unwrap_or(RESULTS);
    if !(1..=RESULTS_MAX).contains(&limit) {
        return Err(ToolError::new(format!(
            "limit is {limit}; it must be 1 to {RESULTS_MAX}"
        )));
    }
    check_required_text("query", &params.query)?;
    let project = (!params.all_projects).then_some(&identity.project);
    let options = Options {
        max_results: usize::try_from(limit).unwrap_or(usize::MAX),
        ..Options::default()
    };
    let found = store.search_learnings(
        project,
        &params.query,
        Relevance::Matching,
        Timestamp::now(),
        options,
    )?;
    let items: Vec<Value> = found.iter().map(item).collect();
    let message = match items.len() {
        0 => "nothing was learned about that yet".to_owned(),
        n => format!("{n} learnings, best first"),
    };
    Ok(Answer::new(message).with("items", Value::Array(items)))
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

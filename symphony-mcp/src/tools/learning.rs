//! Recording and searching learnings.

use serde_json::{Value, json};
use symphony_core::Timestamp;
use symphony_core::id::LearningId;
use symphony_core::issue::check_required_text;
use symphony_core::learning::{LearningState, check_pattern_length};
use symphony_core::wording::counted;
use symphony_learning::{Options, Relevance};
use symphony_store::{
    LearningAddition, LearningRecord, LearningScope, NewLearning, RankedLearning, Store,
};
use symphony_workspace::Repository;
use uuid::Uuid;

use super::health::read_before;
use crate::answer::{Answer, ToolError};
use crate::identity::Identity;
use crate::named::Named;
use crate::params::{AddLearning, SearchLearnings};

/// Results of `search_learnings` when the call names none, and the largest number.
const RESULTS: u32 = 10;
const RESULTS_MAX: u32 = 100;

/// What an agent is told whose learning is too long.
const SHORTEN: &str = "State the rule and when it applies, in one or two sentences. Leave out how you found it, name files in `applies_to`, and \
    record anything else as a separate learning";

/// `add_learning`
pub(super) fn add(
    store: &mut Store,
    identity: &Identity,
    params: AddLearning,
) -> Result<Answer, ToolError> {
    check_pattern_length(&params.pattern)
        .map_err(|error| ToolError::new(format!("{error}. {SHORTEN}")))?;
    let id = LearningId::parse(Uuid::now_v7().to_string())
        .map_err(|error| ToolError::new(error.to_string()))?;
    let addition = store.add_learning(
        &identity.context(),
        &NewLearning {
            id,
            project: identity.project.clone(),
            issue: identity.issue.clone(),
            commit: head_commit(identity),
            pattern: params.pattern,
            learning_type: params.learning_type.map(|Named(kind)| kind),
            applies_to: params.applies_to,
        },
    )?;
    match addition {
        LearningAddition::Added(record) => {
            let message = match record.state {
                LearningState::Proposed => {
                    "recorded the learning; other issues get it once your work is done"
                }
                _ => "recorded the learning",
            };
            Ok(answer(message, &record))
        }
        LearningAddition::Seconded(record) => Ok(answer(
            "another run has already proposed this; your work was added to its sources",
            &record,
        )),
        LearningAddition::Known(record) => Err(known(&record)),
    }
}

fn answer(message: &str, record: &LearningRecord) -> Answer {
    Answer::new(message)
        .with("id", json!(record.learning.id))
        .with("state", json!(record.state))
}

/// A second learning that says the same would only take space in prompts.
fn known(record: &LearningRecord) -> ToolError {
    let (id, pattern) = (&record.learning.id, &record.learning.pattern);
    ToolError::new(match record.state {
        LearningState::Retired => {
            format!(
                "learning {id} says the same, and a person has retired it; do not record it again"
            )
        }
        _ => format!(
            "learning {id} already says this: {pattern}\nRecord only what it does not say, or nothing"
        ),
    })
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
            "limit is {limit}; it must be from 1 to {RESULTS_MAX}"
        )));
    }
    check_required_text("query", &params.query)?;
    let own = match identity.actor.run() {
        Some(run) => store.learning_source_of(run)?,
        None => None,
    };
    let scope = if params.all_projects {
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
        &params.query,
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
    let read = read_before(store, identity, &params.query)?;
    Ok(if read.is_empty() {
        answer
    } else {
        answer.with("read_before", Value::Array(read))
    })
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

//! The acceptance criteria of a session's issue, read from where no agent can have changed them.

use schemars::JsonSchema;
use serde::Deserialize;
use symphony_core::criteria::{
    ChecklistEntry, ChecklistError, ChecklistProblem, Criteria, CriterionAnswer, CriterionState,
    answer_criteria, collect_criteria, shown_criteria,
};
use symphony_core::hand_in::RefusalKind;
use symphony_store::{Actor, Store};
use symphony_workspace::Repository;

use crate::answer::ToolError;
use crate::argument::named::Named;
use crate::identity::Identity;

/// Characters of a criterion that a point about it quotes.
const QUOTE_CHARS: usize = 120;

/// The answer to an acceptance criterion.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"item\": 1, \"state\": \"met\", \"note\": \"how\"}"
)]
#[schemars(inline)]
pub(crate) struct CriterionParam {
    /// Its number.
    item: u32,
    /// Whether it is met.
    state: Named<CriterionState>,
    /// How it is met, such as the test that shows it. For `not_met` and `not_applicable`: why. At most 1,000 characters.
    #[serde(default)]
    note: String,
}

/// Returns the criteria by which the session numbers its answers: those in its run's prompt, even if the issue has
/// changed since. A session without such a run uses the current ones: of the issue's text, and of its documents that
/// were accepted or are on the base.
pub(crate) fn read_criteria(store: &Store, identity: &Identity) -> Result<Criteria, ToolError> {
    let Some(issue) = &identity.issue else {
        return Ok(Criteria::default());
    };
    if let Actor::Run(key) = &identity.actor
        && let Some(shown) = shown_criteria(&store.run(&key.run)?.metadata)
    {
        return Ok(shown);
    }
    let issue = store.issue(issue)?;
    let deliveries = store.ticket_deliveries(&issue)?;
    let Some(workspace) = &identity.workspace else {
        return Ok(collect_criteria(&issue.description, &[]));
    };
    let repository = Repository::open(&workspace.project_root, workspace.options.clone())?;
    let pipeline = identity.phases.get();
    Ok(repository.read_criteria(&issue.id, &issue.description, pipeline, &deliveries)?)
}

/// Combines the issue's criteria with a call's answers.
pub(crate) fn read_checklist(
    store: &Store,
    identity: &Identity,
    answers: Vec<CriterionParam>,
) -> Result<Vec<ChecklistEntry>, ToolError> {
    let criteria = read_criteria(store, identity)?;
    let answers: Vec<CriterionAnswer> = answers
        .into_iter()
        .map(|answer| CriterionAnswer {
            item: answer.item,
            state: answer.state.0,
            note: answer.note,
        })
        .collect();
    Ok(answer_criteria(&criteria.items, &answers)?)
}

/// Puts the text of the criterion in front of a point about it: the number alone would mean something else once the
/// criteria change.
pub(crate) fn about_criterion(
    criteria: &Criteria,
    item: u32,
    text: &str,
) -> Result<String, String> {
    let found = criteria
        .items
        .iter()
        .find(|criterion| criterion.item == item);
    let criterion = found.ok_or_else(|| match criteria.items.len() {
        0 => "the issue has no acceptance criteria: leave `criterion` out".to_owned(),
        count => format!("there is no criterion {item}; they have the numbers 1 to {count}"),
    })?;
    let quoted: String = criterion.text.chars().take(QUOTE_CHARS).collect();
    let mark = if quoted.len() < criterion.text.len() {
        " …"
    } else {
        ""
    };
    Ok(format!(
        "Acceptance criterion {item} (“{quoted}{mark}”): {text}"
    ))
}

impl From<ChecklistError> for ToolError {
    fn from(error: ChecklistError) -> Self {
        let is_missing =
            |problem: &ChecklistProblem| matches!(problem, ChecklistProblem::Missing { .. });
        let kind = if error.problems.iter().any(is_missing) {
            RefusalKind::UnansweredCriteria
        } else {
            RefusalKind::Other
        };
        Self::of_kind(kind, error.to_string())
    }
}

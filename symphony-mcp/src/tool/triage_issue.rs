//! `update_issue_status` of the roles that sort the backlog.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use symphony_core::id::PhaseName;
use symphony_core::issue::{IssueStatus, PHASE_LABEL_PREFIX, Priority, Size};
use symphony_core::tools::Role;
use symphony_store::{IssueEdit, IssueMove, Store};

use super::update_issue_status::{check_settable, event, given, moved};
use crate::answer::{Answer, ToolError};
use crate::argument::named::Named;
use crate::argument::schema::{offering, schema};
use crate::identity::Identity;
use crate::rows::issue_row;
use crate::tool_call::ToolCall;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TriageIssue {
    /// The complete list of labels, without the phase. At most 50.
    labels: Option<Vec<String>>,
    /// How much work.
    size: Option<Named<Size>>,
    /// How urgent.
    priority: Option<Named<Priority>>,
    /// The phase in which work on it begins, such as `research` or `ready`.
    phase: Option<String>,
    /// The new status. Usually omitted: people decide what is taken up.
    status: Option<Named<IssueStatus>>,
    /// Why it is moved, in a sentence for a person. Required for `blocked`.
    reason: Option<String>,
}

impl ToolCall for TriageIssue {
    const DESCRIPTION: &str = "Triages the issue: sets its labels, size, priority and phase in one call. The status stays as it is unless you pass one.";

    fn schema(role: Role) -> JsonObject {
        offering(schema::<Self>(), role)
    }

    fn carry_out(self, store: &mut Store, identity: &Identity) -> Result<Answer, ToolError> {
        let id = identity.own_issue()?.clone();
        let now = store.issue(&id)?;
        let reason = given(self.reason.as_deref());
        let edit = IssueEdit {
            size: self.size.map(|Named(size)| Some(size)),
            priority: self.priority.map(|Named(priority)| priority),
            labels: labels(
                &now.labels,
                self.labels,
                phase(identity, self.phase.as_deref())?,
            )?,
            ..IssueEdit::default()
        };
        let asked = self.status.map(|Named(status)| status);
        if let Some(to) = asked {
            check_settable(identity, to)?;
        }
        // Setting the current status again is no move.
        let to = asked.filter(|to| *to != now.state.status());
        if edit == IssueEdit::default() && self.status.is_none() {
            return Err(ToolError::new(
                "nothing to change: pass `labels`, `size`, `priority`, `phase` or `status`",
            ));
        }
        let step = match to {
            None => None,
            Some(to) => Some(IssueMove {
                event: event(store, identity, &id, to, reason)?,
                comment: reason.map(|reason| moved(to, reason)),
            }),
        };
        let issue = store.edit_and_move_issue(&identity.context(), &id, &edit, step.as_ref())?;
        Ok(Answer::new(format!("triaged {id}")).with("issue", issue_row(&issue)))
    }
}

/// Returns the whole list of labels: the given ones or the current ones, with the given phase or the current one.
fn labels(
    now: &[String],
    given: Option<Vec<String>>,
    phase: Option<PhaseName>,
) -> Result<Option<Vec<String>>, ToolError> {
    if given.is_none() && phase.is_none() {
        return Ok(None);
    }
    let of_phase = |label: &&String| label.starts_with(PHASE_LABEL_PREFIX);
    if let Some(label) = given.iter().flatten().find(of_phase) {
        let name = label.trim_start_matches(PHASE_LABEL_PREFIX);
        return Err(ToolError::new(format!(
            "remove the label `{label}` and pass `\"phase\": \"{name}\"` instead"
        )));
    }
    let kept = now.iter().find(of_phase).cloned();
    let mut labels = given.unwrap_or_else(|| {
        now.iter()
            .filter(|label| !of_phase(label))
            .cloned()
            .collect()
    });
    match phase {
        None => labels.extend(kept),
        Some(phase) => labels.push(format!("{PHASE_LABEL_PREFIX}{phase}")),
    }
    Ok(Some(labels))
}

/// Returns the named phase, which must be one of the project's.
fn phase(identity: &Identity, name: Option<&str>) -> Result<Option<PhaseName>, ToolError> {
    let Some(name) = name else {
        return Ok(None);
    };
    let phase =
        PhaseName::parse(name).map_err(|error| ToolError::new(format!("phase: {error}")))?;
    match identity.phases.get() {
        Some(pipeline) if pipeline.get(&phase).is_none() => {
            let known: Vec<&str> = pipeline
                .iter()
                .map(|contract| contract.phase.as_str())
                .collect();
            Err(ToolError::new(format!(
                "the project has no phase `{phase}`; it has: {}",
                known.join(", ")
            )))
        }
        _ => Ok(Some(phase)),
    }
}

//! Moving the session's issue, and sorting it: `update_issue_status`.

use symphony_core::id::{IssueId, PhaseName};
use symphony_core::issue::{
    IssueEvent, IssueStatus, PHASE_LABEL_PREFIX, Review, check_text, human_move,
};
use symphony_core::tools::StatusPermission;
use symphony_core::wording::with_article;
use symphony_store::{IssueEdit, IssueMove, Store};

use super::issue::row;
use super::own_issue;
use crate::answer::{Answer, ToolError};
use crate::identity::Identity;
use crate::named::Named;
use crate::params::{TriageIssue, UpdateIssueStatus};

/// `update_issue_status`
pub(super) fn update(
    store: &mut Store,
    identity: &Identity,
    params: &UpdateIssueStatus,
) -> Result<Answer, ToolError> {
    let id = own_issue(identity)?.clone();
    let to = params.status.0;
    let reason = given(params.reason.as_deref());
    let event = event(store, identity, &id, to, reason)?;
    let context = identity.context();
    let issue = match reason {
        None => store.move_issue(&context, &id, &event)?,
        Some(reason) => {
            check_text("reason", reason)?;
            store.move_issue_with_comment(&context, &id, &event, &moved(to, reason))?
        }
    };
    Ok(Answer::new(format!("{id} is now {}", issue.state.status())).with("issue", row(&issue)))
}

/// `update_issue_status`, for those who sort the backlog.
pub(super) fn triage(
    store: &mut Store,
    identity: &Identity,
    params: TriageIssue,
) -> Result<Answer, ToolError> {
    let id = own_issue(identity)?.clone();
    let now = store.issue(&id)?;
    let reason = given(params.reason.as_deref());
    let edit = IssueEdit {
        size: params.size.map(|Named(size)| Some(size)),
        priority: params.priority.map(|Named(priority)| priority),
        labels: labels(
            &now.labels,
            params.labels,
            phase(identity, params.phase.as_deref())?,
        )?,
        ..IssueEdit::default()
    };
    let asked = params.status.map(|Named(status)| status);
    if let Some(to) = asked {
        check_settable(identity, to)?;
    }
    // the status it has is no move
    let to = asked.filter(|to| *to != now.state.status());
    if edit == IssueEdit::default() && params.status.is_none() {
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
    Ok(Answer::new(format!("triaged {id}")).with("issue", row(&issue)))
}

/// Returns the whole list of labels: the given ones, or those that it has, with the given phase, or the one that it has.
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

/// Returns the phase that is named, which must be one of the project's.
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

fn given(reason: Option<&str>) -> Option<&str> {
    reason.filter(|text| !text.trim().is_empty())
}

fn moved(to: IssueStatus, reason: &str) -> String {
    format!("Moved to {to}: {reason}")
}

/// Returns what a move of the session is to its issue, as far as its role may.
fn event(
    store: &Store,
    identity: &Identity,
    id: &IssueId,
    to: IssueStatus,
    reason: Option<&str>,
) -> Result<IssueEvent, ToolError> {
    if identity.actor.is_human() {
        return human_event(store, id, to, reason);
    }
    check_settable(identity, to)?;
    match to {
        IssueStatus::Todo => Ok(IssueEvent::HandedBack),
        _ => Ok(IssueEvent::AgentBlocked {
            reason: required_reason(reason)?,
        }),
    }
}

/// Refuses a status that the role is not offered.
fn check_settable(identity: &Identity, to: IssueStatus) -> Result<(), ToolError> {
    let role = identity.role;
    if role.settable_statuses().contains(&to) {
        return Ok(());
    }
    let name = with_article(role.name());
    Err(ToolError::new(match role.status_permission() {
        None => format!("{name} may not change the status of issues"),
        Some(StatusPermission::Full) => format!(
            "you cannot move an issue to `{to}`: use `todo` to give it back, `blocked` to ask for a person, and \
             `create_pr` when the work is done"
        ),
        Some(StatusPermission::BlockedOnly | StatusPermission::Triage) => {
            format!("{name} cannot move an issue to `{to}`: only `blocked`, with a reason")
        }
    }))
}

fn human_event(
    store: &Store,
    id: &IssueId,
    to: IssueStatus,
    reason: Option<&str>,
) -> Result<IssueEvent, ToolError> {
    if to == IssueStatus::Blocked {
        return Ok(IssueEvent::AgentBlocked {
            reason: reason.unwrap_or("blocked by a human").to_owned(),
        });
    }
    let review = if store.has_open_review(id)? {
        Review::Open
    } else {
        Review::None
    };
    human_move(&store.issue(id)?.state, to, review)
        .map_err(|error| ToolError::new(error.to_string()))
}

fn required_reason(reason: Option<&str>) -> Result<String, ToolError> {
    reason.map(str::to_owned).ok_or_else(|| {
        ToolError::new("`blocked` needs a `reason` that says what a person has to do")
    })
}

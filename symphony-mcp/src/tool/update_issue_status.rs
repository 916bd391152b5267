//! `update_issue_status`: moves the session's issue.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use symphony_core::id::IssueId;
use symphony_core::issue::{IssueEvent, IssueStatus, Review, check_text, human_move};
use symphony_core::tools::{Role, StatusPermission};
use symphony_core::wording::with_article;
use symphony_store::Store;

use crate::answer::{Answer, ToolError};
use crate::argument::named::Named;
use crate::argument::schema::{offering, schema};
use crate::identity::Identity;
use crate::rows::issue_row;
use crate::tool_call::ToolCall;

/// `update_issue_status`, for those who may only ask for a human. Calls are read as [`UpdateIssueStatus`], so that another
/// status is refused in words.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used")]
struct BlockIssue {
    /// `blocked` means that you cannot continue and need a person.
    status: Named<IssueStatus>,
    /// Why, in a sentence for a person.
    reason: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UpdateIssueStatus {
    /// `todo` gives the issue back; `blocked` means that you cannot continue and need a person.
    status: Named<IssueStatus>,
    /// Why, in a sentence for a person. Required for `blocked`.
    reason: Option<String>,
}

impl ToolCall for UpdateIssueStatus {
    const DESCRIPTION: &str = "Gives back the issue you work on (`todo`), or asks for a person (`blocked`). Give the reason.";

    fn description(role: Role) -> &'static str {
        if gives_back(role) {
            Self::DESCRIPTION
        } else {
            "Asks for a person: the issue you work on is `blocked` until someone answers. Give the reason."
        }
    }

    fn schema(role: Role) -> JsonObject {
        let schema = if gives_back(role) {
            schema::<Self>()
        } else {
            schema::<BlockIssue>()
        };
        offering(schema, role)
    }

    fn carry_out(self, store: &mut Store, identity: &Identity) -> Result<Answer, ToolError> {
        let id = identity.own_issue()?.clone();
        let to = self.status.0;
        let reason = given(self.reason.as_deref());
        let event = event(store, identity, &id, to, reason)?;
        let context = identity.context();
        let issue = match reason {
            None => store.move_issue(&context, &id, &event)?,
            Some(reason) => {
                check_text("reason", reason)?;
                store.move_issue_with_comment(&context, &id, &event, &moved(to, reason))?
            }
        };
        Ok(Answer::new(format!("{id} is now {}", issue.state.status()))
            .with("issue", issue_row(&issue)))
    }
}

pub(super) fn given(reason: Option<&str>) -> Option<&str> {
    reason.filter(|text| !text.trim().is_empty())
}

pub(super) fn moved(to: IssueStatus, reason: &str) -> String {
    format!("Moved to {to}: {reason}")
}

/// Returns the event that a move of the session means for its issue, if its role may do that.
pub(super) fn event(
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
pub(super) fn check_settable(identity: &Identity, to: IssueStatus) -> Result<(), ToolError> {
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

/// Returns whether a role may give its issue back, besides asking for a human.
fn gives_back(role: Role) -> bool {
    role.settable_statuses().contains(&IssueStatus::Todo)
}

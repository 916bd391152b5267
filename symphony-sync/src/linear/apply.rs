//! One change at Linear.
//!
//! Comments and issues are created with the id of the change. Where such an id exists, the answer is an error whose words
//! Linear does not promise: so whenever a creation is refused, what has that id is read.

use serde::Deserialize;
use serde_json::{Value, json};
use symphony_tracker::change::{Applied, Change, Created, Outgoing};
use symphony_tracker::fault::Fault;
use symphony_tracker::remote::{ExternalId, RemoteState};

use super::wire::{Id, IssueData, WireIssue, WireState, WireTeam, priority_number};
use super::{Asked, Linear, query};

#[derive(Debug, Deserialize)]
struct TeamOfIssue {
    issue: WithTeam,
}

#[derive(Debug, Deserialize)]
struct WithTeam {
    team: WireTeam,
}

#[derive(Debug, Deserialize)]
struct IssuePayload {
    success: bool,
    issue: Option<WireIssue>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct UpdatedIssue {
    issue_update: IssuePayload,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CreatedIssue {
    issue_create: IssuePayload,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CreatedComment {
    comment_create: CommentPayload,
}

#[derive(Debug, Deserialize)]
struct CommentPayload {
    comment: Id,
}

#[derive(Debug, Deserialize)]
struct CommentData {
    comment: FoundComment,
}

#[derive(Debug, Deserialize)]
struct FoundComment {
    id: String,
    issue: Option<Id>,
}

impl Linear {
    /// Applies a change to an issue.
    pub(super) async fn apply_change(&self, outgoing: &Outgoing) -> Result<Applied, Fault> {
        let target = outgoing.target.as_str();
        let asked = |action| Asked {
            action,
            what: format!("issue {target}"),
        };
        let change = asked("change issues");
        match &outgoing.change {
            Change::SetTitle { title } => {
                self.update(target, &json!({ "title": title }), &change)
                    .await
            }
            Change::SetBody { body } => {
                self.update(target, &json!({ "description": body }), &change)
                    .await
            }
            Change::SetPriority { priority } => {
                let input = json!({ "priority": priority_number(*priority) });
                self.update(target, &input, &change).await
            }
            Change::SetState { state } => self.set_state(target, state, &change).await,
            Change::SetLabels { add, remove } => self.set_labels(target, add, remove).await,
            Change::AddComment { body } => {
                self.add_comment(body, outgoing, &asked("write comments"))
                    .await
            }
            Change::AddSubIssue {
                title,
                body,
                labels,
            } => {
                let asked = asked("create issues");
                let (team, labels) = self.labels_for_part(target, labels, &asked).await?;
                let input = json!({
                    "id": outgoing.id,
                    "teamId": team,
                    "parentId": target,
                    "title": title,
                    "description": body,
                    "labelIds": labels,
                });
                self.add_sub_issue(&input, outgoing, &asked).await
            }
        }
    }

    /// Sends fields of an issue, and reads the issue as it is then.
    pub(super) async fn update(
        &self,
        target: &str,
        input: &Value,
        asked: &Asked,
    ) -> Result<Applied, Fault> {
        let variables = json!({ "id": target, "input": input });
        let reply: UpdatedIssue = self.ask(query::UPDATE_ISSUE, &variables, asked).await?;
        let issue = succeeded(reply.issue_update)?;
        Ok(Applied {
            issue: issue.map(WireIssue::issue),
            created: None,
        })
    }

    async fn set_state(
        &self,
        target: &str,
        state: &RemoteState,
        asked: &Asked,
    ) -> Result<Applied, Fault> {
        let variables = json!({ "id": target });
        let reply: TeamOfIssue = self.ask(query::TEAM_OF_ISSUE, &variables, asked).await?;
        let states = reply.issue.team.states.map(|states| states.nodes);
        let states = states.unwrap_or_default();
        let Some(found) = chosen_state(&states, state) else {
            return Err(Fault::Refused {
                detail: format!(
                    "the team {} has no state `{}`; it has {}",
                    reply.issue.team.key,
                    state.name,
                    listed(&states)
                ),
            });
        };
        self.update(target, &json!({ "stateId": found.id }), asked)
            .await
    }

    async fn add_comment(
        &self,
        body: &str,
        outgoing: &Outgoing,
        asked: &Asked,
    ) -> Result<Applied, Fault> {
        let input = json!({
            "id": outgoing.id,
            "issueId": outgoing.target,
            "body": body,
        });
        let variables = json!({ "input": input });
        let sent: Result<CreatedComment, Fault> =
            self.ask(query::CREATE_COMMENT, &variables, asked).await;
        let id = match sent {
            Ok(reply) => reply.comment_create.comment.id,
            Err(refused @ Fault::Refused { .. }) => {
                self.find_comment(outgoing).await?.ok_or(refused)?
            }
            Err(fault) => return Err(fault),
        };
        Ok(Applied {
            issue: None,
            created: Some(Created::Comment(ExternalId::new(id))),
        })
    }

    /// Returns the id of the comment that an earlier attempt wrote.
    async fn find_comment(&self, outgoing: &Outgoing) -> Result<Option<String>, Fault> {
        let asked = Asked {
            action: "read comments",
            what: format!("comment {}", outgoing.id),
        };
        let variables = json!({ "id": outgoing.id });
        let read: Result<CommentData, Fault> = self.ask(query::COMMENT, &variables, &asked).await;
        let found = unless_missing(read)?.map(|data| data.comment);
        let is_ours = |comment: &FoundComment| {
            let issue = comment.issue.as_ref();
            issue.is_some_and(|issue| issue.id == outgoing.target.as_str())
        };
        Ok(found.filter(is_ours).map(|comment| comment.id))
    }

    async fn add_sub_issue(
        &self,
        input: &Value,
        outgoing: &Outgoing,
        asked: &Asked,
    ) -> Result<Applied, Fault> {
        let variables = json!({ "input": input });
        // With its parent in the same request, what is there is whole.
        if outgoing.made.is_some()
            && let Some(made) = self.find_issue(outgoing).await?
        {
            return Ok(Applied {
                issue: None,
                created: Some(Created::Issue(Box::new(made.issue()))),
            });
        }
        let sent: Result<CreatedIssue, Fault> =
            self.ask(query::CREATE_ISSUE, &variables, asked).await;
        let made = match sent {
            Ok(reply) => succeeded(reply.issue_create)?,
            Err(refused @ Fault::Refused { .. }) => {
                Some(self.find_issue(outgoing).await?.ok_or(refused)?)
            }
            Err(fault) => return Err(fault),
        };
        let made = made.ok_or_else(|| Fault::Unreadable {
            detail: "the answer to a new issue has no issue".to_owned(),
        })?;
        Ok(Applied {
            issue: None,
            created: Some(Created::Issue(Box::new(made.issue()))),
        })
    }

    /// Returns the issue that an earlier attempt made.
    async fn find_issue(&self, outgoing: &Outgoing) -> Result<Option<WireIssue>, Fault> {
        let asked = Asked {
            action: "read issues",
            what: format!("issue {}", outgoing.id),
        };
        let variables = json!({ "id": outgoing.id });
        let read: Result<IssueData, Fault> =
            self.ask(query::ISSUE_IN_FULL, &variables, &asked).await;
        Ok(unless_missing(read)?.map(|data| data.issue))
    }
}

fn unless_missing<T>(read: Result<T, Fault>) -> Result<Option<T>, Fault> {
    match read {
        Err(Fault::NotFound { .. }) => Ok(None),
        other => other.map(Some),
    }
}

fn succeeded(payload: IssuePayload) -> Result<Option<WireIssue>, Fault> {
    if payload.success {
        Ok(payload.issue)
    } else {
        Err(Fault::Refused {
            detail: "Linear reports no success and no reason".to_owned(),
        })
    }
}

/// Chooses a state by its name, whatever its case. Where no name is wanted, what it means decides: of several, the usual kind,
/// then the first in the team's order.
fn chosen_state<'a>(states: &'a [WireState], wanted: &RemoteState) -> Option<&'a WireState> {
    let fits = |state: &&WireState| match wanted.name.as_str() {
        "" => state.group() == wanted.group,
        name => state.name.to_lowercase() == name.to_lowercase(),
    };
    states.iter().filter(fits).min_by(|a, b| {
        let by_place = a.position.total_cmp(&b.position);
        a.rank().cmp(&b.rank()).then(by_place)
    })
}

fn listed(states: &[WireState]) -> String {
    let names: Vec<String> = states
        .iter()
        .map(|state| format!("`{}`", state.name))
        .collect();
    names.join(", ")
}

//! Issues: added, commented, edited, moved, closed, tried again; the deliveries of their phases are approved and rejected.

use symphony_core::id::IssueId;
use symphony_core::issue::{DependentsFate, IssueStatus, Priority, Resolution};
use symphony_core::profile::AgentChoice;
use symphony_core::pull_request::VerdictKind;
use symphony_core::review_point::PointChanges;
use symphony_runner::order::{
    self, EndedReview, Ending, Shifted, end_issue, give_phase_verdict, retry_issue, shift_issue,
};
use symphony_runner::session::Session;
use symphony_runner::take_over::{Uncommitted, release_issue};
use symphony_store::{IssueEdit, NewIssue, NewVerdict};
use symphony_view::{MessageView, released_sentence};

use super::points::{closed_points, new_point};
use crate::routes::Done;
use crate::server::{Failure, Fields, Turn};

fn id_of(text: &str) -> Result<IssueId, Failure> {
    IssueId::parse(text)
        .map_err(|_malformed| Failure::NotFound(format!("there is no issue `{text}`")))
}

fn page_of(id: &IssueId) -> String {
    format!("/issues/{id}")
}

/// Splits a field at its commas.
fn list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
}

fn priority(fields: &Fields) -> Result<Priority, Failure> {
    Priority::parse(fields.text("priority")).map_err(|error| Failure::Wrong(error.to_string()))
}

/// Adds an issue.
pub(crate) fn add_issue(
    session: &mut Session,
    turn: &Turn,
    _id: &str,
    fields: &Fields,
) -> Result<Done, Failure> {
    let new = NewIssue {
        project: session.project.id.clone(),
        title: fields.text("title").to_owned(),
        description: fields.prose("description"),
        status: if fields.given("todo").is_some() {
            IssueStatus::Todo
        } else {
            IssueStatus::Backlog
        },
        priority: priority(fields)?,
        size: None,
        labels: list(fields.text("labels")).map(str::to_owned).collect(),
        parent: None,
        depends_on: Vec::new(),
        external_id: None,
        choice: AgentChoice::default(),
    };
    let issue = order::add_issue(session, &turn.context(), &new)?;
    let phase = order::unknown_phase(session, &issue);
    let warning =
        phase.map(|phase| format!(". No agent starts on it: the project has no phase `{phase}`"));
    Ok(Done {
        to: page_of(&issue.id),
        said: format!(
            "Added {}: {}{}",
            issue.id,
            issue.title,
            warning.unwrap_or_default()
        ),
    })
}

/// Comments on an issue.
pub(crate) fn comment(
    session: &mut Session,
    turn: &Turn,
    id: &str,
    fields: &Fields,
) -> Result<Done, Failure> {
    let id = id_of(id)?;
    let text = fields.prose("text");
    session.store.add_comment(&turn.context(), &id, &text)?;
    Ok(Done {
        to: page_of(&id),
        said: "Commented; the next agent reads it.".to_owned(),
    })
}

/// Writes a message to whoever works on an issue.
pub(crate) fn say_to_issue(
    session: &mut Session,
    turn: &Turn,
    id: &str,
    fields: &Fields,
) -> Result<Done, Failure> {
    let id = id_of(id)?;
    let text = fields.prose("text");
    let sent = order::say_to_issue(&mut session.store, &turn.context(), &id, &text)?;
    Ok(Done {
        to: page_of(&id),
        said: MessageView::from(sent).sentence(),
    })
}

/// Gives an issue that a person has taken over back to agents. What is uncommitted in its checkout is committed.
pub(crate) fn release(
    session: &mut Session,
    turn: &Turn,
    id: &str,
    _fields: &Fields,
) -> Result<Done, Failure> {
    let id = id_of(id)?;
    let released = release_issue(session, &turn.context(), &id, Uncommitted::Commit)?;
    Ok(Done {
        to: page_of(&id),
        said: released_sentence(&released),
    })
}

/// Edits an issue.
pub(crate) fn edit(
    session: &mut Session,
    turn: &Turn,
    id: &str,
    fields: &Fields,
) -> Result<Done, Failure> {
    let id = id_of(id)?;
    let depends_on = list(fields.text("depends_on")).map(id_of);
    let edit = IssueEdit {
        title: Some(fields.text("title").to_owned()),
        description: Some(fields.prose("description")),
        priority: Some(priority(fields)?),
        labels: Some(list(fields.text("labels")).map(str::to_owned).collect()),
        depends_on: Some(depends_on.collect::<Result<_, _>>()?),
        ..IssueEdit::default()
    };
    let edited = order::edit_issue(session, &turn.context(), &id, &edit)?;
    let ended = match edited.ended {
        None => String::new(),
        Some(EndedReview::Delivery(delivery)) => format!(
            " Delivery {} of the phase {} is superseded.",
            delivery.id, delivery.phase
        ),
        Some(EndedReview::PullRequest { pr, .. }) => format!(
            " Pull request {} is closed; its commits stay on {}.",
            pr.id, pr.branch
        ),
    };
    Ok(Done {
        to: page_of(&id),
        said: format!("Changed {id}.{ended}"),
    })
}

/// Moves an issue to another status.
pub(crate) fn move_issue(
    session: &mut Session,
    turn: &Turn,
    id: &str,
    fields: &Fields,
) -> Result<Done, Failure> {
    let id = id_of(id)?;
    let to = IssueStatus::parse(fields.text("status"))
        .map_err(|error| Failure::Wrong(error.to_string()))?;
    let status = session.store.issue(&id)?.state.status();
    if to == IssueStatus::Cancelled && !status.is_terminal() {
        let ending = Ending::cancelled(&id, fate(fields)?);
        return end(session, turn, &id, &ending);
    }
    let Shifted { issue, closed } = shift_issue(session, &turn.context(), &id, to)?;
    let closed = closed.map(|pr| format!(" Pull request {} is closed, not merged.", pr.id));
    Ok(Done {
        to: page_of(&id),
        said: format!(
            "{id} is now in `{}`.{}",
            issue.state.status(),
            closed.unwrap_or_default()
        ),
    })
}

/// Closes an issue as done or as cancelled, for a reason.
pub(crate) fn close(
    session: &mut Session,
    turn: &Turn,
    id: &str,
    fields: &Fields,
) -> Result<Done, Failure> {
    let id = id_of(id)?;
    let resolution = Resolution::parse(fields.text("resolution"))
        .map_err(|error| Failure::Wrong(error.to_string()))?;
    let reason = fields.prose("reason");
    let ending = Ending::closed(&id, resolution, &reason, fate(fields)?)?;
    end(session, turn, &id, &ending)
}

/// What is chosen for the issues that depend on one that is cancelled.
fn fate(fields: &Fields) -> Result<Option<DependentsFate>, Failure> {
    let chosen = fields.given("dependents").map(DependentsFate::parse);
    chosen
        .transpose()
        .map_err(|error| Failure::Wrong(error.to_string()))
}

fn end(
    session: &mut Session,
    turn: &Turn,
    id: &IssueId,
    ending: &Ending<'_>,
) -> Result<Done, Failure> {
    let ended = end_issue(session, &turn.context(), ending)?;
    let status = ended.outcome.issue.state.status();
    let mut said = vec![format!("{id} is now {status}.")];
    if let Some(pr) = ended.closed {
        said.push(format!("Pull request {} is closed, not merged.", pr.id));
    }
    for effect in &ended.outcome.dependents {
        let what = match effect.fate {
            DependentsFate::Keep => "waits for your decision",
            DependentsFate::Cancel => "is cancelled too",
            DependentsFate::Release => "no longer waits for it",
        };
        said.push(format!("{} {what}.", effect.issue));
    }
    if ended.open_subtasks > 0 {
        said.push(format!("Open sub-tasks: {}.", ended.open_subtasks));
    }
    Ok(Done {
        to: page_of(id),
        said: said.join(" "),
    })
}

/// Approves the delivery of an issue's phase.
pub(crate) fn approve_phase(
    session: &mut Session,
    turn: &Turn,
    id: &str,
    fields: &Fields,
) -> Result<Done, Failure> {
    let id = id_of(id)?;
    let comment = fields.prose("text");
    let verdict = NewVerdict {
        points: PointChanges {
            new: Vec::new(),
            moved: closed_points(fields)?,
        },
        ..NewVerdict::plain(VerdictKind::Approved, "", &comment)
    };
    let delivery = give_phase_verdict(session, &turn.context(), &id, verdict)?;
    let then = match &delivery.next_phase {
        Some(next) => format!("it continues with {next}"),
        None => "it was the last one; move the issue to Done to complete it".to_owned(),
    };
    Ok(Done {
        to: page_of(&id),
        said: format!("Approved the phase {} of {id}: {then}.", delivery.phase),
    })
}

/// Sends the delivery of an issue's phase back, with what has to change.
pub(crate) fn reject_phase(
    session: &mut Session,
    turn: &Turn,
    id: &str,
    fields: &Fields,
) -> Result<Done, Failure> {
    let id = id_of(id)?;
    let verdict = NewVerdict {
        points: PointChanges {
            new: vec![new_point(fields)?],
            moved: Vec::new(),
        },
        ..NewVerdict::plain(VerdictKind::Rejected, "", "")
    };
    let delivery = give_phase_verdict(session, &turn.context(), &id, verdict)?;
    Ok(Done {
        to: page_of(&id),
        said: format!(
            "Rejected the phase {}: {id} goes back to its agent.",
            delivery.phase
        ),
    })
}

/// Tries an issue again.
pub(crate) fn retry(
    session: &mut Session,
    turn: &Turn,
    id: &str,
    _fields: &Fields,
) -> Result<Done, Failure> {
    let id = id_of(id)?;
    let issue = retry_issue(&mut session.store, &turn.context(), &id)?;
    Ok(Done {
        to: page_of(&id),
        said: if issue.state.status() == IssueStatus::Todo {
            format!("The next tick tries {id} again.")
        } else {
            format!("The count of attempts at {id} was reset.")
        },
    })
}

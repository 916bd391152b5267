//! A message to an agent.

use symphony_core::id::{CommentId, IssueId};
use symphony_core::issue::{Comment, IssueStatus};
use symphony_core::message::{Addressee, Reach};
use symphony_core::run::Run;
use symphony_store::{Context, RunFilter, Store};

use super::OrderRefusal;
use crate::error::RunnerError;

/// A message on its way.
#[derive(Debug, Clone)]
pub struct Sent {
    /// The message.
    pub comment: Comment,
    /// Who it is for.
    pub addressee: Addressee,
    /// The run at work that it is for, if there is one.
    pub run: Option<Run>,
    /// When its reader gets it.
    pub reach: Reach,
    /// Where the issue is.
    pub status: IssueStatus,
}

/// Writes a message to the agent of a run. If that run has ended, the next one of the same role gets it.
///
/// # Errors
/// When the run has no agent on an issue, the issue has ended, or the text is empty or too long.
pub fn say_to_run(
    store: &mut Store,
    context: &Context,
    run: &Run,
    text: &str,
) -> Result<Sent, RunnerError> {
    let (issue, addressee) = Addressee::of(run).map_err(|why| OrderRefusal::NoAddressee {
        run: run.id.clone(),
        why,
    })?;
    say(store, context, issue, addressee, text)
}

/// Writes a message to whoever works on an issue, now or next.
///
/// # Errors
/// When there is no such issue, it has ended, or the text is empty or too long.
pub fn say_to_issue(
    store: &mut Store,
    context: &Context,
    issue: &IssueId,
    text: &str,
) -> Result<Sent, RunnerError> {
    say(store, context, issue, Addressee::Author, text)
}

/// A message that was withdrawn.
#[derive(Debug, Clone)]
pub struct Withdrawn {
    /// The message.
    pub comment: Comment,
    /// The run at work whose agent may have been sent it before; `None` if it cannot.
    pub run: Option<Run>,
}

/// Withdraws a message that no agent has read.
///
/// # Errors
/// When there is no such message, or an agent has read it.
pub fn withdraw_message(
    store: &mut Store,
    context: &Context,
    message: CommentId,
) -> Result<Withdrawn, RunnerError> {
    let comment = store.withdraw_message(context, message)?;
    let addressee = comment.message.as_ref().map(|message| message.addressee);
    let run = match addressee {
        Some(addressee) => at_work(store, &comment.issue, addressee)?,
        None => None,
    };
    let run = run.filter(|run| Reach::of(Some(run)) != Reach::NextRun);
    Ok(Withdrawn { comment, run })
}

fn say(
    store: &mut Store,
    context: &Context,
    issue: &IssueId,
    addressee: Addressee,
    text: &str,
) -> Result<Sent, RunnerError> {
    let comment = store.say(context, issue, addressee, text)?;
    // Read afterwards: a run that has ended meanwhile leaves the message to the next one.
    let run = at_work(store, issue, addressee)?;
    Ok(Sent {
        comment,
        addressee,
        reach: Reach::of(run.as_ref()),
        status: store.issue(issue)?.state.status(),
        run,
    })
}

fn at_work(
    store: &Store,
    issue: &IssueId,
    addressee: Addressee,
) -> Result<Option<Run>, RunnerError> {
    let filter = RunFilter {
        issue: Some(issue.clone()),
        agents_only: true,
        live_only: true,
        ..RunFilter::default()
    };
    let is_it = |run: &Run| Addressee::of(run).is_ok_and(|(_, role)| role == addressee);
    Ok(store.runs(&filter)?.into_iter().find(is_it))
}

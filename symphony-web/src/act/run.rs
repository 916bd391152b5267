//! Orders about runs: cancel one, or pause and resume the whole installation.

use symphony_core::id::CommentId;
use symphony_runner::cancel::end_run;
use symphony_runner::order;
use symphony_runner::session::Session;
use symphony_view::{MessageView, WithdrawnView};

use crate::routes::Done;
use crate::server::{Failure, Fields, Turn};

/// Ends a live run; its work is kept.
pub(crate) fn cancel_run(
    session: &mut Session,
    turn: &Turn,
    id: &str,
    _fields: &Fields,
) -> Result<Done, Failure> {
    let run = session.store.find_run(id)?;
    let ended = end_run(
        &session.installation,
        &mut session.store,
        &turn.context(),
        &run.id,
    )?;
    Ok(Done {
        to: format!("/runs/{}", ended.id),
        said: format!("The run has ended: {}.", ended.status),
    })
}

/// Writes a message to the agent of a run.
pub(crate) fn say_to_run(
    session: &mut Session,
    turn: &Turn,
    id: &str,
    fields: &Fields,
) -> Result<Done, Failure> {
    let run = session.store.find_run(id)?;
    let text = fields.prose("text");
    let sent = order::say_to_run(&mut session.store, &turn.context(), &run, &text)?;
    Ok(Done {
        to: format!("/runs/{}", run.id),
        said: MessageView::from(sent).sentence(),
    })
}

/// Withdraws a message that no agent has read.
pub(crate) fn withdraw_message(
    session: &mut Session,
    turn: &Turn,
    id: &str,
    _fields: &Fields,
) -> Result<Done, Failure> {
    let id = CommentId::parse(id).map_err(|error| Failure::Wrong(error.to_string()))?;
    let withdrawn = order::withdraw_message(&mut session.store, &turn.context(), id)?;
    let view = WithdrawnView::from(withdrawn);
    Ok(Done {
        to: format!("/issues/{}", view.comment.issue),
        said: view.sentence(),
    })
}

/// Starts no agents any more.
pub(crate) fn pause(
    session: &mut Session,
    turn: &Turn,
    _id: &str,
    _fields: &Fields,
) -> Result<Done, Failure> {
    session.store.set_paused(&turn.context(), true)?;
    Ok(Done {
        to: "/health".to_owned(),
        said: "Paused: no new agent starts. Running agents continue; runs that wait for a worker end with the next tick.".to_owned(),
    })
}

/// Starts agents again, and tries what is on hold.
pub(crate) fn resume(
    session: &mut Session,
    turn: &Turn,
    _id: &str,
    _fields: &Fields,
) -> Result<Done, Failure> {
    session.store.set_paused(&turn.context(), false)?;
    let lifted = session.store.lift_holds(&turn.context())?;
    let more = if lifted == 0 {
        String::new()
    } else {
        format!(" What was on hold ({lifted}) is tried again at once.")
    };
    Ok(Done {
        to: "/health".to_owned(),
        said: format!("The next tick starts agents again.{more}"),
    })
}

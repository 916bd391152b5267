//! Learnings: edited, retired and restored.

use symphony_core::learning::LearningState;
use symphony_runner::session::Session;
use symphony_store::LearningEdit;

use crate::routes::Done;
use crate::server::{Failure, Fields, Turn};

fn done(what: &str) -> Done {
    Done {
        to: "/learnings".to_owned(),
        said: format!("{what} the learning."),
    }
}

/// Changes the text of a learning. As for all forms, texts with the value of a secret were refused before.
pub(crate) fn edit_learning(
    session: &mut Session,
    turn: &Turn,
    id: &str,
    fields: &Fields,
) -> Result<Done, Failure> {
    let found = session.store.find_learning(id)?;
    // browsers send other line ends than people type
    let text = fields.text("text").trim().replace("\r\n", "\n");
    let edit = session
        .store
        .edit_learning(&turn.context(), &found.learning.id, &text)?;
    match edit {
        LearningEdit::Changed(_) => Ok(done("Changed")),
        LearningEdit::Unchanged(_) => Ok(Done {
            to: "/learnings".to_owned(),
            said: "The learning already has this text.".to_owned(),
        }),
        LearningEdit::Known(known) => Err(Failure::Conflict(format!(
            "learning {} already says this and is {}",
            known.learning.id, known.state
        ))),
    }
}

/// Takes a learning out of later prompts.
pub(crate) fn retire_learning(
    session: &mut Session,
    turn: &Turn,
    id: &str,
    _fields: &Fields,
) -> Result<Done, Failure> {
    let found = session.store.find_learning(id)?;
    session
        .store
        .retire_learnings(&turn.context(), &[found.learning.id])?;
    Ok(done("Retired"))
}

/// Gives a retired learning to agents again.
pub(crate) fn restore_learning(
    session: &mut Session,
    turn: &Turn,
    id: &str,
    _fields: &Fields,
) -> Result<Done, Failure> {
    let found = session.store.find_learning(id)?;
    // one that is proposed waits for its issue
    if found.state != LearningState::Retired {
        return Err(Failure::Conflict("the learning is not retired".to_owned()));
    }
    session
        .store
        .accept_learnings(&turn.context(), &[found.learning.id])?;
    Ok(done("Restored"))
}

//! Learnings: retired and restored.

use symphony_core::learning::LearningState;
use symphony_runner::session::Session;

use crate::routes::Done;
use crate::server::{Failure, Fields, Turn};

fn done(what: &str) -> Done {
    Done {
        to: "/learnings".to_owned(),
        said: format!("{what} the learning."),
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

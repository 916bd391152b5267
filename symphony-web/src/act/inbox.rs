//! The inbox: notices are dismissed; all else leaves it when it is answered.

use symphony_runner::session::Session;

use crate::routes::Done;
use crate::server::{Failure, Fields, Turn};

/// Takes a notice off the list.
pub(crate) fn dismiss_notice(
    session: &mut Session,
    turn: &Turn,
    id: &str,
    _fields: &Fields,
) -> Result<Done, Failure> {
    let number = id
        .parse()
        .map_err(|_malformed| Failure::NotFound("expected the number of a notice".to_owned()))?;
    let notice = session.store.dismiss_base_notice(&turn.context(), number)?;
    Ok(Done {
        to: "/inbox".to_owned(),
        said: format!("The notice about {} is dismissed.", notice.subject()),
    })
}

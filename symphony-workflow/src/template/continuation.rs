//! What an agent is sent after a turn that left its ticket open (sections 7.1 and 10.2).

use crate::ticket::Ticket;

/// Returns the message of a later turn. The session has the whole prompt already, so the message says only that there is
/// more to do, and how many turns are left.
pub fn continuation_prompt(ticket: &Ticket, turn: u32, turns_max: u32) -> String {
    let Ticket {
        identifier, state, ..
    } = ticket;
    let (identifier, state) = (one_line(identifier), one_line(state));
    format!(
        "The last turn ended, and {identifier} is still in the state `{state}`, so the work continues. This is turn {turn} of \
         {turns_max}.\n\n\
         - Continue from what is in the workspace. Do not begin again, and do not repeat checks whose result still holds.\n\
         - The instructions at the beginning of this session apply unchanged.\n\
         - Read {identifier} and its newest comments again before you decide what to do next.\n\
         - End the turn once the ticket has left this state, or if only a person can help: then say exactly what you need.\n"
    )
}

/// Names come from the tracker: a line break in one would look like a line of this message.
fn one_line(text: &str) -> String {
    let text = text.replace('`', "'");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

//! One session of an agent on one ticket (sections 7.1, 10 and 16.5): what goes in, what it reports, how it ends.

mod end;
mod event;
mod input;

pub use end::{AttemptEnd, FailureClass};
pub use event::{AttemptEvent, EventKind, Usage};
pub use input::AttemptInput;

/// Temporary.
pub async fn run(_input: AttemptInput<'_>, _events: &mut dyn FnMut(AttemptEvent)) -> AttemptEnd {
    AttemptEnd::Stopped
}

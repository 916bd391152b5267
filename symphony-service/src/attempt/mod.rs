//! One session of an agent on one ticket (sections 7.1, 10 and 16.5): what goes in, what it reports, how it ends.
//!
//! [`run`] starts the app-server and carries lines. What they mean is decided without I/O: by `session` (the conversation),
//! `opening` (requests, and the policy for what the app-server asks), `tool` and `document` (`linear_graphql`), `meter`
//! (tokens and limits of rates). `connection` is how an app-server
//! is spoken to: over its own input and output, or by WebSocket where it runs already.

mod connection;
mod diagnostics;
mod document;
mod end;
mod event;
mod input;
mod meter;
mod opening;
mod place;
mod run;
mod session;
mod sink;
mod summary;
mod tool;

pub use end::{AttemptEnd, FailureClass};
pub use event::{AttemptEvent, EventKind, Usage};
pub use input::AttemptInput;
pub use run::run;

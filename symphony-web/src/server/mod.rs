//! The server: connections, who is let in, and how answers look.

mod answer;
mod checkups;
mod connections;
mod doors_file;
mod failure;
mod guard;
mod listen;
mod options;
mod patient;
mod places;
mod scope;
mod site;
mod tls;

pub(crate) use answer::{Reader, blocking, failed, page};
pub(crate) use failure::Failure;
pub(crate) use guard::{FORM_TOKEN_FIELD, Fields, Guarded, guarded, session_of, with_headers};
pub(crate) use scope::{
    check_scope, events_in_scope, is_in_scope, project_at, projects_in_scope, turn_to_project,
};
pub(crate) use site::Turn;

pub use connections::serve;
pub use doors_file::{DoorsError, DoorsFile, random_secret};
pub use listen::{ListenError, Listener};
pub use options::{Access, Check, Checkup, Doctor, Finding, Opener, Refreshed, Refresher, Users};
pub use site::Site;
pub use tls::{Found, Part, Tls, TlsError};

//! Who may do what: decided from plain facts of a request, before anything is read for it (spec: web, "Security").
//!
//! Every web page that a person visits can send requests to their own machine. So a request must name a host that this server is
//! known by, carry a session or a token, and, where it changes something, come from one of this server's own pages.

mod admit;
mod doors;
mod host;
mod limiter;
mod origin;
mod secret;
mod user;

pub use admit::{Admission, Credentials, Entrance, Facts, Refusal, Visitor, Way, admit};
pub use doors::{Doors, Session, SignInLink};
pub use host::{Hosts, Named, Scheme};
pub use limiter::FailureLimiter;
pub use origin::{FetchSite, is_own_origin};
pub use secret::{Secret, SecretHash};
pub use symphony_core::user::UserRole as Role;
pub use user::{SignedIn, User, user_of};

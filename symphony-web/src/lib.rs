//! Symphony in a browser: the second face on what the command line does (spec: web).
//!
//! Nothing depends on it: ticks go on when it is down. Pages print the views that the command line prints.

pub mod access;
mod act;
mod api;
mod asked;
mod assets;
mod door;
pub mod highlight;
mod live;
mod page;
pub mod render;
mod routes;
mod server;

pub use door::{SIGN_IN, sign_in_path};
pub use server::Site;
pub use server::{
    Access, Check, Checkup, Doctor, DoorsError, DoorsFile, Finding, Found, ListenError, Listener,
    Opener, Part, Refreshed, Refresher, Tls, TlsError, Users, random_secret, serve,
};

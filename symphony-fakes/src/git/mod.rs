//! A real repository of git, and a server for it: `git http-backend` with TLS on loopback.

mod certificate;
mod cgi;
mod server;
mod store;

pub use server::GitFault;
pub(crate) use server::{Gate, GitServer, Verdict, Wanted};
pub(crate) use store::{GitStore, Signed};

//! TLS in the process: the certificate and its key, and the handshakes of connections (spec: web, "Security").
//!
//! The files are the person's: Symphony reads them, checks that browsers and the key agree about them, and reads them again when they
//! change. It makes no certificate and asks no authority for one.

mod acceptor;
mod error;
mod pair;

pub use acceptor::Tls;
pub use error::{Found, Part, TlsError};

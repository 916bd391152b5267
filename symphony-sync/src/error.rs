//! Why no connection to a tracker can be prepared.

use crate::token::Token;

/// What prevents a client before it asks anything. No text has a token.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SyncError {
    /// The system has no root certificates, so no server can prove who it is.
    #[error(
        "no root certificate was found ({problems} unreadable): install `ca-certificates` or set SSL_CERT_FILE"
    )]
    NoRoots {
        /// How many files or certificates could not be read.
        problems: usize,
    },
    /// The configured address is not one of a web server.
    #[error(
        "`{endpoint}` is not the address of an API: expected https://HOST or http://HOST, with a path if it has one"
    )]
    Endpoint {
        /// What was found.
        endpoint: String,
    },
    /// The client for HTTP cannot be made, for example because a proxy in the environment has no valid address.
    #[error("cannot prepare requests to {endpoint}: {detail}")]
    Client {
        /// The address of the API.
        endpoint: String,
        /// What the library for HTTP says.
        detail: String,
    },
}

impl SyncError {
    /// Takes the token out of what a library says.
    pub(crate) fn redacted(self, token: &Token) -> Self {
        match self {
            Self::Client { endpoint, detail } => Self::Client {
                endpoint,
                detail: token.redact(&detail),
            },
            other => other,
        }
    }
}

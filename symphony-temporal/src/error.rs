//! What can fail between Symphony and a Temporal service.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// A call that did not succeed. Nothing of it says anything about a run: whether one lives is in the database.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TemporalError {
    /// A file with credentials cannot be read.
    #[error("cannot read {}", path.display())]
    Credentials {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The service cannot be reached, or refused the connection.
    #[error("cannot reach Temporal at {address}: {text}")]
    Unreachable {
        /// Its address.
        address: String,
        /// Why, in words.
        text: String,
    },
    /// It did not answer in time.
    #[error("Temporal at {address} did not answer within {} s", limit.as_secs())]
    Silent {
        /// Its address.
        address: String,
        /// How long was waited.
        limit: Duration,
    },
    /// It answered that it will not do what was asked.
    #[error("Temporal at {address} refuses to {call}: {text}")]
    Refused {
        /// Its address.
        address: String,
        /// What was asked of it.
        call: &'static str,
        /// Its words.
        text: String,
    },
    /// It has no such namespace.
    #[error("Temporal at {address} has no namespace `{namespace}`")]
    NoNamespace {
        /// Its address.
        address: String,
        /// The namespace that is configured.
        namespace: String,
    },
    /// The machine gives no thread or no event loop.
    #[error("cannot start the client of Temporal")]
    Start(#[source] io::Error),
}

impl TemporalError {
    /// Returns whether the service is away: in which words, depends on what was asked of it last.
    pub(crate) const fn is_away(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Silent { .. })
    }
}

//! Why a run cannot get its own network.

use std::io;
use std::path::PathBuf;

use symphony_proxy::{EntryError, ProxyError};

/// A failure to set up the network of a run, by what the user can change.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// Entries of `sandbox.hosts` are not hosts.
    #[error("`sandbox.hosts`: {}", joined(.0))]
    Hosts(Vec<EntryError>),
    /// The base URL of a provider is no `http` or `https` URL.
    #[error("{variable} is not an http or https URL")]
    BaseUrl {
        /// The variable.
        variable: &'static str,
    },
    /// A credential cannot be sent in a header.
    #[error("{variable} cannot be kept outside of the sandbox: {source}")]
    Credential {
        /// The variable.
        variable: &'static str,
        /// What is wrong with it.
        source: ProxyError,
    },
    /// An endpoint cannot lead to the provider.
    #[error("cannot keep the provider's credential outside of the sandbox: {0}")]
    Endpoint(#[source] ProxyError),
    /// The user's own proxy cannot be used.
    #[error("{variable} cannot be used: {source}")]
    Upstream {
        /// The variable that names it.
        variable: &'static str,
        /// What is wrong with it.
        source: ProxyError,
    },
    /// The system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl NetworkError {
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self::Io {
            action,
            path: path.into(),
            source,
        }
    }
}

fn joined(errors: &[EntryError]) -> String {
    let texts: Vec<_> = errors.iter().map(EntryError::to_string).collect();
    texts.join("; ")
}

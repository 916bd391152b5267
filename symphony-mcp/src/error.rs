//! What can go wrong around the service. What an agent can act on is an answer instead.

use std::path::PathBuf;

/// An error of the service's transport or of its database.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// The run's socket cannot be created.
    #[error("cannot create the run's socket {}: {source}", path.display())]
    Socket {
        /// Its path.
        path: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// The run's socket cannot be reached: the run is over, or its supervisor died.
    #[error("cannot reach the run's socket {}: {source} (the run is over, or its supervisor died)", path.display())]
    Connect {
        /// Its path.
        path: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// The transport failed.
    #[error("the MCP transport failed: {0}")]
    Transport(#[source] std::io::Error),
    /// The client did not speak MCP.
    #[error("the MCP session failed: {0}")]
    Session(String),
    /// The database.
    #[error(transparent)]
    Store(#[from] symphony_store::StoreError),
    /// The database thread has ended.
    #[error("the database's thread has ended")]
    StoreThreadGone,
}

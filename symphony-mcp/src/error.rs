//! What can go wrong around the service; what an agent can act on is an answer instead.

use std::path::PathBuf;

/// An error of the service's transport or of its database.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// The run's socket cannot be made.
    #[error("cannot make the run's socket {}: {source}", path.display())]
    Socket {
        /// Where it was to be.
        path: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// The run's socket cannot be reached: the run is over, or its supervisor died.
    #[error("cannot reach the run's socket {}: {source} (the run is over, or its supervisor died)", path.display())]
    Connect {
        /// Where it was looked for.
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
    /// The thread of the database is gone.
    #[error("the database's thread is gone")]
    StoreThreadGone,
}

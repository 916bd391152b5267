//! A PostgreSQL of a test's own, which it can stop.

use crate::support::{POSTGRES_USER, PostgresFolder};

/// A server that is reached through its socket.
pub(super) struct OwnServer(PostgresFolder);

impl OwnServer {
    /// Makes and starts it.
    pub(super) fn start() -> Self {
        let server = Self(PostgresFolder::new(None));
        server.0.initialize();
        server.begin();
        server
    }

    /// Returns the address of a schema.
    pub(super) fn address(&self, schema: &str) -> String {
        let folder = self.0.path().display();
        format!("postgres://{POSTGRES_USER}@/postgres?host={folder}&schema={schema}")
    }

    /// Starts it again.
    pub(super) fn begin(&self) {
        let folder = self.0.path().display();
        let settings = format!("-k {folder} -c listen_addresses= -c fsync=off");
        assert!(self.0.start(&settings), "the server has started");
    }

    /// Stops it, as a crash does.
    pub(super) fn stop(&self) {
        assert!(self.0.stop(), "the server has stopped");
    }
}

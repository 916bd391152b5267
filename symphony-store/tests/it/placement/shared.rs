//! A database that several stores use at once, in a file or on the tests' server, and what its clock and its rows are.

use symphony_core::Timestamp;
use symphony_store::Store;

use crate::support::add_project;

enum Engine {
    File(tempfile::TempDir),
    #[cfg(feature = "postgres")]
    Server {
        address: String,
        schema: String,
    },
}

pub(crate) struct Shared(Engine);

impl Shared {
    pub(crate) fn new() -> Self {
        #[cfg(feature = "postgres")]
        if let Ok(address) = std::env::var("SYMPHONY_TEST_DATABASE") {
            let schema = format!("test_{}", uuid::Uuid::new_v4().simple());
            return Self(Engine::Server { address, schema });
        }
        Self(Engine::File(tempfile::tempdir().unwrap()))
    }

    /// The first store, with a project.
    pub(crate) fn first(&self) -> Store {
        let mut store = self.open();
        add_project(&mut store);
        store
    }

    pub(crate) fn open(&self) -> Store {
        match &self.0 {
            Engine::File(folder) => Store::open(&folder.path().join("s.db")).unwrap(),
            #[cfg(feature = "postgres")]
            Engine::Server { address, schema } => Store::connect(address, schema).unwrap(),
        }
    }

    /// Runs a statement past the store.
    pub(crate) fn sql(&self, sql: &str) {
        match &self.0 {
            Engine::File(_) => self.sqlite().execute_batch(sql).unwrap(),
            #[cfg(feature = "postgres")]
            Engine::Server { .. } => self.client().batch_execute(sql).unwrap(),
        }
    }

    /// Reads one text past the store.
    pub(crate) fn text(&self, sql: &str) -> String {
        match &self.0 {
            Engine::File(_) => self.sqlite().query_row(sql, [], |row| row.get(0)).unwrap(),
            #[cfg(feature = "postgres")]
            Engine::Server { .. } => {
                let rows = self.client().query(sql, &[]).unwrap();
                rows.first().unwrap().get(0)
            }
        }
    }

    /// Sets all runs back, as if so much time had passed.
    pub(crate) fn age(&self, ms: i64) {
        self.sql(&format!(
            "UPDATE run SET begun_at = begun_at - {ms}, beat_at = beat_at - {ms}"
        ));
    }

    /// The database's clock, which is this machine's.
    #[expect(clippy::unused_self, reason = "the clock belongs to the database")]
    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn sqlite(&self) -> rusqlite::Connection {
        match &self.0 {
            Engine::File(folder) => rusqlite::Connection::open(folder.path().join("s.db")).unwrap(),
            #[cfg(feature = "postgres")]
            Engine::Server { .. } => panic!("a server is asked by its client"),
        }
    }

    #[cfg(feature = "postgres")]
    fn client(&self) -> crate::plain_client::PlainClient {
        let Engine::Server { address, schema } = &self.0 else {
            panic!("a file has no client");
        };
        crate::plain_client::PlainClient::in_schema(&address.parse().unwrap(), schema)
    }
}

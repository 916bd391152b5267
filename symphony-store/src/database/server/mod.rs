//! The database on a server of PostgreSQL: how it is reached, and how its tables get there.

#[cfg(feature = "postgres")]
mod connection;
mod facts;
#[cfg(feature = "postgres")]
mod passfile;
#[cfg(feature = "postgres")]
mod schema;
#[cfg(not(feature = "postgres"))]
mod without;

#[cfg(feature = "postgres")]
pub(crate) use schema::creation;

pub use facts::ServerFacts;

/// What `symphony db init` did on a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaChange {
    /// It made all tables.
    Created,
    /// It brought them from this version to the newest one.
    Migrated {
        /// The version before.
        from: i64,
    },
    /// They were there; only what the roles may do was set again.
    Unchanged,
}

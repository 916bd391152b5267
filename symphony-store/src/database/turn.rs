//! The turn of ticks on several hosts.
//!
//! Ticks of one host take turns by a lock file, which also shows one that is stuck. On a server there may be ticks of other hosts, so the
//! session takes a lock there, too. It saves their work; what a tick writes is checked without it.

use crate::database::open::Store;
use crate::db::Connection;
use crate::error::StoreError;

/// Whether this process may do a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostTurn {
    /// No tick of another host works on this database.
    Taken,
    /// One does.
    OfAnotherHost,
}

impl Store {
    /// Takes the turn among hosts, until [`Store::end_host_turn`], or until this process ends or loses its connection.
    ///
    /// # Errors
    /// When the server cannot be reached.
    pub fn take_host_turn(&self) -> Result<HostTurn, StoreError> {
        Ok(match &self.conn {
            Connection::Sqlite(_) => HostTurn::Taken,
            #[cfg(feature = "postgres")]
            Connection::Postgres(server) if server.take_turn()? => HostTurn::Taken,
            #[cfg(feature = "postgres")]
            Connection::Postgres(_) => HostTurn::OfAnotherHost,
        })
    }

    /// Gives the turn back.
    pub fn end_host_turn(&self) {
        match &self.conn {
            Connection::Sqlite(_) => {}
            #[cfg(feature = "postgres")]
            Connection::Postgres(server) => server.end_turn(),
        }
    }
}

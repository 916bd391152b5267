//! The tick's turn: a lock of the session, which the server gives back when the session ends.

use tokio_postgres::types::{ToSql, Type};

use super::{DbError, Postgres};

/// The lock's number in PostgreSQL, the first of two; the second is the schema's.
const LOCK: i32 = 0x5359_4d50;

/// Whether a session has the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Has {
    /// It has it.
    Turn,
    /// It does not.
    Not,
}

impl Postgres {
    /// Takes the turn; returns false when another session has it.
    pub(crate) fn take_turn(&self) -> Result<bool, DbError> {
        if self.turn.get() == Has::Turn {
            return Ok(true);
        }
        let text = "SELECT pg_try_advisory_lock($1, hashtext(current_schema()))";
        let lock = [(&LOCK as &(dyn ToSql + Sync), Type::INT4)];
        let rows = self.read(|client| client.query_typed(text, &lock))?;
        let is_taken = rows.first().is_some_and(|row| row.get(0));
        if is_taken {
            self.turn.set(Has::Turn);
            self.forget_sessions();
        }
        Ok(is_taken)
    }

    /// Removes the rows of sessions that wrote nothing for a day: each command leaves one. A commit is settled within seconds, and a
    /// session that writes again makes its row again.
    fn forget_sessions(&self) {
        let text = "DELETE FROM engine_session WHERE id IN (SELECT id FROM engine_session WHERE at < now() - interval '1 day'
             FOR UPDATE SKIP LOCKED)";
        if let Err(error) = self.once(|client| client.execute_typed(text, &[])) {
            tracing::debug!(%error, "rows of old sessions were not removed");
        }
    }

    /// Gives the turn back. A session that breaks has given it back.
    pub(crate) fn end_turn(&self) {
        if self.turn.replace(Has::Not) == Has::Not || self.client.borrow().is_closed() {
            return;
        }
        let text = "SELECT pg_advisory_unlock($1, hashtext(current_schema()))";
        let lock = [(&LOCK as &(dyn ToSql + Sync), Type::INT4)];
        let _unlocked = self.send(|client| client.query_typed(text, &lock));
    }

    /// Takes the turn for a session that replaces one that had it. Another tick may have it by now: then two ticks work at once, which
    /// costs work and breaks nothing, as each claim is checked where it is stored.
    pub(super) fn take_turn_again(&self) {
        if self.turn.replace(Has::Not) == Has::Turn && !matches!(self.take_turn(), Ok(true)) {
            tracing::warn!("the connection broke, and another tick has the turn now");
        }
    }
}

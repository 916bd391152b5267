//! Checking the database file, and making it smaller.

use symphony_core::invariant::Violation;

use crate::audit::check_file;
use crate::database::open::Store;
use crate::error::StoreError;

/// Sizes of the database in bytes, before and after it was made smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vacuumed {
    /// Before.
    pub bytes_before: u64,
    /// After.
    pub bytes_after: u64,
}

impl Store {
    /// Checks that the file is complete, that every reference has its row, and that the schema is known.
    ///
    /// # Errors
    /// When it cannot be read at all.
    pub fn check_file(&mut self) -> Result<Vec<Violation>, StoreError> {
        self.read(|tx| {
            let mut found = Vec::new();
            check_file(tx, &mut found)?;
            Ok(found)
        })
    }

    /// Makes the file as small as its contents. Other processes wait meanwhile.
    ///
    /// # Errors
    /// When another process holds the database for too long, or there is no space for a copy.
    pub fn vacuum(&self) -> Result<Vacuumed, StoreError> {
        if self.conn.sqlite().is_none() {
            return Err(StoreError::refused(
                "the database is on a server, which does this by itself (autovacuum)",
            ));
        }
        let bytes_before = self.bytes()?;
        self.conn.execute_batch("VACUUM")?;
        // Recent writes are in the write-ahead log until they are moved into the file.
        self.conn
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_row| Ok(()))?;
        Ok(Vacuumed {
            bytes_before,
            bytes_after: self.bytes()?,
        })
    }

    fn bytes(&self) -> Result<u64, StoreError> {
        let pragma = |name: &str| -> Result<u64, StoreError> {
            let value: i64 = self
                .conn
                .query_row(&format!("PRAGMA {name}"), [], |row| row.get(0))?;
            Ok(u64::try_from(value).unwrap_or(0))
        };
        Ok(pragma("page_count")?.saturating_mul(pragma("page_size")?))
    }
}

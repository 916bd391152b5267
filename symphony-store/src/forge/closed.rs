//! Pull requests that were closed here and may be open at the forge.

use symphony_core::id::ProjectId;
use symphony_forge::remote::PullNumber;

use crate::database::context::Context;
use crate::database::open::Store;
use crate::db::params;
use crate::error::StoreError;
use crate::forge::pull::{ForgePull, from_row};

/// Most ended pull requests of a project that are looked at once more.
const WATCHED_MAX: i64 = 10;

/// The newest record of each branch whose pull request was closed a short time ago, or is open again there.
const CLOSED_SQL: &str = "SELECT * FROM forge_pull f WHERE project = ?1 AND is_open = 0 AND number IS NOT NULL
     AND ends ->> '$.closed_at' IS NOT NULL AND (problem IS NOT NULL OR CAST(ends ->> '$.closed_at' AS BIGINT) >= ?2)
     AND NOT EXISTS (SELECT 1 FROM forge_pull n WHERE n.project = f.project AND n.branch = f.branch AND n.id > f.id)
     ORDER BY id DESC LIMIT ?3";

impl Store {
    /// Returns the newest records of branches whose pull requests were closed since a moment, in milliseconds since 1970, and those
    /// that are open again at the forge.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn closed_forge_pulls(
        &self,
        project: &ProjectId,
        since: Option<i64>,
    ) -> Result<Vec<ForgePull>, StoreError> {
        let mut statement = self.conn.prepare_cached(CLOSED_SQL)?;
        let since = since.unwrap_or(i64::MAX);
        let mut rows = statement.query(params![project.as_str(), since, WATCHED_MAX])?;
        let mut pulls = Vec::new();
        while let Some(row) = &rows.next()? {
            pulls.push(from_row(row)?);
        }
        Ok(pulls)
    }

    /// Returns the pull requests that are open at the forge of a project though their issue was deleted here.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn left_forge_pulls(&self, project: &ProjectId) -> Result<Vec<PullNumber>, StoreError> {
        let mut statement = self
            .conn
            .prepare_cached("SELECT number FROM forge_left WHERE project = ?1 ORDER BY number")?;
        let mut rows = statement.query([project.as_str()])?;
        let mut numbers = Vec::new();
        while let Some(row) = &rows.next()? {
            numbers.push(PullNumber::new(row.get::<_, i64>(0)?.unsigned_abs()));
        }
        Ok(numbers)
    }

    /// Forgets a pull request that was left at the forge.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn forget_left_forge_pull(
        &mut self,
        context: &Context,
        project: &ProjectId,
        number: PullNumber,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            tx.execute(
                "DELETE FROM forge_left WHERE project = ?1 AND number = ?2",
                params![project.as_str(), number.get().cast_signed()],
            )?;
            Ok(())
        })
    }
}

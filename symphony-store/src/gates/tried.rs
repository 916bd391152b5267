//! Which gates passed on the base of a project as they are configured now: the others are tried there before an agent is paid.

use std::collections::BTreeSet;

use rusqlite::{Transaction, params};
use symphony_core::id::ProjectId;

use crate::database::context::Context;
use crate::database::open::Store;
use crate::error::StoreError;

/// Digests that are kept of a project, the newest: many times the gates that anybody configures.
const DIGESTS_MAX: u32 = 200;

impl Store {
    /// Returns the digests of what passed on the base of a project since it was last red there.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn tried_gates(&self, project: &ProjectId) -> Result<BTreeSet<String>, StoreError> {
        let mut statement = self
            .conn
            .prepare_cached("SELECT digest FROM tried_gate WHERE project = ?1")?;
        let digests = statement.query_map([project.as_str()], |row| row.get(0))?;
        Ok(digests.collect::<Result<_, _>>()?)
    }

    /// Records that gates need not be tried on the base of a project before its next worker.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn record_tried_gates(
        &mut self,
        context: &Context,
        project: &ProjectId,
        digests: &[String],
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            for digest in digests {
                note_tried(tx, context, project, digest)?;
            }
            tx.prepare_cached(
                "DELETE FROM tried_gate WHERE project = ?1 AND digest NOT IN
                    (SELECT digest FROM tried_gate WHERE project = ?1 ORDER BY at DESC, digest LIMIT ?2)",
            )?
            .execute(params![project.as_str(), DIGESTS_MAX])?;
            Ok(())
        })
    }
}

/// Notes one digest.
pub(crate) fn note_tried(
    tx: &Transaction<'_>,
    context: &Context,
    project: &ProjectId,
    digest: &str,
) -> Result<(), StoreError> {
    tx.prepare_cached(
        "INSERT OR REPLACE INTO tried_gate (project, digest, at) VALUES (?1, ?2, ?3)",
    )?
    .execute(params![
        project.as_str(),
        digest,
        context.now.as_millisecond()
    ])?;
    Ok(())
}

/// Forgets what passed on the base of a project: something is red there now.
pub(crate) fn forget_tried(tx: &Transaction<'_>, project: &ProjectId) -> Result<(), StoreError> {
    tx.prepare_cached("DELETE FROM tried_gate WHERE project = ?1")?
        .execute([project.as_str()])?;
    Ok(())
}

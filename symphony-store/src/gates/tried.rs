//! Which gates, as they are configured now, passed on a project's base. All others run there before an agent is paid.

use std::collections::BTreeSet;

use symphony_core::id::ProjectId;

use crate::database::context::Context;
use crate::database::open::Store;
use crate::db::{Transaction, params};
use crate::error::StoreError;

/// How many of a project's newest digests are kept: many times the gates that anyone configures.
const DIGESTS_MAX: u32 = 200;

impl Store {
    /// Returns the digests of what has passed on a project's base since a gate was last red there.
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

    /// Records that gates need no trial on a project's base before its next worker.
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

/// Records one digest.
pub(crate) fn note_tried(
    tx: &Transaction<'_>,
    context: &Context,
    project: &ProjectId,
    digest: &str,
) -> Result<(), StoreError> {
    tx.prepare_cached(
        "INSERT INTO tried_gate (project, digest, at) VALUES (?1, ?2, ?3) ON CONFLICT (project, digest) DO UPDATE SET at = ?3",
    )?
    .execute(params![
        project.as_str(),
        digest,
        context.now.as_millisecond()
    ])?;
    Ok(())
}

/// Forgets what passed on a project's base, because a gate is red there now.
pub(crate) fn forget_tried(tx: &Transaction<'_>, project: &ProjectId) -> Result<(), StoreError> {
    tx.prepare_cached("DELETE FROM tried_gate WHERE project = ?1")?
        .execute([project.as_str()])?;
    Ok(())
}

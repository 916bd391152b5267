//! Base branches that a forge has too.

use std::collections::BTreeMap;

use symphony_core::id::ProjectId;

use crate::database::context::Context;
use crate::database::open::Store;
use crate::database::row::to_json;
use crate::db::params;
use crate::error::StoreError;

/// The moves of a base by merges that were made here: where it was, and where it was moved to. A merge that was made outside has no
/// such entry, and an interrupted one is its own until the next merge or tick settles it.
const MERGES_SQL: &str = "SELECT e.payload ->> '$.base_before', e.payload ->> '$.merged' FROM pull_request p
     JOIN event e ON e.issue = p.issue
     WHERE p.project = ?1 AND p.base = ?2 AND p.state = 'merged' AND p.merged_outside IS NULL AND e.kind = 'merge_intended'
         AND CAST(e.payload ->> '$.pr' AS BIGINT) = p.id AND e.payload ->> '$.merged' = p.merged_commit
     UNION ALL
     SELECT e.payload ->> '$.base_before', e.payload ->> '$.merged' FROM pull_request p
     JOIN event e ON e.plan = p.plan
     WHERE p.project = ?1 AND p.base = ?2 AND p.state = 'merged' AND p.merged_outside IS NULL AND e.kind = 'merge_intended'
         AND CAST(e.payload ->> '$.pr' AS BIGINT) = p.id AND e.payload ->> '$.merged' = p.merged_commit";

impl Store {
    /// Returns the recorded merges into a base that Symphony made: where each moved it to, and where it was before.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn own_merges(
        &self,
        project: &ProjectId,
        base: &str,
    ) -> Result<BTreeMap<String, String>, StoreError> {
        let mut statement = self.conn.prepare_cached(MERGES_SQL)?;
        let mut rows = statement.query([project.as_str(), base])?;
        let mut merges = BTreeMap::new();
        while let Some(row) = &rows.next()? {
            let (before, merged): (String, String) = (row.get(0)?, row.get(1)?);
            merges.insert(merged, before);
        }
        Ok(merges)
    }

    /// Records the commits that base branches have at the forge of a project.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn save_forge_bases(
        &mut self,
        context: &Context,
        project: &ProjectId,
        bases: &BTreeMap<String, String>,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            tx.execute(
                "UPDATE forge SET bases = ?2 WHERE project = ?1",
                params![project.as_str(), to_json(bases)],
            )?;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::query_plan::query_plan;

    #[test]
    fn the_log_is_searched_only_at_merged_pull_requests() {
        let store = Store::open_in_memory().unwrap();
        let plan = query_plan(&store.conn, MERGES_SQL);
        assert!(
            plan.iter().all(|line| !line.contains("SCAN e")),
            "{plan:#?}"
        );
    }
}

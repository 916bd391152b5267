//! Plans that ended with unmerged work.

use symphony_core::id::ProjectId;
use symphony_core::inbox::StoppedPlan;

use crate::database::open::Store;
use crate::database::row::{count, parsed, time};
use crate::error::StoreError;

impl Store {
    /// Returns the ended plans, of one project or of all, that have complete phases whose work is not recorded to be on
    /// the user's branch. Skipped phases count as no work.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn stopped_plans(
        &self,
        project: Option<&ProjectId>,
    ) -> Result<Vec<StoppedPlan>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT p.id, p.project, p.path, p.status, p.target_branch, p.completed_at, count(f.phase) AS total,
                    coalesce(sum(f.status = 'complete' AND f.progress -> '$.state.skipped' IS DISTINCT FROM 'true'), 0) AS complete,
                    EXISTS (SELECT 1 FROM base_notice n WHERE n.plan = p.id AND n.kind = 'base_lost') AS is_base_lost,
                    (SELECT q.id FROM plan q WHERE q.project = p.project AND q.path = p.path
                       AND q.status IN ('running', 'paused', 'awaiting_user_decision', 'review')) AS successor
             FROM plan p JOIN plan_phase f ON f.plan = p.id
             WHERE p.status IN ('completed', 'failed', 'aborted') AND p.target_branch IS NOT NULL AND p.merged_commit IS NULL
                   AND (CAST(?1 AS TEXT) IS NULL OR p.project = ?1)
             GROUP BY p.id HAVING coalesce(sum(f.status = 'complete' AND f.progress -> '$.state.skipped' IS DISTINCT FROM 'true'), 0) > 0 ORDER BY p.completed_at, p.id",
        )?;
        let mut rows = statement.query([project.map(ProjectId::as_str)])?;
        let mut plans = Vec::new();
        while let Some(row) = &rows.next()? {
            plans.push(StoppedPlan {
                plan: parsed("plan id", row.get("id")?)?,
                project: parsed("project id", row.get("project")?)?,
                path: row.get("path")?,
                status: parsed("plan status", row.get("status")?)?,
                complete: count(row, "complete")?,
                total: count(row, "total")?,
                target_branch: row.get("target_branch")?,
                is_base_lost: row.get("is_base_lost")?,
                successor: row
                    .get::<_, Option<String>>("successor")?
                    .map(|id| parsed("plan id", id))
                    .transpose()?,
                since: time(row.get("completed_at")?)?,
            });
        }
        Ok(plans)
    }
}

//! Renamed branches: the base of open pull requests, and the branch that the work of plans goes to.

use symphony_core::id::{PlanId, PrId, ProjectId};
use symphony_core::log::LogEvent;
use symphony_core::outside::OpenInto;
use symphony_core::pull_request::PullRequestOf;

use crate::database::context::Context;
use crate::database::event::{About, append};
use crate::database::open::Store;
use crate::database::row::{parsed, time};
use crate::db::{OptionalExtension, Transaction, params};
use crate::error::StoreError;
use crate::plan::log::append_plan;
use crate::review::pull_request_query::source_from;

impl Store {
    /// Returns the base branches of a project's open pull requests.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn open_bases(&self, project: &ProjectId) -> Result<Vec<String>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT DISTINCT base FROM pull_request WHERE project = ?1 AND state IN ('open', 'approved') ORDER BY base",
        )?;
        let bases = statement
            .query_map([project.as_str()], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        Ok(bases)
    }

    /// Returns the open pull requests of a project with their bases, oldest first, without proposals that nothing is
    /// left to do, which are never merged.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn open_into(&self, project: &ProjectId) -> Result<Vec<OpenInto>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT id, issue, plan, base, base_commit, head_commit, state = 'approved' AS is_approved, created_at,
                 EXISTS (SELECT 1 FROM run r WHERE r.id = pull_request.run AND r.pool IS NOT NULL AND r.promoted IS NULL) AS is_at_hub
             FROM pull_request
             WHERE project = ?1 AND state IN ('open', 'approved') AND proposal IS NULL ORDER BY id",
        )?;
        let mut rows = statement.query([project.as_str()])?;
        let mut open = Vec::new();
        while let Some(row) = &rows.next()? {
            open.push(OpenInto {
                pr: PrId::new(row.get("id")?),
                of: source_from(row)?,
                base: row.get("base")?,
                base_commit: row.get("base_commit")?,
                head_commit: row.get("head_commit")?,
                is_approved: row.get("is_approved")?,
                is_at_hub: row.get("is_at_hub")?,
                created_at: time(row.get("created_at")?)?,
            });
        }
        Ok(open)
    }

    /// Returns the branches that the work of a project's plans goes to and is not on yet.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn plan_targets(&self, project: &ProjectId) -> Result<Vec<String>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT DISTINCT target_branch FROM plan
             WHERE project = ?1 AND target_branch IS NOT NULL AND merged_commit IS NULL ORDER BY target_branch",
        )?;
        let targets = statement
            .query_map([project.as_str()], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        Ok(targets)
    }

    /// Changes the target branch of a project's plans whose work goes to one branch, and returns these plans.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn move_plan_targets(
        &mut self,
        context: &Context,
        project: &ProjectId,
        from: &str,
        to: &str,
    ) -> Result<Vec<PlanId>, StoreError> {
        self.write(context, |tx| {
            let mut statement = tx.prepare(
                "UPDATE plan SET target_branch = ?3, revision = revision + 1
                 WHERE project = ?1 AND target_branch = ?2 AND merged_commit IS NULL RETURNING id",
            )?;
            let mut plans: Vec<PlanId> = Vec::new();
            let mut rows = statement.query(params![project.as_str(), from, to])?;
            while let Some(row) = &rows.next()? {
                plans.push(parsed("plan id", row.get("id")?)?);
            }
            for plan in &plans {
                let event = LogEvent::PlanTargetMoved {
                    from: from.to_owned(),
                    to: to.to_owned(),
                };
                append_plan(tx, context, plan, &event)?;
            }
            Ok(plans)
        })
    }

    /// Changes the base of a project's open pull requests with one base, and returns them. Heads and verdicts are kept,
    /// since the commits are the same.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn move_base(
        &mut self,
        context: &Context,
        project: &ProjectId,
        from: &str,
        to: &str,
    ) -> Result<Vec<PrId>, StoreError> {
        self.write(context, |tx| {
            // Whoever settles an interrupted merge looks at the branch that its pull request names. With another one, a
            // merge that reached its base would be taken back.
            refuse_begun_merge_into(tx, project, from)?;
            let mut statement = tx.prepare(
                "UPDATE pull_request SET base = ?3, updated_at = ?4
                 WHERE project = ?1 AND base = ?2 AND state IN ('open', 'approved') RETURNING id, issue, plan",
            )?;
            let now = context.now.as_millisecond();
            let mut moved: Vec<(PrId, PullRequestOf)> = Vec::new();
            let mut rows = statement.query(params![project.as_str(), from, to, now])?;
            while let Some(row) = &rows.next()? {
                moved.push((PrId::new(row.get("id")?), source_from(row)?));
            }
            let mut prs = Vec::new();
            for (pr, of) in moved {
                let event = LogEvent::PullRequestBaseMoved {
                    pr,
                    from: from.to_owned(),
                    to: to.to_owned(),
                };
                append(tx, context, About::of(&of), &event)?;
                prs.push(pr);
            }
            Ok(prs)
        })
    }
}

/// Refuses to change the base of pull requests while one of them is being merged.
fn refuse_begun_merge_into(
    tx: &Transaction<'_>,
    project: &ProjectId,
    base: &str,
) -> Result<(), StoreError> {
    let begun: Option<i64> = tx
        .query_row(
            "SELECT id FROM pull_request INDEXED BY pull_request_merging
             WHERE project = ?1 AND merge_intent IS NOT NULL AND base = ?2 LIMIT 1",
            [project.as_str(), base],
            |row| row.get(0),
        )
        .optional()?;
    begun.map_or(Ok(()), |pr| {
        Err(StoreError::MergeBegun { pr: PrId::new(pr) })
    })
}

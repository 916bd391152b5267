//! Where Symphony left the base of a plan, and the notices for when it is not there any longer.

use symphony_core::id::{PlanId, PrId};
use symphony_core::outside::{BaseNotice, NoticeKind};
use symphony_core::plan::state::{PlanEvent, PlanStatus};
use symphony_core::pull_request::{PullRequest, PullRequestOf};

use crate::database::context::Context;
use crate::database::open::Store;
use crate::db::{OptionalExtension, params};
use crate::error::StoreError;
use crate::merge::notice::insert_notice;
use crate::plan::record::{PlanTarget, load_head, load_plan};
use crate::plan::review::open_plan_pr;
use crate::plan::review_end::{forget_lost_base, move_plan};
use crate::review::pull_request_write::NewPullRequest;

impl Store {
    /// Returns the status of a plan.
    ///
    /// # Errors
    /// When there is no plan with this id.
    pub fn plan_status(&self, id: &PlanId) -> Result<PlanStatus, StoreError> {
        Ok(load_head(&self.conn, id)?.state.status)
    }

    /// Returns where the work of a plan starts and where it goes; `None` without worktrees.
    ///
    /// # Errors
    /// When there is no plan with this id.
    pub fn plan_target(&self, id: &PlanId) -> Result<Option<PlanTarget>, StoreError> {
        Ok(load_head(&self.conn, id)?.target)
    }

    /// Returns the head at which Symphony last left the base of a plan; `None` before the first merge of a phase.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn plan_base_head(&self, plan: &PlanId) -> Result<Option<String>, StoreError> {
        let head: Option<Option<String>> = self
            .conn
            .prepare_cached("SELECT base_head FROM plan WHERE id = ?1")?
            .query_row([plan.as_str()], |row| row.get(0))
            .optional()?;
        Ok(head.flatten())
    }

    /// Records the head of a plan's base, unless it was changed from `seen` meanwhile, and returns whether it was
    /// recorded. Notices about lost work are removed.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn record_plan_base(
        &mut self,
        context: &Context,
        plan: &PlanId,
        seen: Option<&str>,
        head: &str,
    ) -> Result<bool, StoreError> {
        self.write(context, |tx| {
            // Only over what the caller saw: a slower process must not replace a newer head by an older one, or the
            // base would seem to have moved without Symphony.
            let changed = tx.execute(
                "UPDATE plan SET base_head = ?3 WHERE id = ?1 AND base_head IS NOT DISTINCT FROM ?2",
                params![plan.as_str(), seen, head],
            )?;
            forget_lost_base(tx, plan)?;
            Ok(changed > 0)
        })
    }

    /// Removes the notice that a plan's base lost work when the work is there again. Returns whether there was one.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn forget_lost_base(
        &mut self,
        context: &Context,
        plan: &PlanId,
    ) -> Result<bool, StoreError> {
        let is_told: bool = self
            .conn
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM base_notice WHERE plan = ?1 AND kind = ?2)",
            )?
            .query_row(params![plan.as_str(), NoticeKind::BaseLost.name()], |row| {
                row.get(0)
            })?;
        if is_told {
            self.write(context, |tx| forget_lost_base(tx, plan))?;
        }
        Ok(is_told)
    }

    /// Returns the commits at which a person saw a plan's base without the work of complete phases, and dismissed the
    /// notice.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn accepted_bases(&self, plan: &PlanId) -> Result<Vec<String>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT commit_id FROM base_notice
             WHERE plan = ?1 AND kind = ?2 AND dismissed_at IS NOT NULL",
        )?;
        let commits = statement
            .query_map(params![plan.as_str(), NoticeKind::BaseLost.name()], |row| {
                row.get(0)
            })?;
        Ok(commits.collect::<Result<_, _>>()?)
    }

    /// Adds a notice that a plan's base lost work. A plan whose phases are all complete then waits for a person, since
    /// the rest is not offered for review.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn stop_for_lost_base(
        &mut self,
        context: &Context,
        plan: &PlanId,
        notice: &BaseNotice,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            insert_notice(tx, context, notice)?;
            let before = load_plan(tx, plan)?;
            if before.state.status == PlanStatus::Running && before.state.is_complete() {
                move_plan(tx, context, &before, PlanEvent::WaitingForDecision)?;
            }
            Ok(())
        })
    }

    /// Opens the pull request of a plan whose work its target branch already has, with a notice in the same
    /// transaction: such a pull request is never recorded as merged without a person.
    ///
    /// # Errors
    /// As [`Store::create_pr`].
    pub fn open_landed_review(
        &mut self,
        context: &Context,
        plan: &PlanId,
        new: &NewPullRequest,
        notice: impl Fn(PrId) -> BaseNotice,
    ) -> Result<PullRequest, StoreError> {
        self.write(context, |tx| {
            let pr = open_plan_pr(tx, context, plan, new)?;
            let notice = notice(pr.id);
            if !insert_notice(tx, context, &notice)? {
                // An earlier pull request with the same head already has this notice.
                tx.execute(
                    "UPDATE base_notice SET pull_request = ?4, text = ?5, dismissed_at = NULL WHERE plan = ?1 AND kind = ?2 AND commit_id = ?3",
                    params![
                        plan.as_str(),
                        notice.kind.name(),
                        notice.commit,
                        pr.id.get(),
                        notice.text
                    ],
                )?;
            }
            Ok(pr)
        })
    }

    /// Returns the notices about the work of a plan, oldest first.
    ///
    /// # Errors
    /// When the plan does not exist, or the database cannot be read.
    pub fn plan_notices(&self, plan: &PlanId) -> Result<Vec<BaseNotice>, StoreError> {
        let project = load_head(&self.conn, plan)?.project;
        let of = PullRequestOf::from(plan.clone());
        let open = self.base_notices(&project)?.into_iter();
        Ok(open
            .map(|open| open.notice)
            .filter(|notice| notice.of.as_ref() == Some(&of))
            .collect())
    }
}

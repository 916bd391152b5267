//! Where Symphony left the base of a plan, and what is told when that is not there any more.

use rusqlite::{OptionalExtension, params};
use symphony_core::id::{PlanId, PrId};
use symphony_core::outside::{BaseNotice, NoticeKind};
use symphony_core::plan::state::{PlanEvent, PlanStatus};
use symphony_core::pull_request::{PullRequest, PullRequestOf};

use crate::database::context::Context;
use crate::database::open::Store;
use crate::error::StoreError;
use crate::merge::notice::insert_notice;
use crate::plan::record::{PlanTarget, load_head, load_plan};
use crate::plan::review::open_plan_pr;
use crate::plan::review_end::{forget_lost_base, move_plan};
use crate::review::pull_request_write::NewPullRequest;

impl Store {
    /// Returns where a plan stands.
    ///
    /// # Errors
    /// When there is none of this id.
    pub fn plan_status(&self, id: &PlanId) -> Result<PlanStatus, StoreError> {
        Ok(load_head(&self.conn, id)?.state.status)
    }

    /// Returns where the work of a plan begins and goes; none without worktrees.
    ///
    /// # Errors
    /// When there is none of this id.
    pub fn plan_target(&self, id: &PlanId) -> Result<Option<PlanTarget>, StoreError> {
        Ok(load_head(&self.conn, id)?.target)
    }

    /// Returns the head at which Symphony left the base of a plan last; none before the first merge of a phase.
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

    /// Records where the base of a plan is now, unless somebody has recorded something else than `seen` meanwhile; says whether
    /// it was recorded. What was told of work that was lost is over.
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
            let changed = tx.execute(
                "UPDATE plan SET base_head = ?3 WHERE id = ?1 AND base_head IS ?2",
                params![plan.as_str(), seen, head],
            )?;
            forget_lost_base(tx, plan)?;
            Ok(changed > 0)
        })
    }

    /// Takes back what a person was told of work that the base of a plan lost, when it is there again; says whether anything was.
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

    /// Says whether a person has seen that a plan's base is at this commit, without work of complete phases, and let it be.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn is_base_accepted(&self, plan: &PlanId, found: &str) -> Result<bool, StoreError> {
        Ok(self
            .conn
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM base_notice WHERE plan = ?1 AND kind = ?2 AND commit_id = ?3
                                AND dismissed_at IS NOT NULL)",
            )?
            .query_row(
                params![plan.as_str(), NoticeKind::BaseLost.name(), found],
                |row| row.get(0),
            )?)
    }

    /// Tells a person that the base of a plan lost work, and lets a plan whose phases are all complete wait for that person: what
    /// is left is not offered for review.
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

    /// Opens the pull request of a plan whose work its base has already, and tells a person in the same transaction: the pull
    /// request never counts as merged by itself.
    ///
    /// # Errors
    /// As [`Store::create_pr`].
    pub fn open_landed_review(
        &mut self,
        context: &Context,
        plan: &PlanId,
        new: &NewPullRequest,
        notice: impl FnOnce(PrId) -> BaseNotice,
    ) -> Result<PullRequest, StoreError> {
        self.write(context, |tx| {
            let pr = open_plan_pr(tx, context, plan, new)?;
            let notice = notice(pr.id);
            if !insert_notice(tx, context, &notice)? {
                // told of an earlier pull request with the same head
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

    /// Returns what a person is told of the work of a plan, oldest first.
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

//! Changes of a plan that a person or its loop decides on.

use symphony_core::id::PlanId;
use symphony_core::plan::state::{PlanEvent, PlanStatus, PlanTransitionError};
use symphony_core::plan::{Dag, Plan, PlanOptions};
use symphony_core::pull_request::{PrState, PullRequestOf};

use crate::database::context::Context;
use crate::database::open::Store;
use crate::db::Transaction;
use crate::error::StoreError;
use crate::plan::change::{apply_in, end_in, refused, settle_in, write_changes};
use crate::plan::record::{PlanRecord, dag_of, load_plan};
use crate::plan::review_end::{end_merged_plan, end_review_runs};
use crate::review::end::end_review;
use crate::review::pull_request_query::load_open_pr_of;

impl Store {
    /// Makes a decision on the current state of a plan, then applies its events and what follows from them, all in one
    /// transaction. Returns the changed plan and the other result of the decision.
    ///
    /// # Errors
    /// When the plan does not exist, the decision refuses, or an event does not fit. Then nothing is changed.
    pub fn change_plan<T>(
        &mut self,
        context: &Context,
        id: &PlanId,
        mut decide: impl FnMut(&PlanRecord, &Dag) -> Result<(Vec<PlanEvent>, T), PlanTransitionError>,
    ) -> Result<(PlanRecord, T), StoreError> {
        self.write(context, |tx| {
            // Read inside the transaction, so that the decision cannot be made on a state that a run's end or a person
            // has changed.
            let before = load_plan(tx, id)?;
            let dag = before.dag()?;
            let (events, value) = decide(&before, &dag).map_err(|source| refused(id, source))?;
            let mut record = before.clone();
            apply_in(tx, context, id, &mut record.state, &events)?;
            settle_in(tx, context, &mut record, &dag)?;
            end_in(tx, context, &mut record)?;
            write_changes(tx, context, &before, &record)?;
            close_left_review(tx, context, &before, &record)?;
            record.revision += u64::from(record != before);
            Ok((record, value))
        })
    }

    /// Replaces the plan file that a plan started with. Complete and running phases keep their state, the others start
    /// again.
    ///
    /// # Errors
    /// When the plan does not exist.
    pub fn accept_plan_changes(
        &mut self,
        context: &Context,
        id: &PlanId,
        document: &Plan,
    ) -> Result<PlanRecord, StoreError> {
        self.write(context, |tx| {
            let before = load_plan(tx, id)?;
            let dag = dag_of(document)?;
            let mut record = PlanRecord {
                document: document.clone(),
                ..before.clone()
            };
            let event = PlanEvent::ChangesAccepted {
                phases: dag.ids().to_vec(),
            };
            apply_in(tx, context, id, &mut record.state, &[event])?;
            settle_in(tx, context, &mut record, &dag)?;
            write_changes(tx, context, &before, &record)?;
            close_left_review(tx, context, &before, &record)?;
            load_plan(tx, id)
        })
    }

    /// Changes the options of a plan from now on.
    ///
    /// # Errors
    /// When the plan does not exist.
    pub fn set_plan_options(
        &mut self,
        context: &Context,
        id: &PlanId,
        options: &PlanOptions,
    ) -> Result<PlanRecord, StoreError> {
        self.write(context, |tx| {
            let before = load_plan(tx, id)?;
            let record = PlanRecord {
                options: options.clone(),
                ..before.clone()
            };
            write_changes(tx, context, &before, &record)?;
            load_plan(tx, id)
        })
    }

    /// Records that the user's branch has the work of a plan, and completes the plan if it had not ended.
    ///
    /// # Errors
    /// When the plan does not exist.
    pub fn record_plan_merged(
        &mut self,
        context: &Context,
        id: &PlanId,
        commit: &str,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| end_merged_plan(tx, context, id, commit))
    }
}

/// Closes the pull request of a plan that a person continued or gave up, and ends the runs on it, since they look at
/// work that is no longer the plan's.
pub(crate) fn close_left_review(
    tx: &Transaction<'_>,
    context: &Context,
    before: &PlanRecord,
    after: &PlanRecord,
) -> Result<(), StoreError> {
    let has_left =
        before.state.status == PlanStatus::Review && after.state.status != PlanStatus::Review;
    if !has_left {
        return Ok(());
    }
    let of = PullRequestOf::from(before.id.clone());
    if let Some(pr) = load_open_pr_of(tx, &of)? {
        // The plan has already moved, so only the pull request is changed.
        end_review(tx, context, &pr, PrState::Closed)?;
    }
    end_review_runs(tx, context, &before.id)
}

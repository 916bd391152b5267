//! Changes of a plan that somebody decides on.

use rusqlite::Transaction;
use symphony_core::id::PlanId;
use symphony_core::plan::state::{PlanEvent, PlanStatus, PlanTransitionError};
use symphony_core::plan::{Dag, Plan, PlanOptions};
use symphony_core::pull_request::{PrState, PullRequestOf};

use crate::database::context::Context;
use crate::database::open::Store;
use crate::error::StoreError;
use crate::plan::change::{apply_in, end_in, refused, settle_in, write_changes};
use crate::plan::record::{PlanRecord, dag_of, load_plan};
use crate::plan::review_end::{end_merged_plan, end_review_runs};
use crate::review::end::end_review;
use crate::review::pull_request_query::load_open_pr_of;

impl Store {
    /// Decides on a plan as it stands now, applies the events and what follows from them, all in one transaction.
    /// Returns the plan as it stands then, and what else the decision gave.
    ///
    /// # Errors
    /// When there is no such plan, the decision refuses, or an event does not fit; nothing is changed then.
    pub fn change_plan<T>(
        &mut self,
        context: &Context,
        id: &PlanId,
        decide: impl FnOnce(&PlanRecord, &Dag) -> Result<(Vec<PlanEvent>, T), PlanTransitionError>,
    ) -> Result<(PlanRecord, T), StoreError> {
        self.write(context, |tx| {
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

    /// Puts a changed plan file in the place of the one that a plan began with: complete and running phases stay, the
    /// others begin anew.
    ///
    /// # Errors
    /// When there is no such plan.
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

    /// Changes how a plan is carried out from now on.
    ///
    /// # Errors
    /// When there is no such plan.
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

    /// Records that the user's branch has the work of a plan, which completes one that had not ended.
    ///
    /// # Errors
    /// When there is no such plan.
    pub fn record_plan_merged(
        &mut self,
        context: &Context,
        id: &PlanId,
        commit: &str,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| end_merged_plan(tx, context, id, commit))
    }
}

/// Closes the pull request of a plan that a person let go on or gave up, and ends the runs on it: what they look at is not
/// the plan's work any more.
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
        // the plan has moved already: only the record follows
        end_review(tx, context, &pr, PrState::Closed)?;
    }
    end_review_runs(tx, context, &before.id)
}

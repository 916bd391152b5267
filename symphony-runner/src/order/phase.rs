//! A person's verdict on the delivery of a phase: it counts like a judge's.

use symphony_core::contract::Delivery;
use symphony_core::id::IssueId;
use symphony_store::{Context, NewVerdict, Store};
use symphony_workspace::BranchName;

use super::OrderRefusal;
use crate::cancel::end_run_of;
use crate::error::RunnerError;
use crate::repository::open_repository;
use crate::session::Session;

/// Gives a verdict on the delivery of an issue, on what its branch holds now, after a judge at work on it was ended.
///
/// # Errors
/// When no delivery awaits a verdict, or open points keep an approval back.
pub fn give_phase_verdict(
    session: &mut Session,
    context: &Context,
    issue: &IssueId,
    verdict: NewVerdict,
) -> Result<Delivery, RunnerError> {
    let store = &mut session.store;
    let delivery = awaiting(store, issue)?;
    // a judge at work must not speak after a person
    end_run_of(&session.installation, store, context, issue)?;
    let delivery = awaiting(store, &delivery.issue)?;
    let project = store.project(&delivery.project)?;
    let config = session.installation.project_config(&project)?;
    let head = open_repository(&project, &config)?.branch_head(&BranchName::of_issue(issue))?;
    let commit = match head {
        Some(head) => head.as_str().to_owned(),
        None => delivery.head_commit.clone().unwrap_or_default(),
    };
    if delivery.head_commit.as_ref() != Some(&commit) {
        store.move_delivery_head(context, delivery.id, &commit)?;
    }
    let verdict = NewVerdict { commit, ..verdict };
    Ok(store.record_phase_review(context, delivery.id, &verdict)?)
}

/// Returns the delivery of an issue that awaits a verdict.
fn awaiting(store: &Store, issue: &IssueId) -> Result<Delivery, RunnerError> {
    store.issue(issue)?;
    let open = store.open_delivery(issue)?;
    let awaiting = open.filter(Delivery::awaits_judge);
    let none = || OrderRefusal::NoDelivery {
        issue: issue.clone(),
    };
    Ok(awaiting.ok_or_else(none)?)
}

//! Lists, as the commands that end in `list` print them.

use symphony_runner::session::Session;
use symphony_store::{IssueFilter, LearningFilter, PrFilter, RunFilter, StoreError};

use crate::text::List;
use crate::{
    IssuePageView, IssueStreamView, IssueView, MeasuredLearning, PlanListed, PrView, RunView,
};

/// Reads a page of issues.
///
/// # Errors
/// When the database cannot be read.
pub fn issues(session: &Session, filter: &IssueFilter) -> Result<IssuePageView, StoreError> {
    let page = session.store.list_issues(filter)?;
    Ok(IssuePageView {
        list: page.items.into_iter().map(IssueView::from).collect(),
        next: page.next,
    })
}

/// Returns all issues of a filter for a document that is written while they are read.
pub fn issue_stream<'s>(session: &'s Session, filter: &IssueFilter) -> IssueStreamView<'s> {
    IssueStreamView::new(session.store.issues(filter))
}

/// Reads pull requests, the newest first, beside the gates that the project of the session has now.
///
/// # Errors
/// When the database cannot be read.
pub fn pull_requests(session: &Session, filter: &PrFilter) -> Result<List<PrView>, StoreError> {
    let configured = session.configured_gates();
    let prs = session.store.prs(filter)?.into_iter();
    Ok(prs.map(|pr| PrView::of(pr, &configured)).collect())
}

/// Reads runs, the newest first.
///
/// # Errors
/// When the database cannot be read.
pub fn runs(session: &Session, filter: &RunFilter) -> Result<List<RunView>, StoreError> {
    let runs = session.store.runs(filter)?.into_iter();
    Ok(runs.map(RunView::from).collect())
}

/// Reads learnings, each with how useful it was.
///
/// # Errors
/// When the database cannot be read.
pub fn learnings(
    session: &Session,
    filter: &LearningFilter,
) -> Result<List<MeasuredLearning>, StoreError> {
    let learnings = session.store.learnings(filter)?;
    let measured = MeasuredLearning::of(learnings, &session.store)?;
    Ok(measured.into_iter().collect())
}

/// Reads the plans of the project of the session.
///
/// # Errors
/// When the database cannot be read.
pub fn plans(session: &Session) -> Result<List<PlanListed>, StoreError> {
    let plans = session.store.plans(Some(&session.project.id))?;
    Ok(plans.into_iter().map(PlanListed).collect())
}

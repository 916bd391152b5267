//! The board of a project.

use symphony_core::issue::{Issue, IssueStatus};
use symphony_runner::RunnerError;
use symphony_runner::session::Session;
use symphony_store::{IssueFilter, IssueOrder};

use crate::{BoardView, CardView, ColumnView, StatusView};

/// Cards of a column that are read at once.
const CARDS_MAX: u32 = 50;

/// Which issues a board shows.
#[derive(Debug, Clone, Default)]
pub struct BoardFilter {
    /// Only those with this label.
    pub label: Option<String>,
    /// Only those with this text in the title or description.
    pub text: Option<String>,
}

/// Reads the board of the project whose status was just read.
///
/// # Errors
/// When the database cannot be read.
pub fn board(
    session: &Session,
    status: &StatusView,
    filter: &BoardFilter,
) -> Result<BoardView, RunnerError> {
    let columns = IssueStatus::ALL.iter().map(|column| {
        let wanted = IssueFilter {
            project: Some(session.project.id.clone()),
            status: Some(*column),
            label: filter.label.clone(),
            text: filter.text.clone(),
            limit: Some(CARDS_MAX),
            // what has ended last is of most interest; work starts with what was there first
            order: if column.is_terminal() {
                IssueOrder::Newest
            } else {
                IssueOrder::Oldest
            },
            ..IssueFilter::default()
        };
        let page = session.store.list_issues(&wanted)?;
        let total = status.issues.get(column.name()).copied();
        Ok(ColumnView {
            status: *column,
            total: total.unwrap_or_default(),
            cards: page
                .items
                .into_iter()
                .map(|issue| card(issue, status))
                .collect(),
            next: page.next,
        })
    });
    Ok(BoardView {
        project: session.project.id.clone(),
        columns: columns.collect::<Result<_, RunnerError>>()?,
    })
}

fn card(issue: Issue, status: &StatusView) -> CardView {
    let of_issue = |running: &&crate::RunningView| running.run.issue.as_ref() == Some(&issue.id);
    let run = status.running.iter().find(of_issue).cloned();
    let pull_request = status
        .pull_requests
        .iter()
        .find(|pr| pr.issue.as_ref() == Some(&issue.id))
        .cloned();
    let asks = status
        .waiting
        .iter()
        .find(|waiting| waiting.item.issue.as_ref() == Some(&issue.id));
    let queued = status
        .queue
        .iter()
        .find(|queued| queued.identifier == issue.id);
    let waits = match (asks, queued) {
        (Some(asks), _) => Some(asks.item.text.clone()),
        (None, Some(queued)) if queued.next => Some("next".to_owned()),
        (None, Some(queued)) => queued.reasons.first().map(|reason| reason.reason.brief()),
        (None, None) => None,
    };
    CardView {
        waits_for_person: asks.is_some(),
        waits,
        run,
        pull_request,
        phase: issue.phase(),
        identifier: issue.id,
        title: issue.title,
        priority: issue.priority,
        labels: issue.labels,
        updated_at: issue.updated_at,
    }
}

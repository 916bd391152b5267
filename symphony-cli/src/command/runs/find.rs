//! Finding the run that is meant.

use symphony_core::id::{IssueId, RunId};
use symphony_core::run::Run;
use symphony_store::{RunFilter, Store, StoreError};

use crate::failure::{Exit, Stop};
use crate::value::RunReference;

/// Returns a run: by its id or a piece of it, or the newest one of an issue.
///
/// # Errors
/// When there is none, or several fit.
pub(crate) fn find_run(store: &Store, reference: &RunReference) -> anyhow::Result<Run> {
    find(store, reference, Which::Any)
}

/// Returns a run of an agent: as [`find_run`], but of an issue its newest run that is not of gates.
///
/// # Errors
/// When there is none, or several fit.
pub(crate) fn find_agent_run(store: &Store, reference: &RunReference) -> anyhow::Result<Run> {
    find(store, reference, Which::OfAgents)
}

/// Which runs of an issue can be meant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    /// Every run.
    Any,
    /// Runs of agents, not of gates.
    OfAgents,
}

/// Finds a run by a piece of its id. What was meant as an issue is named: a piece of an id may look like one in small letters.
fn by_piece(store: &Store, text: &str) -> anyhow::Result<Run> {
    let error = match store.find_run(text) {
        Ok(run) => return Ok(run),
        Err(error) => error,
    };
    let issue = IssueId::parse(text.to_ascii_uppercase()).ok();
    match issue.filter(|issue| store.issue(issue).is_ok()) {
        Some(issue) if matches!(error, StoreError::NotFound { .. }) => {
            let message = error.to_string();
            Err(Stop::new(Exit::NotFound, message)
                .hint(format!("write the issue as `{issue}`"))
                .into())
        }
        _ => Err(error.into()),
    }
}

fn find(store: &Store, reference: &RunReference, which: Which) -> anyhow::Result<Run> {
    let issue = match reference {
        RunReference::Id(text) => {
            // a whole id is looked up as one: no other can fit
            let whole = RunId::parse(text.as_str())
                .ok()
                .and_then(|id| store.run(&id).ok());
            return whole.map_or_else(|| by_piece(store, text), Ok);
        }
        RunReference::Issue(issue) => issue,
    };
    store.issue(issue)?;
    let filter = RunFilter {
        issue: Some(issue.clone()),
        agents_only: which == Which::OfAgents,
        limit: Some(1),
        ..RunFilter::default()
    };
    store.runs(&filter)?.into_iter().next().ok_or_else(|| {
        Stop::new(Exit::NotFound, format!("{issue} has no run yet"))
            .hint(format!(
                "`symphony explain {issue}` shows what it is waiting for"
            ))
            .into()
    })
}

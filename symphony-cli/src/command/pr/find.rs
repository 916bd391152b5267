//! Finding the pull request that is meant.

use symphony_core::pull_request::PullRequest;
use symphony_store::{PrFilter, Store};

use crate::failure::{Exit, Stop};
use crate::value::PrReference;

/// Returns a pull request: by its number, or the open one of an issue, else its newest.
///
/// # Errors
/// When there is none.
pub(super) fn find_pr(store: &Store, reference: &PrReference) -> anyhow::Result<PullRequest> {
    let issue = match reference {
        PrReference::Number(id) => return Ok(store.pr(*id)?),
        PrReference::Issue(issue) => issue,
    };
    // an unknown issue is said to be that
    store.issue(issue)?;
    if let Some(pr) = store.open_pr(issue)? {
        return Ok(pr);
    }
    let filter = PrFilter {
        issue: Some(issue.clone()),
        ..PrFilter::default()
    };
    store.prs(&filter)?.into_iter().next().ok_or_else(|| {
        Stop::new(Exit::NotFound, format!("{issue} has no pull request yet"))
            .hint(format!("`symphony explain {issue}` says what it waits for"))
            .into()
    })
}

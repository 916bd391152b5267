//! Finding what is meant where an issue or a plan can be named.

use symphony_core::pull_request::PullRequestOf;
use symphony_runner::session::Session;

use super::plan::find_plan;
use crate::app::App;
use crate::failure::{Exit, Stop};
use crate::value::{SourceName, issue_id};

/// Returns the issue or the plan of a name. An issue comes first: a plan has a file, too.
///
/// # Errors
/// When there is neither.
pub(super) fn find_source(
    app: &App,
    session: &Session,
    SourceName(name): &SourceName,
) -> anyhow::Result<PullRequestOf> {
    let issue = issue_id(name).ok();
    let found = issue.as_ref().map(|issue| session.store.issue(issue));
    if let Some(Ok(issue)) = &found {
        return Ok(issue.id.clone().into());
    }
    if let Some(plan) = find_plan(app, session, name)? {
        return Ok(plan.into());
    }
    // an unknown issue is reported as such
    let stop = match found.transpose() {
        Err(error) => return Err(error.into()),
        Ok(_) => Stop::new(
            Exit::NotFound,
            format!("no issue has the identifier `{name}`, and no plan has this id or file"),
        ),
    };
    Err(stop
        .hint("`symphony issue list` and `symphony plan list` show what exists")
        .into())
}

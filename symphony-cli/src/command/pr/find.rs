//! Finding the pull request that is meant.

use symphony_core::pull_request::{PullRequest, PullRequestOf};
use symphony_runner::session::Session;
use symphony_store::{PrFilter, PrStep};

use crate::app::App;
use crate::command::source::find_source;
use crate::failure::{Exit, Stop};
use crate::value::PrReference;

/// Returns a pull request: by its number, or the open one of an issue or a plan, else its newest.
///
/// # Errors
/// When there is none.
pub(super) fn find_pr(
    app: &App,
    session: &Session,
    reference: &PrReference,
) -> anyhow::Result<PullRequest> {
    find_pr_for(app, session, reference, None)
}

/// Returns a pull request as [`find_pr`] does; the error when there is none names what the step needs.
///
/// # Errors
/// When there is none.
pub(crate) fn find_pr_for(
    app: &App,
    session: &Session,
    reference: &PrReference,
    step: Option<PrStep>,
) -> anyhow::Result<PullRequest> {
    let store = &session.store;
    let of = match reference {
        PrReference::Number(id) => return Ok(store.pr(*id)?),
        PrReference::Of(name) => find_source(app, session, name)?,
    };
    if let Some(pr) = store.open_pr_of(&of)? {
        return Ok(pr);
    }
    let filter = PrFilter {
        issue: of.issue().cloned(),
        plan: of.plan().cloned(),
        ..PrFilter::default()
    };
    store.prs(&filter)?.into_iter().next().ok_or_else(|| {
        let hint = match &of {
            PullRequestOf::Issue(issue) => {
                format!("`symphony explain {issue}` shows what it is waiting for")
            }
            PullRequestOf::Plan(plan) => {
                format!("it is opened when every phase is complete; `symphony plan status --plan {plan}` shows how \
                         far they are")
            }
        };
        let message = match step {
            Some(PrStep::Confirm) => {
                format!("no agent has proposed that nothing is left to do on {of}")
            }
            _ => format!("{of} has no pull request yet"),
        };
        Stop::new(Exit::NotFound, message)
            .hint(hint)
            .into()
    })
}

//! `symphony point close` and `reopen`.

use clap::Args;
use symphony_core::issue::IssueStatus;
use symphony_core::pull_request::PullRequestOf;
use symphony_core::review_point::{PointNumber, PointState, list_numbers};
use symphony_core::wording::capitalised;
use symphony_runner::order::{MovedPoints, move_points};
use symphony_runner::session::Session;
use symphony_view::PointView;
use symphony_view::text::List;

use crate::app::App;
use crate::command::source::find_source;
use crate::failure::Context as _;
use crate::value::SourceName;

/// What `point close` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  symphony point close SYM-1 1 3\n  symphony point close SYM-1 --all"
)]
pub(crate) struct CloseArgs {
    /// The issue or the plan
    #[arg(value_name = "ISSUE|PLAN")]
    of: SourceName,
    /// The points, by their numbers
    #[arg(value_name = "NUMBER", required_unless_present = "all")]
    numbers: Vec<PointNumber>,
    /// Every open point
    #[arg(long, conflicts_with = "numbers")]
    all: bool,
    /// A comment; `-` reads it from standard input
    #[arg(short = 'm', long, value_name = "TEXT")]
    comment: Option<String>,
}

/// What `point reopen` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  symphony point reopen SYM-1 3 --comment 'The test does not fail without the change'"
)]
pub(crate) struct ReopenArgs {
    /// The issue or the plan
    #[arg(value_name = "ISSUE|PLAN")]
    of: SourceName,
    /// The points, by their numbers
    #[arg(value_name = "NUMBER", required = true)]
    numbers: Vec<PointNumber>,
    /// What is missing; `-` reads it from standard input
    #[arg(short = 'm', long, value_name = "TEXT")]
    comment: Option<String>,
}

impl CloseArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let numbers = (!self.all).then_some(self.numbers.as_slice());
        let (to, comment) = (PointState::Closed, self.comment.as_deref());
        settle(app, &self.of, numbers, to, comment).context("close review points")
    }
}

impl ReopenArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let (to, comment) = (PointState::Open, self.comment.as_deref());
        settle(app, &self.of, Some(&self.numbers), to, comment).context("reopen review points")
    }
}

/// Says how to have an agent work on open points while the work is in review: no agent reads them until then.
pub(super) fn how_it_goes_back(
    session: &Session,
    of: &PullRequestOf,
    asks_for_work: bool,
) -> anyhow::Result<String> {
    let Some(issue) = of.issue().filter(|_| asks_for_work) else {
        return Ok(String::new());
    };
    let is_in_review = session.store.issue(issue)?.state.status() == IssueStatus::Review;
    let open_pr = session.store.open_pr(issue)?;
    let command = match open_pr {
        Some(proposal) if proposal.proposal.is_some() => "done reject",
        Some(_) => "pr reject",
        None => "phase reject",
    };
    Ok(if is_in_review {
        format!(
            " No agent works on {issue} while it is in review: `symphony {command} {issue} --feedback TEXT` sends it back to one."
        )
    } else {
        String::new()
    })
}

/// Moves points to one state; all open ones, when none are named.
fn settle(
    app: &App,
    of: &SourceName,
    numbers: Option<&[PointNumber]>,
    to: PointState,
    comment: Option<&str>,
) -> anyhow::Result<()> {
    let mut session = app.session()?;
    let of = find_source(app, &session, of)?;
    let comment = comment.map(|typed| app.text(typed)).transpose()?;
    let MovedPoints {
        points,
        numbers,
        changes_nothing,
    } = move_points(
        &mut session.store,
        &App::as_human(),
        &of,
        numbers,
        to,
        comment.as_deref(),
    )?;
    let word = match to {
        PointState::Closed => "Closed",
        PointState::Open => "Reopened",
    };
    let named = list_numbers(&numbers);
    let sentence = if changes_nothing {
        let verb = if numbers.len() == 1 { "is" } else { "are" };
        format!("{} of {of} {verb} already closed.", capitalised(&named))
    } else {
        format!("{word} {named} of {of}.")
    };
    let asks = to == PointState::Open;
    let sentence = sentence + &how_it_goes_back(&session, &of, asks)?;
    let views = points.into_iter().map(PointView::from);
    app.out.done(&views.collect::<List<_>>(), &sentence)
}

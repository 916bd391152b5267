//! `symphony point close` and `reopen`.

use clap::Args;
use symphony_core::issue::IssueStatus;
use symphony_core::pull_request::PullRequestOf;
use symphony_core::review_point::{
    PointChanges, PointNumber, PointState, ReviewPoint, list_numbers,
};
use symphony_core::wording::capitalised;
use symphony_runner::session::Session;
use symphony_view::PointView;
use symphony_view::text::List;

use super::args::moves;
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

/// Says how an agent comes to work on open points, where the work is in review: no one looks at them by itself then.
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
    let before = session.store.review_points(&of)?.into_iter();
    let open: Vec<PointNumber> = before
        .filter(ReviewPoint::is_open)
        .map(|point| point.number)
        .collect();
    let numbers = numbers.map_or_else(|| open.clone(), <[PointNumber]>::to_vec);
    let comment = comment.map(|typed| app.text(typed)).transpose()?;
    let changes = PointChanges {
        new: Vec::new(),
        moved: moves(&numbers, to, comment.as_deref()),
    };
    let points = session
        .store
        .change_points(&App::as_human(), &of, &changes)?;
    let word = match to {
        PointState::Closed => "Closed",
        PointState::Open => "Reopened",
    };
    let changes_nothing = to == PointState::Closed
        && !numbers.is_empty()
        && !numbers.iter().any(|number| open.contains(number));
    let named = list_numbers(&numbers);
    let sentence = if changes_nothing {
        let verb = if numbers.len() == 1 { "is" } else { "are" };
        format!("{} of {of} {verb} already closed.", capitalised(&named))
    } else {
        format!("{word} {named} of {of}.")
    };
    let asks = to == PointState::Open;
    let sentence = sentence + &how_it_goes_back(&session, &of, asks)?;
    let moved = points
        .into_iter()
        .filter(|point| numbers.contains(&point.number));
    app.out
        .done(&moved.map(PointView::from).collect::<List<_>>(), &sentence)
}

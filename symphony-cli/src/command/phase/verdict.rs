//! `symphony phase approve` and `reject`: a person's verdict counts like a judge's.

use clap::Args;
use symphony_core::contract::Delivery;
use symphony_core::id::IssueId;
use symphony_core::pull_request::VerdictKind;
use symphony_core::review_point::{PointError, Severity};
use symphony_runner::RunnerError;
use symphony_runner::order::{OrderRefusal, give_phase_verdict};
use symphony_store::{NewVerdict, StoreError};
use symphony_view::DeliveryView;

use crate::app::App;
use crate::command::point::{PointArgs, rejection};
use crate::failure::{Context as _, Exit, Stop};
use crate::value::issue_id;

/// What `phase approve` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  symphony phase approve SYM-1 --comment 'The second way, please'"
)]
pub(crate) struct ApprovePhaseArgs {
    /// The issue
    #[arg(value_parser = issue_id)]
    issue: IssueId,
    /// A comment; `-` reads it from standard input
    #[arg(
        short = 'm',
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    comment: String,
    #[command(flatten)]
    points: PointArgs,
}

/// What `phase reject` takes.
#[derive(Debug, Args)]
#[command(
    group = rejection(),
    after_help = "Example:\n  symphony phase reject SYM-1 --feedback 'The design does not say what happens to old data'"
)]
pub(crate) struct RejectPhaseArgs {
    /// The issue
    #[arg(value_parser = issue_id)]
    issue: IssueId,
    /// What has to change: a point that the phase's next agent must answer, or a summary of those given with --point.
    /// `-` reads it from standard input
    #[arg(short = 'm', long, value_name = "TEXT")]
    feedback: Option<String>,
    #[command(flatten)]
    points: PointArgs,
}

impl ApprovePhaseArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let comment = app.text(&self.comment)?;
        let verdict = NewVerdict {
            force: false,
            points: self.points.changes(Severity::Note),
            ..NewVerdict::plain(VerdictKind::Approved, "", &comment)
        };
        let delivery = give(app, &self.issue, verdict).context("approve the phase")?;
        let then = match &delivery.next_phase {
            Some(next) => format!("it continues with `{next}`"),
            None => format!(
                "it was the last one; `symphony issue move {} done` completes the issue",
                delivery.issue
            ),
        };
        let sentence = format!(
            "Approved the phase `{}` of {}: {then}.",
            delivery.phase, delivery.issue
        );
        app.out.done(&DeliveryView::from(delivery), &sentence)
    }
}

impl RejectPhaseArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let feedback = app.text(self.feedback.as_deref().unwrap_or_default())?;
        let verdict = NewVerdict {
            force: false,
            points: self.points.changes(Severity::Must),
            ..NewVerdict::plain(VerdictKind::Rejected, "", &feedback)
        };
        let delivery = give(app, &self.issue, verdict).context("reject the phase")?;
        let sentence = format!(
            "Rejected the phase `{}`: {} goes back to its agent.",
            delivery.phase, delivery.issue
        );
        app.out.done(&DeliveryView::from(delivery), &sentence)
    }
}

/// Gives a person's verdict on the delivery of an issue, on what its branch holds now.
fn give(app: &App, issue: &IssueId, verdict: NewVerdict) -> anyhow::Result<Delivery> {
    let mut session = app.session()?;
    let given = give_phase_verdict(&mut session, &App::as_human(), issue, verdict);
    given.map_err(|error| match error {
        RunnerError::Order(refusal @ OrderRefusal::NoDelivery { .. }) => {
            Stop::new(Exit::Refused, refusal.to_string()).into()
        }
        RunnerError::Store(error) => of_open_points(error, issue),
        other => other.into(),
    })
}

/// Says how to continue when open points block an approval.
fn of_open_points(error: StoreError, issue: &IssueId) -> anyhow::Error {
    let StoreError::Point(PointError::Open { points }) = &error else {
        return error.into();
    };
    let what = format!("{points} of {issue} must be closed first");
    let hint = format!(
        "`symphony point list {issue}` shows the points and their answers; --close NUMBER closes a point along with \
         the approval"
    );
    Stop::new(Exit::Refused, what).hint(hint).into()
}

//! `symphony pr approve`, `reject` and `close`: a person's verdict counts like a judge's.

use clap::Args;
use symphony_core::gates::GatesAge;
use symphony_core::id::PlanId;
use symphony_core::pull_request::{PullRequest, PullRequestOf, VerdictKind, VerifiedGates};
use symphony_core::review_point::{PointError, Severity};
use symphony_mcp::Reviewed;
use symphony_runner::RunnerError;
use symphony_runner::order::{OrderRefusal, PersonVerdict, RedGates, close_pr, give_verdict};
use symphony_store::{PrStep, StoreError};
use symphony_view::{PrView, read};

use super::find::{find_pr, find_pr_for};
use crate::app::App;
use crate::command::point::{PointArgs, rejection};
use crate::failure::{Context as _, Exit, Stop};
use crate::value::PrReference;

/// What `pr approve` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony pr approve SYM-1 --comment 'Read and tried'")]
pub(crate) struct ApproveArgs {
    /// The pull request's number, its issue, or its plan
    #[arg(value_name = "ID|ISSUE|PLAN")]
    pr: PrReference,
    /// A comment; `-` reads it from standard input
    #[arg(
        short = 'm',
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    comment: String,
    /// The commit that you reviewed; refused if it is no longer the head
    #[arg(long, value_name = "COMMIT")]
    commit: Option<String>,
    /// Approve even if a required gate is red, review points are open, or the pull request of a plan was rejected;
    /// give the reason with --comment
    #[arg(long, requires = "comment")]
    force: bool,
    #[command(flatten)]
    points: PointArgs,
}

/// What `pr reject` takes.
#[derive(Debug, Args)]
#[command(
    group = rejection(),
    after_help = "Examples:\n  symphony pr reject SYM-1 --feedback 'The test does not cover an empty name'\n  \
    symphony pr reject SYM-1 --point 'src/main.rs:12: an empty name crashes it'"
)]
pub(crate) struct RejectArgs {
    /// The pull request's number, its issue, or its plan
    #[arg(value_name = "ID|ISSUE|PLAN")]
    pr: PrReference,
    /// What has to change: a point that the next agent must answer, or a summary of those given with --point. `-`
    /// reads it from standard input
    #[arg(short = 'm', long, value_name = "TEXT")]
    feedback: Option<String>,
    /// The commit that you reviewed; refused if it is no longer the head
    #[arg(long, value_name = "COMMIT")]
    commit: Option<String>,
    #[command(flatten)]
    points: PointArgs,
}

/// What `pr close` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony pr close SYM-1")]
pub(crate) struct CloseArgs {
    /// The pull request's number, its issue, or its plan
    #[arg(value_name = "ID|ISSUE|PLAN")]
    pr: PrReference,
}

impl ApproveArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let verdict = PersonVerdict {
            kind: VerdictKind::Approved,
            comment: app.text(&self.comment)?,
            commit: self.commit.as_deref(),
            points: self.points.changes(Severity::Note),
            red_gates: if self.force {
                RedGates::Allowed
            } else {
                RedGates::Refused
            },
            subject: Reviewed::Change,
        };
        let pr = give(app, &self.pr, &verdict).context("approve the pull request")?;
        let (id, reference) = (pr.id, pr.reference());
        let is_green = pr.gates_of_head().is_some_and(VerifiedGates::green);
        let session = app.session()?;
        let refused = session.store.require_review(&pr).err();
        let view = read::pull_request(&session, pr).context("approve the pull request")?;
        let gates = if view.gates_age == Some(GatesAge::Outdated) {
            format!(" Its gates are {}.", view.gate_summary())
        } else {
            String::new()
        };
        let next = match refused {
            None if self.force && !is_green => {
                format!(
                    "`symphony pr merge {reference} --force` merges it, whatever its gates report"
                )
            }
            None => format!("`symphony pr merge {reference}` merges it"),
            Some(StoreError::Review(why)) => format!("it cannot be merged yet, as {why}"),
            Some(other) => return Err(other.into()),
        };
        let sentence = format!("Approved pull request {id}: {next}.{gates}");
        app.out.done(&view, &sentence)
    }
}

impl RejectArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let verdict = PersonVerdict {
            kind: VerdictKind::Rejected,
            comment: app.text(self.feedback.as_deref().unwrap_or_default())?,
            commit: self.commit.as_deref(),
            points: self.points.changes(Severity::Must),
            red_gates: RedGates::Allowed,
            subject: Reviewed::Change,
        };
        let pr = give(app, &self.pr, &verdict).context("reject the pull request")?;
        let next = match &pr.of {
            PullRequestOf::Issue(issue) => {
                let state = app.session()?.store.issue(issue)?.state;
                match state.block() {
                    Some(block) => format!("{issue} is still `blocked`: {}", block.reason),
                    None => format!("{issue} goes back to an agent"),
                }
            }
            PullRequestOf::Plan(plan) => waits_for_person(plan),
        };
        let sentence = format!("Rejected pull request {}: {next}.", pr.id);
        app.out.done(&PrView::from(pr), &sentence)
    }
}

impl CloseArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let pr = self.carry_out(app).context("close the pull request")?;
        let sentence = match &pr.of {
            PullRequestOf::Issue(_) => format!("Closed pull request {}.", pr.id),
            PullRequestOf::Plan(plan) => {
                format!("Closed pull request {}: {}.", pr.id, waits_for_person(plan))
            }
        };
        app.out.done(&PrView::from(pr), &sentence)
    }

    fn carry_out(&self, app: &App) -> anyhow::Result<PullRequest> {
        let mut session = app.session()?;
        let found = find_pr_for(app, &session, &self.pr, Some(PrStep::Close))?;
        Ok(close_pr(&mut session, &App::as_human(), &found)?)
    }
}

/// Says how a plan can go on after its pull request was not accepted.
fn waits_for_person(plan: &PlanId) -> String {
    format!(
        "plan {plan} waits for you. `symphony plan retry PHASE --plan {plan}` lets a phase fix it, `symphony plan \
         status --plan {plan}` shows your other options"
    )
}

/// Gives a verdict on the pull request that was named, and says how to continue if it is refused.
pub(crate) fn give(
    app: &App,
    reference: &PrReference,
    verdict: &PersonVerdict<'_>,
) -> anyhow::Result<PullRequest> {
    let mut session = app.session()?;
    let found = match verdict.kind {
        VerdictKind::Approved => find_pr(app, &session, reference)?,
        VerdictKind::Rejected => find_pr_for(app, &session, reference, Some(verdict.step()))?,
    };
    let given = give_verdict(&mut session, &App::as_human(), &found, verdict);
    given.map_err(|error| match error {
        RunnerError::Order(OrderRefusal::OtherSubject { .. }) => other_subject(&found),
        RunnerError::Order(refusal @ OrderRefusal::RedGates { .. }) => {
            let hint = format!(
                "`symphony pr check {}` runs them again; --force with --comment approves anyway",
                found.reference()
            );
            Stop::new(Exit::Refused, refusal.to_string())
                .hint(hint)
                .into()
        }
        RunnerError::Store(error) => of_open_points(error, &found),
        other => other.into(),
    })
}

/// Says how to continue when open points block an approval.
fn of_open_points(error: StoreError, pr: &PullRequest) -> anyhow::Error {
    let StoreError::Point(PointError::Open { points }) = &error else {
        return error.into();
    };
    let what = format!("{points} of pull request {} must be closed first", pr.id);
    let hint = format!(
        "`symphony pr show {}` shows the points and their answers; --close NUMBER closes a point along with the \
         approval, --force with --comment closes all",
        pr.reference()
    );
    Stop::new(Exit::Refused, what).hint(hint).into()
}

/// Says which commands decide on what was named: changes and proposals have their own.
pub(crate) fn other_subject(pr: &PullRequest) -> anyhow::Error {
    let (what, commands) = match Reviewed::of(pr) {
        Reviewed::Change => ("a change, not a proposal that nothing is left to do", "pr"),
        Reviewed::Proposal => (
            "a proposal that nothing is left to do, not a change",
            "done",
        ),
    };
    let name = pr.reference();
    Stop::new(Exit::Refused, format!("{} {} is {what}", pr.noun(), pr.id))
        .hint(format!(
            "decide with `symphony {commands} approve {name}` or `symphony {commands} reject {name}`"
        ))
        .into()
}

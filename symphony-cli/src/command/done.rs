//! `symphony done`: a person decides on the proposal that nothing is left to do on an issue.

use clap::{Args, Subcommand};
use symphony_core::done::{Obstacle, list_obstacles};
use symphony_core::pull_request::{PullRequest, VerdictKind};
use symphony_core::review_point::Severity;
use symphony_mcp::Reviewed;
use symphony_runner::RunnerError;
use symphony_runner::confirm::Confirmation;
use symphony_runner::network::NetworkLog;
use symphony_runner::order::{OrderRefusal, PersonVerdict, RedGates, confirm_proposal};
use symphony_store::PrStep;
use symphony_view::PrView;

use crate::app::App;
use crate::command::point::{PointArgs, rejection};
use crate::command::pr::{find_pr_for, give, other_subject};
use crate::failure::{Context as _, Exit, Stop};
use crate::interrupt::Interrupts;
use crate::refused_hosts::warn_of_refused;
use crate::value::PrReference;

/// A decision on the proposal that nothing is left to do. `symphony issue show` shows its reason and its evidence.
#[derive(Debug, Subcommand)]
pub(crate) enum DoneCommand {
    /// Confirm that nothing is left to do on an issue, which completes it
    Approve(ApproveDoneArgs),
    /// Send an issue back to a worker with points that say what is still missing
    Reject(RejectDoneArgs),
}

/// What `done approve` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony done approve SYM-1")]
pub(crate) struct ApproveDoneArgs {
    /// The issue, or the proposal's number
    #[arg(value_name = "ISSUE|ID")]
    issue: PrReference,
    /// A comment to keep with your decision; `-` reads it from standard input
    #[arg(short = 'm', long, value_name = "TEXT")]
    comment: Option<String>,
}

/// What `done reject` takes.
#[derive(Debug, Args)]
#[command(
    group = rejection(),
    after_help = "Examples:\n  symphony done reject SYM-1 --feedback 'Empty names are still accepted'\n  \
    symphony done reject SYM-1 --point 'src/main.rs:12: an empty name crashes it'"
)]
pub(crate) struct RejectDoneArgs {
    /// The issue, or the proposal's number
    #[arg(value_name = "ISSUE|ID")]
    issue: PrReference,
    /// What is still missing: a point that the next worker must answer, or a summary of those given with --point. `-` reads it from
    /// standard input
    #[arg(short = 'm', long, value_name = "TEXT")]
    feedback: Option<String>,
    #[command(flatten)]
    points: PointArgs,
}

impl DoneCommand {
    /// Runs it.
    ///
    /// # Errors
    /// When there is no open proposal, or something is in the way of the decision.
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        match self {
            Self::Approve(args) => args.run(app),
            Self::Reject(args) => args.run(app),
        }
    }
}

impl ApproveDoneArgs {
    fn run(&self, app: &App) -> anyhow::Result<()> {
        let (confirmed, in_spite_of) = self
            .carry_out(app)
            .context("confirm that nothing is left to do")?;
        let mut sentence = format!(
            "{} is done: nothing was left to do (proposal {}).",
            confirmed.of, confirmed.id
        );
        if !in_spite_of.is_empty() {
            let known = list_obstacles(&in_spite_of);
            sentence.push_str(&format!(" You confirmed it, although {known}."));
        }
        app.out.done(&PrView::from(confirmed), &sentence)
    }

    fn carry_out(&self, app: &App) -> anyhow::Result<(PullRequest, Vec<Obstacle>)> {
        let comment = self
            .comment
            .as_deref()
            .map(|typed| app.text(typed))
            .transpose()?;
        let mut session = app.session()?;
        let proposal = find_pr_for(app, &session, &self.issue, Some(PrStep::Confirm))?;
        // a killed process would leave its gates to the next tick
        let interrupts = Interrupts::listen().context("listen to Ctrl-C")?;
        let stop = move || interrupts.count() > 0;
        let context = App::as_human();
        let network = NetworkLog::default();
        let found = confirm_proposal(
            &mut session,
            &context,
            &proposal,
            comment.as_deref(),
            &stop,
            &network,
        );
        warn_of_refused(app.out, &network.used());
        match found {
            Ok(Confirmation::Confirmed {
                proposal,
                in_spite_of,
            }) => Ok((*proposal, in_spite_of)),
            Ok(Confirmation::Refused { obstacles }) => Err(refused(&proposal, &obstacles)),
            Err(RunnerError::Order(OrderRefusal::OtherSubject { .. })) => {
                Err(other_subject(&proposal))
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Names what is in the way of a confirmation, and what to do about it.
fn refused(proposal: &PullRequest, obstacles: &[Obstacle]) -> anyhow::Error {
    let what = format!(
        "proposal {} cannot be confirmed: {}",
        proposal.id,
        list_obstacles(obstacles)
    );
    let issue = &proposal.of;
    let answers = issue.issue().into_iter().flat_map(|issue| {
        let answers = obstacles.iter();
        answers.filter_map(move |obstacle| obstacle.answer(issue))
    });
    let mut ways: Vec<String> = answers
        .map(|command| format!("`{command}` first"))
        .collect();
    ways.push(format!(
        "`symphony done reject {issue}` sends it back to a worker"
    ));
    ways.push(format!(
        "`symphony issue close {issue} --done --reason TEXT` closes the issue anyway"
    ));
    Stop::new(Exit::Refused, what).hint(ways.join("; ")).into()
}

impl RejectDoneArgs {
    fn run(&self, app: &App) -> anyhow::Result<()> {
        let verdict = PersonVerdict {
            kind: VerdictKind::Rejected,
            comment: app.text(self.feedback.as_deref().unwrap_or_default())?,
            commit: None,
            points: self.points.changes(Severity::Must),
            red_gates: RedGates::Allowed,
            subject: Reviewed::Proposal,
        };
        let rejected = give(app, &self.issue, &verdict)
            .context("reject the proposal that nothing is left to do")?;
        let sentence = format!(
            "Rejected proposal {}: {} goes back to a worker.",
            rejected.id, rejected.of
        );
        app.out.done(&PrView::from(rejected), &sentence)
    }
}

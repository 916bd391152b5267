//! `symphony done`: a person decides on the proposal that nothing is left to do on an issue.

use anyhow::Context as _;
use clap::{Args, Subcommand};
use symphony_core::issue::check_text;
use symphony_core::pull_request::{PullRequest, VerdictKind};
use symphony_core::review_point::Severity;
use symphony_mcp::Reviewed;
use symphony_runner::tick::moved_proposal;
use symphony_store::StoreError;

use crate::app::App;
use crate::command::point::PointArgs;
use crate::command::pr::{RedGates, Verdict, open_pr, other_subject};
use crate::failure::{Exit, Stop};
use crate::value::{PrReference, text_or_stdin};
use crate::view::PrView;

/// A decision on the proposal that nothing is left to do. `symphony issue show` shows its reason and its evidence.
#[derive(Debug, Subcommand)]
pub(crate) enum DoneCommand {
    /// Confirm that nothing is left to do on an issue; the issue is done
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
    /// What to say with it, kept as a comment; `-` reads it from standard input
    #[arg(short = 'm', long, value_name = "TEXT")]
    comment: Option<String>,
}

/// What `done reject` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  symphony done reject SYM-1 --feedback 'Empty names are still accepted'\n  \
    symphony done reject SYM-1 --point 'src/main.rs:12: an empty name ends it'"
)]
pub(crate) struct RejectDoneArgs {
    /// The issue, or the proposal's number
    #[arg(value_name = "ISSUE|ID")]
    issue: PrReference,
    /// What is still missing: a point that the next worker must answer, or a summary of those given with --point. `-` reads it from
    /// standard input
    #[arg(short = 'm', long, value_name = "TEXT", required_unless_present_any = ["points", "reopen"])]
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
        let confirmed = self
            .carry_out(app)
            .context("confirm that nothing is left to do")?;
        let sentence = format!(
            "{} is done: nothing was left to do (proposal {}).",
            confirmed.of, confirmed.id
        );
        app.out.done(&PrView::from(confirmed), &sentence)
    }

    fn carry_out(&self, app: &App) -> anyhow::Result<PullRequest> {
        let comment = self.comment.as_deref().map(text_or_stdin).transpose()?;
        if let Some(comment) = &comment {
            check_text("comment", comment).map_err(StoreError::from)?;
        }
        let mut session = app.session()?;
        let proposal = open_pr(app, &mut session, &self.issue, "confirmed")?;
        let Some(issue) = proposal.of.issue().filter(|_| proposal.proposal.is_some()) else {
            return Err(other_subject(&proposal));
        };
        let hint = format!(
            "`symphony issue close {issue} --done --reason TEXT` ends the issue all the same; `symphony done reject {issue}` sends \
             it back to a worker"
        );
        let project = session.store.project(&proposal.project)?;
        let config = session.installation.project_config(&project)?;
        if let Some(moved) = moved_proposal(&project, &config, &proposal)? {
            let what = format!("the next tick has it checked again: {}", moved.why);
            return Err(Stop::new(Exit::Refused, what).hint(hint).into());
        }
        let confirmed = session
            .store
            .confirm_done(&App::as_human(), proposal.id)
            .map_err(|error| match error {
                StoreError::Refused { reason } => {
                    anyhow::Error::from(Stop::new(Exit::Refused, reason).hint(hint))
                }
                other => other.into(),
            })?;
        if let Some(comment) = comment.filter(|comment| !comment.trim().is_empty()) {
            session
                .store
                .add_comment(&App::as_human(), issue, &comment)?;
        }
        Ok(confirmed)
    }
}

impl RejectDoneArgs {
    fn run(&self, app: &App) -> anyhow::Result<()> {
        let verdict = Verdict {
            kind: VerdictKind::Rejected,
            comment: text_or_stdin(self.feedback.as_deref().unwrap_or_default())?,
            commit: None,
            points: self.points.changes(Severity::Must),
            red_gates: RedGates::Allowed,
            subject: Reviewed::Proposal,
        };
        let rejected = verdict
            .give(app, &self.issue)
            .context("reject that nothing is left to do")?;
        let sentence = format!(
            "Rejected proposal {}: {} goes back to a worker.",
            rejected.id, rejected.of
        );
        app.out.done(&PrView::from(rejected), &sentence)
    }
}

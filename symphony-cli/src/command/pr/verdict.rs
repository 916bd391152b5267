//! `symphony pr approve`, `reject` and `close`: a person's verdict counts like a judge's.

use clap::Args;
use symphony_core::gates::GatesAge;
use symphony_core::id::PlanId;
use symphony_core::pull_request::{PullRequest, PullRequestOf, VerdictKind, VerifiedGates};
use symphony_core::review_point::{
    PointChanges, PointError, PointMove, PointNumber, PointState, Severity,
};
use symphony_mcp::Reviewed;
use symphony_runner::cancel::{end_judge_on, end_run_on};
use symphony_runner::plan::show_plan_of;
use symphony_runner::session::Session;
use symphony_store::{NewVerdict, PrStep, StoreError, refuse_ended};
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
    symphony pr reject SYM-1 --point 'src/main.rs:12: an empty name crashes it' --point 'should: say what a name is'"
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
        let verdict = Verdict {
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
        let pr = verdict
            .give(app, &self.pr)
            .context("approve the pull request")?;
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
        let verdict = Verdict {
            kind: VerdictKind::Rejected,
            comment: app.text(self.feedback.as_deref().unwrap_or_default())?,
            commit: self.commit.as_deref(),
            points: self.points.changes(Severity::Must),
            red_gates: RedGates::Allowed,
            subject: Reviewed::Change,
        };
        let pr = verdict
            .give(app, &self.pr)
            .context("reject the pull request")?;
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
        let pr = open_pr(app, &mut session, &self.pr, PrStep::Close)?;
        let closed = session.store.close_pr(&App::as_human(), pr.id)?;
        show_plan_of(&mut session.store, &closed);
        Ok(closed)
    }
}

/// Says how a plan can go on after its pull request was not accepted.
fn waits_for_person(plan: &PlanId) -> String {
    format!(
        "plan {plan} waits for you. `symphony plan retry PHASE --plan {plan}` lets a phase fix it, `symphony plan \
         status --plan {plan}` shows your other options"
    )
}

/// A person's verdict.
#[derive(Debug)]
pub(crate) struct Verdict<'a> {
    pub(crate) kind: VerdictKind,
    pub(crate) comment: String,
    pub(crate) commit: Option<&'a str>,
    pub(crate) points: PointChanges,
    pub(crate) red_gates: RedGates,
    /// What it is about.
    pub(crate) subject: Reviewed,
}

/// Whether a verdict may be given although a required gate is red.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RedGates {
    Allowed,
    Refused,
}

impl Verdict<'_> {
    pub(crate) fn give(&self, app: &App, reference: &PrReference) -> anyhow::Result<PullRequest> {
        let mut session = app.session()?;
        if self.is_forced() {
            // of a plan: nobody works on it by itself, so that a person may change their mind
            let rejected = find_pr(app, &session, reference)?;
            session
                .store
                .resume_rejected_review(&App::as_human(), rejected.id)?;
            show_plan_of(&mut session.store, &rejected);
        }
        let pr = match self.kind {
            VerdictKind::Approved => {
                let pr = find_pr(app, &session, reference)?;
                refuse_ended(&pr, self.step()).map_err(StoreError::from)?;
                end_judge_on(&session.installation, &mut session.store, &pr.of)?;
                still_open(&session, &pr, self.step())?
            }
            VerdictKind::Rejected => open_pr(app, &mut session, reference, self.step())?,
        };
        if self.subject != Reviewed::of(&pr) {
            return Err(other_subject(&pr));
        }
        let is_red = pr.gates_of_head().is_some_and(|gates| !gates.green());
        if is_red && self.red_gates == RedGates::Refused {
            let stop = Stop::new(
                Exit::Refused,
                format!("required gates of pull request {} are red", pr.id),
            );
            let hint = format!(
                "`symphony pr check {}` runs them again; --force with --comment approves anyway",
                pr.reference()
            );
            return Err(stop.hint(hint).into());
        }
        if is_red {
            session
                .store
                .resume_stopped_review(&App::as_human(), pr.id)?;
        }
        // a shortened commit is meant to be the head; anything else is for the store to refuse
        let commit = match self.commit {
            Some(commit)
                if commit.len() < COMMIT_CHARS_MIN || !pr.head_commit.starts_with(commit) =>
            {
                commit
            }
            _ => &pr.head_commit,
        };
        let new = NewVerdict {
            kind: self.kind,
            commit: commit.to_owned(),
            comment: self.comment.clone(),
            points: self.points(&session, &pr)?,
            force: self.is_forced(),
        };
        let judged = session
            .store
            .record_review(&App::as_human(), pr.id, &new)
            .map_err(|error| of_open_points(error, &pr))?;
        show_plan_of(&mut session.store, &judged);
        Ok(judged)
    }
}

impl Verdict<'_> {
    const fn step(&self) -> PrStep {
        match self.kind {
            VerdictKind::Approved => PrStep::Approve,
            VerdictKind::Rejected => PrStep::Reject,
        }
    }

    /// Whether it is an approval whatever the gates find.
    fn is_forced(&self) -> bool {
        self.kind == VerdictKind::Approved && self.red_gates == RedGates::Allowed
    }

    /// The state that each point gets. An approval by force closes those that it does not name.
    fn points(&self, session: &Session, pr: &PullRequest) -> anyhow::Result<PointChanges> {
        let mut changes = self.points.clone();
        if self.is_forced() {
            let named: Vec<PointNumber> = changes.moved.iter().map(|moved| moved.number).collect();
            let points = session.store.review_points(&pr.of)?.into_iter();
            let left =
                points.filter(|point| point.is_open_must() && !named.contains(&point.number));
            changes.moved.extend(left.map(|point| PointMove {
                number: point.number,
                to: PointState::Closed,
                remark: None,
            }));
        }
        Ok(changes)
    }
}

/// Says how a person goes on whose approval open points keep back.
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

/// Fewest characters by which a commit is known, as git shortens it.
const COMMIT_CHARS_MIN: usize = 7;

/// Returns an open pull request, after the judge or the gates at work on it were ended: a judge must not speak after a person, and the
/// gates would be for nothing.
pub(crate) fn open_pr(
    app: &App,
    session: &mut Session,
    reference: &PrReference,
    step: PrStep,
) -> anyhow::Result<PullRequest> {
    let pr = find_pr_for(app, session, reference, Some(step))?;
    refuse_ended(&pr, step).map_err(StoreError::from)?;
    end_run_on(&session.installation, &mut session.store, &pr.of)?;
    still_open(session, &pr, step)
}

/// Returns a pull request as it is now.
fn still_open(session: &Session, pr: &PullRequest, step: PrStep) -> anyhow::Result<PullRequest> {
    let pr = session.store.pr(pr.id)?;
    refuse_ended(&pr, step).map_err(StoreError::from)?;
    Ok(pr)
}

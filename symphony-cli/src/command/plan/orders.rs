//! `symphony plan decide`, `retry`, `skip`, `abort`, `pause`, `resume`.

use anyhow::Context as _;
use clap::Args;
use symphony_core::id::PlanPhaseId;
use symphony_core::plan::state::{Choice, PlanStatus};
use symphony_runner::plan::{PlanOrder, carry_out_order};

use super::record::PlanChoice;
use crate::app::App;
use crate::view::PlanView;

/// What `plan decide` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony plan decide build-api retry_once_more")]
pub(crate) struct DecideArgs {
    #[command(flatten)]
    plan: PlanChoice,
    /// The phase that awaits a decision
    phase: PlanPhaseId,
    /// `retry_once_more`, `skip_phase`, `abort_branch` (it and everything behind it) or `abort_all`
    choice: Choice,
}

/// What `plan retry` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Then `symphony plan run` goes on with it.\n\nExample:\n  symphony plan retry build-api"
)]
pub(crate) struct RetryArgs {
    #[command(flatten)]
    plan: PlanChoice,
    /// The phase; every failed and aborted one when left out
    phase: Option<PlanPhaseId>,
}

/// What `plan skip` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony plan skip write-docs")]
pub(crate) struct SkipArgs {
    #[command(flatten)]
    plan: PlanChoice,
    /// The phase
    phase: PlanPhaseId,
}

/// What `plan abort` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Runs at work are ended by the plan's loop (`plan run`, or ticks with `plan.by_tick`).\n\nExample:\n  symphony plan abort"
)]
pub(crate) struct AbortArgs {
    #[command(flatten)]
    plan: PlanChoice,
    /// The phase, with everything behind it; the whole plan when left out
    phase: Option<PlanPhaseId>,
}

/// What `plan pause` and `plan resume` take.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony plan pause && symphony plan resume")]
pub(crate) struct PauseArgs {
    #[command(flatten)]
    plan: PlanChoice,
}

impl DecideArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let order = PlanOrder::Decide(self.phase.clone(), self.choice);
        carry_out(app, &self.plan, &order).context("decide")
    }
}

impl RetryArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let phase = self.phase.clone();
        let order = phase.map_or(PlanOrder::RetryFailed, PlanOrder::Retry);
        carry_out(app, &self.plan, &order).context("retry")
    }
}

impl SkipArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        carry_out(app, &self.plan, &PlanOrder::Skip(self.phase.clone())).context("skip")
    }
}

impl AbortArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let phase = self.phase.clone();
        let order = phase.map_or(PlanOrder::AbortAll, PlanOrder::Abort);
        carry_out(app, &self.plan, &order).context("abort")
    }
}

impl PauseArgs {
    pub(super) fn pause(&self, app: &App) -> anyhow::Result<()> {
        carry_out(app, &self.plan, &PlanOrder::Pause).context("pause")
    }

    pub(super) fn resume(&self, app: &App) -> anyhow::Result<()> {
        carry_out(app, &self.plan, &PlanOrder::Resume).context("resume")
    }
}

fn carry_out(app: &App, choice: &PlanChoice, order: &PlanOrder) -> anyhow::Result<()> {
    app.surroundings.refuse_agents()?;
    let mut session = app.session()?;
    let plan = choice.find(app, &mut session)?;
    let (record, warnings) =
        carry_out_order(&mut session.store, &session.project, &plan.id, order)?;
    for warning in warnings {
        app.out.warn(&warning);
    }
    let what = match order {
        PlanOrder::Decide(phase, _)
        | PlanOrder::Retry(phase)
        | PlanOrder::Skip(phase)
        | PlanOrder::Abort(phase) => {
            format!("phase {phase} is {}", record.state.phase_status(phase))
        }
        _ => format!("{} is {}", record.path, record.state.status),
    };
    let next = match record.state.status {
        PlanStatus::Running | PlanStatus::AwaitingUserDecision => {
            "; `symphony plan run` goes on with it, unless one is at work"
        }
        _ => "",
    };
    let sentence = format!("Plan {}: {what}{next}.", record.id);
    app.out.done(&PlanView::of(&record)?, &sentence)
}

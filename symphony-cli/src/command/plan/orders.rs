//! `symphony plan decide`, `retry`, `skip`, `abort`, `pause`, `resume`.

use clap::Args;
use symphony_core::id::PlanPhaseId;
use symphony_core::plan::state::Choice;
use symphony_runner::absorb::{absorb_for_phase, absorbed_text};
use symphony_runner::plan::{PlanOrder, carry_out_order};
use symphony_view::PlanView;

use super::record::PlanChoice;
use crate::app::App;
use crate::failure::Context as _;
use crate::value::named;

/// What `plan decide` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony plan decide build-api retry_once_more")]
pub(crate) struct DecideArgs {
    #[command(flatten)]
    plan: PlanChoice,
    /// The phase that awaits a decision
    phase: PlanPhaseId,
    /// Retry it once more, skip it, abort it with everything that depends on it, or abort the whole plan
    #[arg(value_parser = named(Choice::NAMES, Choice::parse))]
    choice: Choice,
}

/// What `plan retry` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Run `symphony plan run` to continue the plan.\n\nExample:\n  symphony plan retry build-api"
)]
pub(crate) struct RetryArgs {
    #[command(flatten)]
    plan: PlanChoice,
    /// The phase; by default, every failed or aborted phase
    phase: Option<PlanPhaseId>,
    /// First commit the contents of git repositories that an agent created inside the phase's worktree, as plain files
    #[arg(long, requires = "phase")]
    absorb: bool,
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
    after_help = "This ends live runs; their work stays on the branches of their phases.\n\n\
                  Example:\n  symphony plan abort"
)]
pub(crate) struct AbortArgs {
    #[command(flatten)]
    plan: PlanChoice,
    /// The phase, with everything that depends on it; by default the whole plan
    phase: Option<PlanPhaseId>,
}

/// What `plan pause` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony plan pause")]
pub(crate) struct PauseArgs {
    #[command(flatten)]
    plan: PlanChoice,
}

/// What `plan resume` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "It does not start phases itself: run `symphony plan run` to continue the plan.\n\n\
                  Example:\n  symphony plan resume && symphony plan run"
)]
pub(crate) struct ResumeArgs {
    #[command(flatten)]
    plan: PlanChoice,
}

impl DecideArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let order = PlanOrder::Decide(self.phase.clone(), self.choice);
        carry_out(app, &self.plan, &order).context("carry out the decision")
    }
}

impl RetryArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let phase = self.phase.clone();
        if let Some(phase) = phase.as_ref().filter(|_| self.absorb) {
            let mut session = app.session()?;
            let plan = self.plan.find(app, &mut session)?;
            let config = session.installation.project_config(&session.project)?;
            let (store, project) = (&session.store, &session.project);
            let absorbed = absorb_for_phase(store, project, &config, &plan.id, phase)
                .with_context(|| format!("absorb nested repositories of {phase}"))?;
            app.out.note(&absorbed_text(&absorbed));
        }
        let order = phase.map_or(PlanOrder::RetryFailed, PlanOrder::Retry);
        carry_out(app, &self.plan, &order).context("retry phases")
    }
}

impl SkipArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        carry_out(app, &self.plan, &PlanOrder::Skip(self.phase.clone())).context("skip the phase")
    }
}

impl AbortArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let phase = self.phase.clone();
        let order = phase.map_or(PlanOrder::AbortAll, PlanOrder::Abort);
        carry_out(app, &self.plan, &order).context("abort the phase")
    }
}

impl PauseArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        carry_out(app, &self.plan, &PlanOrder::Pause).context("pause the plan")
    }
}

impl ResumeArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        carry_out(app, &self.plan, &PlanOrder::Resume).context("resume the plan")
    }
}

fn carry_out(app: &App, choice: &PlanChoice, order: &PlanOrder) -> anyhow::Result<()> {
    let mut session = app.session()?;
    let plan = choice.find(app, &mut session)?;
    let (record, warnings) = carry_out_order(
        &mut session.store,
        &App::as_human(),
        &session.project,
        &plan.id,
        order,
    )?;
    for warning in warnings {
        app.out.warn(&warning);
    }
    let view = PlanView::of(
        &session.store,
        &session.project,
        &record,
        &session.configured_gates(),
    )?;
    let sentence = format!("Plan {}: {}.", record.id, order.outcome(&record));
    let sentence = match view.next() {
        Some(next) => format!("{sentence} {next}"),
        None => sentence,
    };
    app.out.done(&view, &sentence)
}

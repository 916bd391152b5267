//! `symphony plan init-state`.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::id::PlanPhaseId;
use symphony_core::plan::state::{PhaseStatus, PlanStatus};
use symphony_core::plan::state_file::{STATE_FILE, StateFile, init_state};
use symphony_workspace::plan_file::{LockedStateFile, create_state_file};

use super::source::load_plan;
use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};

/// What `plan init-state` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "The state file of a plan that is under way is replaced only with --force. One that `symphony plan \
                  run` writes is never replaced.\n\n\
                  Example:\n  symphony plan init-state plan.md -o .symphony-state.json"
)]
pub(crate) struct InitStateArgs {
    /// The plan file
    file: PathBuf,
    /// The state file to create
    #[arg(short, long, value_name = "STATE", default_value = STATE_FILE)]
    output: PathBuf,
    /// Replace the file, whatever it contains
    #[arg(long)]
    force: bool,
}

/// In JSON `{"success", "statePath", "planPath", "orchestrationStatus", "totalPhases", "newlyReady"}`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Begun {
    success: bool,
    state_path: String,
    plan_path: String,
    orchestration_status: PlanStatus,
    total_phases: usize,
    newly_ready: Vec<PlanPhaseId>,
}

impl InitStateArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let source = load_plan(app, Some(&self.file))?;
        let plan_path = app.surroundings.current.join(&source.path);
        let plan_path = plan_path.canonicalize().unwrap_or(plan_path);
        let plan_path = plan_path.display().to_string();
        let total_phases = source.plan.phases.len();
        let state = init_state(source.plan, &plan_path, Timestamp::now())
            .with_context(|| format!("use the plan {}", self.file.display()))?;
        self.write(&app.surroundings.current.join(&self.output), &state)?;
        let order = source.dag.order().iter();
        let ids = order.filter_map(|at| source.dag.ids().get(*at));
        let is_ready = |id: &&PlanPhaseId| {
            let record = state.phases.get(*id);
            record.is_some_and(|record| record.status == PhaseStatus::Ready)
        };
        app.out.document(&Begun {
            success: true,
            state_path: self.output.display().to_string(),
            newly_ready: ids.filter(is_ready).cloned().collect(),
            plan_path,
            orchestration_status: state.status,
            total_phases,
        })
    }

    fn write(&self, path: &Path, state: &StateFile) -> anyhow::Result<()> {
        let text = state.render()?;
        if create_state_file(path, &text)? {
            return Ok(());
        }
        let locked = LockedStateFile::open(path)?;
        match standing(locked.text()) {
            Standing::Managed => Err(self.refusal(
                "`symphony plan run` manages it",
                "name another file with `-o`",
            )),
            Standing::Free => Ok(locked.replace(&text)?),
            _ if self.force => Ok(locked.replace(&text)?),
            Standing::UnderWay => Err(self.refusal(
                "its plan is under way",
                "name another file with `-o`, or replace it with `--force`",
            )),
            Standing::Foreign => Err(self.refusal(
                "it is not a state file",
                "name another file with `-o`, or replace it with `--force`",
            )),
        }
    }

    fn refusal(&self, reason: &str, hint: &str) -> anyhow::Error {
        let message = format!("{} cannot be replaced: {reason}", self.output.display());
        Stop::new(Exit::Refused, message).hint(hint).into()
    }
}

/// What is in the way of a new state file.
enum Standing {
    /// Symphony's picture of a plan that it runs.
    Managed,
    /// A plan that has ended, or of which nothing has begun.
    Free,
    /// A plan of which something has begun.
    UnderWay,
    /// Something else.
    Foreign,
}

fn standing(text: &str) -> Standing {
    let Ok(state) = StateFile::parse(text) else {
        return Standing::Foreign;
    };
    let is_untouched =
        |status: PhaseStatus| matches!(status, PhaseStatus::Pending | PhaseStatus::Ready);
    if state.managed_by.is_some() {
        Standing::Managed
    } else if state.status.is_ended()
        || state
            .phases
            .values()
            .all(|phase| is_untouched(phase.status))
    {
        Standing::Free
    } else {
        Standing::UnderWay
    }
}

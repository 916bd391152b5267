//! One run, from its claim to its end, in a process of its own (spec: lifecycle, "Supervisor").
//!
//! prepare (worktree, prompts, socket) → agent (stream, limits) → exit handling (sweep, commit, gates, one transaction).
//! A supervisor that dies is followed by another one that does the exit handling only; both do it the same way, and
//! doing it twice does no harm.

mod agent;
mod command;
mod exit;
mod finish;
mod launch;
mod phase_settings;
mod prepare;
mod prompts;
mod set_up;
mod settle;
mod space;
mod spending;
mod streams;
mod temporary;
mod until_cancelled;
mod watch;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Instant;

use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::config::ProjectConfig;
use symphony_core::exit_handling::is_unprepared;
use symphony_core::failure::ErrorClass;
use symphony_core::id::RunId;
use symphony_core::issue::Issue;
use symphony_core::profile::{AgentProfile, ProfileOverride};
use symphony_core::run::{Run, RunError, RunStatus, RunTarget};
use symphony_core::watchdog::Step;
use symphony_mcp::StoreThread;
use symphony_store::{Actor, Context, Project, RunKey, Store, StoreError};
use symphony_workspace::Failpoint;

use self::exit::PendingExit;
use self::phase_settings::phase_settings;
use self::space::{DISK_LOOK, DISK_WAIT_MAX};
use crate::environment::{agent_environment, name_committers};
use crate::error::RunnerError;
use crate::gates::{clear_dead_checkout, end_of_dead, run_gates_job};
use crate::installation::Installation;
use crate::paths::RunPaths;
use crate::process::{RunLock, Supervision, become_session_leader};
use crate::prompts::library::PromptLibrary;
use crate::runtime::block_on;
use crate::watchdog::{StepLog, what_ended};

pub(crate) use agent::AgentOutcome;
pub use agent::TRAMPOLINE_COMMAND;
pub(crate) use command::{CommandCall, CommandOutcome, Company, LiveLog, run_command};
pub(crate) use launch::launch_supervisor;
pub(crate) use phase_settings::phase_of_plan;
pub(crate) use prepare::{
    DocumentQuery, Documents, PROMPT_FILE_BYTES_MAX, criteria_input, judged_artifact,
    override_text, read_own,
};
pub(crate) use prompts::{
    Cut, PhasePart, ProjectRequest, PromptRequest, budgets, build, build_background, build_phase,
    build_wizard, done_review, phase_review, review_input,
};
pub use prompts::{read_vault, submodule_changes};
pub(crate) use set_up::{SetUp, is_due};
pub(crate) use settle::{record_settings, return_to_recorded_head};
pub(crate) use until_cancelled::until_cancelled;

/// What a supervisor is started for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuperviseMode {
    /// The whole run.
    Run,
    /// The exit handling of a run whose supervisor died.
    Finish,
}

/// Supervises a run: the body of the hidden command `symphony supervise`. Takes the run's lock from standard input.
///
/// # Errors
/// When the run could not be brought to its recorded end; the next tick starts its exit handling again.
pub fn supervise(
    installation: &Installation,
    run: &RunId,
    mode: SuperviseMode,
) -> Result<(), RunnerError> {
    become_session_leader()?;
    let mut store = store_when_there_is_space(installation)?;
    let mut job = Job::load(installation, &mut store, run)?;
    // held until the very end: it says that the run is alive
    let lock = RunLock::adopt_stdin(job.paths.lock())?;
    job.steps = StepLog::of(&lock, installation.config.watchdog.step_timeout_ms);
    job.steps.enter(Step::Start);
    Failpoint::SuperviseStarted.reach();
    let supervision = Supervision::begin()?.with_cgroups(run);
    let store = StoreThread::new(store);
    block_on(&job.paths.dir, carry_out(&job, &store, &supervision, mode))?
}

/// Opens the database as soon as the disk takes it: SQLite cannot even read without a little space. The run's lock is
/// held meanwhile.
fn store_when_there_is_space(installation: &Installation) -> Result<Store, RunnerError> {
    let begun = Instant::now();
    loop {
        match installation.require_store() {
            Err(error) if error.is_disk_full() && begun.elapsed() < DISK_WAIT_MAX => {
                tracing::warn!(%error, "the run goes on when there is space");
                std::thread::sleep(DISK_LOOK);
            }
            store => return store,
        }
    }
}

async fn carry_out(
    job: &Job<'_>,
    store: &StoreThread,
    supervision: &Supervision,
    mode: SuperviseMode,
) -> Result<(), RunnerError> {
    if !job.run.status.is_live() {
        return Ok(());
    }
    if job.run.agent == AgentType::Gates {
        let ended = match mode {
            SuperviseMode::Run => run_gates_job(job, store, supervision).await,
            SuperviseMode::Finish => {
                clear_dead_checkout(job)?;
                end_of_dead(job, store, dead(job, store).await?).await
            }
        };
        return finish::finish_gates(job, store, ended).await;
    }
    let outcome = match mode {
        SuperviseMode::Finish => {
            // it may have died while it tried its set-up on the base
            if let Err(error) = clear_dead_checkout(job) {
                tracing::warn!(%error, "the pristine checkout of a dead run stays for now");
            }
            let pending = PendingExit::of_dead_supervisor(job, store).await?;
            return finish::finish(job, store, supervision, pending).await;
        }
        SuperviseMode::Run => match prepare_run(job, store, supervision).await {
            Ok(prepared) => match agent::run_agent(job, store, supervision, &prepared).await {
                // its processes are ended, and nobody has failed
                Err(error) if error.is_disk_full() => AgentOutcome::not_started(&error),
                outcome => outcome?,
            },
            Err(error) => not_prepared(job, store, &error).await?,
        },
    };
    finish::finish(job, store, supervision, PendingExit::new(outcome)).await
}

async fn prepare_run(
    job: &Job<'_>,
    store: &StoreThread,
    supervision: &Supervision,
) -> Result<prepare::Prepared, RunnerError> {
    job.steps.enter(Step::Prepare);
    prepare::prepare(job, store, supervision).await
}

/// The outcome of a run whose preparation failed. What git or the machine did says nothing about its issue.
async fn not_prepared(
    job: &Job<'_>,
    store: &StoreThread,
    error: &RunnerError,
) -> Result<AgentOutcome, RunnerError> {
    let mut outcome = AgentOutcome::not_started(error);
    let class = outcome.error.as_ref().map(|error| error.class);
    let is_machines = match error {
        RunnerError::Workspace(_) => class == Some(ErrorClass::WorktreeFailed),
        RunnerError::Io { .. } => class == Some(ErrorClass::SpawnFailed),
        _ => false,
    };
    // triage has no attempts
    if !is_machines || job.run.agent == AgentType::Intake {
        return Ok(outcome);
    }
    let target = job.run.target.clone();
    let before = store
        .call(move |store| store.unprepared_before(&target))
        .await??;
    if let Some(before) = before
        && is_unprepared(error.exit_fault(), before.saturating_add(1))
        && let Some(error) = &mut outcome.error
    {
        error.class = ErrorClass::NotPrepared;
    }
    Ok(outcome)
}

/// The outcome of a run whose supervisor is dead: what a person asked for, or why it died.
async fn dead(job: &Job<'_>, store: &StoreThread) -> Result<AgentOutcome, RunnerError> {
    let run = job.run.id.clone();
    let is_cancelled = store
        .call(move |store| store.cancel_requested(&run))
        .await??;
    Ok(if is_cancelled {
        AgentOutcome::cancelled_without_answer()
    } else {
        AgentOutcome::crashed(&job.run, what_ended(&job.paths))
    })
}

/// A run with everything that belongs to it.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    pub(crate) installation: &'a Installation,
    pub(crate) project: Project,
    pub(crate) config: ProjectConfig,
    pub(crate) run: Run,
    pub(crate) issue: Option<Issue>,
    /// What the database adds to the agent's profile.
    pub(crate) overrides: ProfileOverride,
    pub(crate) paths: RunPaths,
    /// Where the step is recorded that the supervisor is in.
    pub(crate) steps: StepLog,
}

impl<'a> Job<'a> {
    fn load(
        installation: &'a Installation,
        store: &mut Store,
        run: &RunId,
    ) -> Result<Self, RunnerError> {
        let run = store.run(run)?;
        let project = store.project(&run.project)?;
        let mut config = installation.project_config(&project)?;
        if let RunTarget::PlanPhase(plan, phase) = &run.target {
            // taken out of the plan meanwhile: what is left to do is its exit handling
            if let Some(phase) = phase_of_plan(&store.plan(plan)?, phase) {
                phase_settings(&mut config, phase, &run);
            }
        }
        let issue = run.target.issue().map(|id| store.issue(id)).transpose()?;
        let overrides = store.overrides(&run.agent, &project.id)?.effective();
        let paths = RunPaths::new(&project.root, &run.id);
        Ok(Self {
            installation,
            project,
            config,
            run,
            issue,
            overrides,
            paths,
            steps: StepLog::default(),
        })
    }

    /// The agent's profile; a plan's phase has none, whatever runs it.
    pub(crate) fn profile<'l>(&self, library: &'l PromptLibrary) -> Option<&'l AgentProfile> {
        match self.run.target {
            RunTarget::PlanPhase(..) => None,
            _ => library.profile(&self.run.agent),
        }
    }

    /// The environment of commands of the configuration that run in a folder: the agent's, without its provider's settings.
    pub(crate) fn command_environment(&self, folder: &Path) -> BTreeMap<OsString, OsString> {
        let mut environment = agent_environment(
            &self.installation.environment,
            &self.config.env,
            &BTreeMap::new(),
            &self.run.id,
        );
        name_committers(&mut environment, folder);
        environment
    }

    /// The context of a write in the run's name.
    pub(crate) fn as_run(&self) -> Context {
        let key = RunKey {
            run: self.run.id.clone(),
            fence: self.run.fence,
            agent: self.run.agent.clone(),
        };
        Context {
            actor: Actor::Run(key),
            now: Timestamp::now(),
        }
    }

    /// The context of a write of Symphony itself.
    pub(crate) fn as_system() -> Context {
        Context::system(Timestamp::now())
    }
}

impl AgentOutcome {
    /// The outcome of a run that a person ended, and whose supervisor is dead.
    fn cancelled_without_answer() -> Self {
        let message = "ended by a human; the supervisor had not answered".to_owned();
        Self::failed(
            RunStatus::Cancelled,
            RunError {
                class: ErrorClass::Cancelled,
                message,
            },
        )
    }

    /// The outcome of a run whose supervisor died, or was ended because it made no progress.
    fn crashed(run: &Run, why: Option<String>) -> Self {
        let message = why.unwrap_or_else(|| {
            format!(
                "the supervisor of run {} died; its processes were ended",
                run.id
            )
        });
        Self::failed(
            RunStatus::Crashed,
            RunError {
                class: ErrorClass::Crashed,
                message,
            },
        )
    }

    /// The outcome of a run whose base branch, or what git needs to check it out, is gone since it was planned: it was
    /// nobody's failure.
    fn without_base(error: &RunnerError) -> Self {
        let error = RunError {
            class: ErrorClass::Cancelled,
            message: error.with_causes(),
        };
        Self::failed(RunStatus::Cancelled, error)
    }

    /// The outcome of a run that did not get as far as its agent.
    pub(crate) fn not_started(error: &RunnerError) -> Self {
        if error.is_base_missing() {
            return Self::without_base(error);
        }
        let class = match error {
            _ if error.is_disk_full() => ErrorClass::DiskFull,
            RunnerError::Provider(_) => ErrorClass::ProviderMissing,
            RunnerError::Workspace(_) => ErrorClass::WorktreeFailed,
            RunnerError::Setup { .. } => ErrorClass::SetupFailed,
            RunnerError::SetupOnBase { .. } => ErrorClass::BaseGatesFailed,
            RunnerError::OverBudget { .. } => ErrorClass::BudgetExhausted,
            RunnerError::Store(StoreError::Superseded { .. }) => ErrorClass::Cancelled,
            _ => ErrorClass::SpawnFailed,
        };
        Self::failed(
            RunStatus::Failed,
            RunError {
                class,
                message: match error {
                    RunnerError::SetupOnBase { text } => text.clone(),
                    _ => error.with_causes(),
                },
            },
        )
    }
}

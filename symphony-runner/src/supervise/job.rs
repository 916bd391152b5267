//! A run with everything that belongs to it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use symphony_core::Timestamp;
use symphony_core::config::{ProjectConfig, ProviderChoice};
use symphony_core::issue::Issue;
use symphony_core::plan::Phase;
use symphony_core::profile::{AgentProfile, ProfileOverride};
use symphony_core::run::{Run, RunTarget};
use symphony_store::{Actor, Context, Project, RunKey, Store};

use super::holding::Holding;
use super::phase_settings::{claimed_provider, phase_of_plan, phase_settings};
use crate::environment::{agent_environment, name_committers};
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::network::NetworkLog;
use crate::paths::RunPaths;
use crate::prompts::library::PromptLibrary;
use crate::watchdog::StepLog;
use crate::worker::HandOver;

/// A run with everything that belongs to it.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    pub(crate) installation: &'a Installation,
    pub(crate) project: Project,
    pub(crate) config: ProjectConfig,
    pub(crate) run: Run,
    pub(crate) issue: Option<Issue>,
    /// The phase of a plan that it works on, as it is in the plan's file.
    pub(super) plan_phase: Option<Phase>,
    /// The provider of the project's configuration; the one in `config` is the run's.
    pub(super) project_provider: ProviderChoice,
    /// The database's changes to the agent's profile.
    pub(crate) overrides: ProfileOverride,
    pub(crate) paths: RunPaths,
    /// Where the supervisor records its current step.
    pub(crate) steps: StepLog,
    /// What its set-up, gates and checks reach for.
    pub(crate) network: NetworkLog,
    /// This host's hold on a run that it took from a pool; `None` on a single machine.
    pub(super) holding: Option<Holding>,
    /// Where the result of such a run goes.
    pub(crate) hub: Option<HandOver>,
    /// The terminal in which a person works with the agent; `None` for an agent that works alone.
    pub(super) terminal: Option<PathBuf>,
}

impl<'a> Job<'a> {
    pub(super) fn load(
        installation: &'a Installation,
        store: &mut Store,
        run: Run,
        project: Project,
    ) -> Result<Self, RunnerError> {
        let mut config = installation.project_config(&project)?;
        let project_provider = config.provider.clone();
        claimed_provider(&mut config, &run);
        let mut plan_phase = None;
        if let RunTarget::PlanPhase(plan, phase) = &run.target {
            // A phase that was removed from the plan meanwhile only needs its exit handling.
            plan_phase = phase_of_plan(&store.plan(plan)?, phase).cloned();
        }
        if let Some(phase) = &plan_phase {
            phase_settings(&mut config, phase);
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
            plan_phase,
            project_provider,
            overrides,
            paths,
            steps: StepLog::default(),
            network: NetworkLog::default(),
            holding: None,
            hub: None,
            terminal: None,
        })
    }

    /// Returns the agent's profile; the phase of a plan never has one.
    pub(crate) fn profile<'l>(&self, library: &'l PromptLibrary) -> Option<&'l AgentProfile> {
        match self.run.target {
            RunTarget::PlanPhase(..) => None,
            _ => library.profile(&self.run.agent),
        }
    }

    /// Returns the environment for configured commands that run in a folder: the agent's, without its provider's
    /// settings.
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

    /// Returns a context for writes in the name of the run.
    pub(crate) fn as_run(&self) -> Context {
        Context {
            actor: Actor::Run(RunKey::of(&self.run)),
            now: Timestamp::now(),
        }
    }

    /// Returns a context for writes of Symphony itself for this run. On a host that took the run from a pool they count only while the run
    /// is that host's; on a single machine no one else could have it.
    pub(crate) fn as_supervisor(&self) -> Context {
        let now = Timestamp::now();
        match &self.run.host {
            None => Context::system(now),
            Some(_) => Context::supervisor(RunKey::of(&self.run), now),
        }
    }
}

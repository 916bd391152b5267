//! Which model a run uses: resolved by its supervisor, and by whoever checks whether a hold covers it.

use symphony_core::agent::AgentType;
use symphony_core::config::ProjectConfig;
use symphony_core::id::PhaseName;
use symphony_core::profile::{AgentProfile, ModelChoice, ModelLayers, ResolvedModel};
use symphony_core::tick::{AskedModels, ProjectView};
use symphony_store::{Project, Store};

use crate::error::RunnerError;
use crate::installation::Installation;
use crate::prompts::library::PromptLibrary;
use crate::tick::Observed;

/// What a model is resolved for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Asker<'a> {
    /// An agent with its profile; on an issue, the phase whose model it uses.
    Agent(Option<&'a AgentProfile>, Option<&'a PhaseName>),
    /// A phase of a plan, with the model that it names.
    PlanPhase(Option<&'a str>),
}

/// Resolves a model (spec: contracts, "Model"). `from_database` is the override of the agent's profile.
pub(crate) fn resolve_model(
    installation: &Installation,
    config: &ProjectConfig,
    library: &PromptLibrary,
    from_database: &ModelChoice,
    asker: Asker<'_>,
) -> Option<ResolvedModel> {
    let choice = |text: &String| ModelChoice::parse(text).ok();
    let ready = PhaseName::parse(PhaseName::READY).ok();
    let (own, profile, phase) = match asker {
        Asker::Agent(profile, phase) => (None, profile, phase),
        // a plan's phase counts as the phase `ready`, without its contract
        Asker::PlanPhase(own) => (own, None, ready.as_ref()),
    };
    let project_phase = own
        .and_then(|own| ModelChoice::parse(own).ok())
        .or_else(|| {
            phase
                .and_then(|phase| config.phase_models.get(phase))
                .and_then(choice)
        });
    let contract = match asker {
        Asker::Agent(..) => phase.and_then(|phase| library.pipeline.get(phase)),
        Asker::PlanPhase(_) => None,
    };
    let project = config.model.as_ref().and_then(choice);
    let global = installation.config.defaults.model.as_ref().and_then(choice);
    ModelLayers {
        project_phase: project_phase.as_ref(),
        contract: contract.map(|contract| &contract.model),
        profile: profile.map(|profile| &profile.model),
        database_profile: Some(from_database),
        project: project.as_ref(),
        global: global.as_ref(),
    }
    .resolve()
}

/// Adds the models that agents use, for projects that the hold of a single model may cover. No one else needs them, and
/// resolving them means reading the prompts that may name them.
pub(crate) fn read_models(
    installation: &Installation,
    store: &Store,
    observed: &mut Observed,
) -> Result<Vec<String>, RunnerError> {
    let mut problems = Vec::new();
    if !observed.snapshot.has_model_hold() {
        return Ok(problems);
    }
    for (id, (project, config)) in &observed.projects {
        let (Some(config), Some(view)) = (config, observed.snapshot.projects.get_mut(id)) else {
            continue;
        };
        match installation.library(config) {
            Ok(library) => {
                view.models = asked_models(installation, config, store, project, &library)?;
            }
            Err(error) => {
                problems.push(format!("project {id}: {error}"));
                *view = ProjectView::broken(error.to_string());
            }
        }
    }
    Ok(problems)
}

fn asked_models(
    installation: &Installation,
    config: &ProjectConfig,
    store: &Store,
    project: &Project,
    library: &PromptLibrary,
) -> Result<AskedModels, RunnerError> {
    let mut models = AskedModels::default();
    let mut agents: Vec<AgentType> = AgentType::SHIPPED.to_vec();
    agents.push(AgentType::Wizard);
    agents.extend(library.pipeline.iter().map(|c| c.dispatch_profile.clone()));
    agents.sort();
    agents.dedup();
    let mut phases: Vec<Option<PhaseName>> = vec![None, PhaseName::parse(PhaseName::READY).ok()];
    phases.extend(library.pipeline.iter().map(|c| Some(c.phase.clone())));
    let name = |model: ResolvedModel| model.model.as_str().to_owned();
    for agent in agents {
        let overrides = store.overrides(&agent, &project.id)?.effective();
        for phase in &phases {
            let asker = Asker::Agent(library.profile(&agent), phase.as_ref());
            let found = resolve_model(installation, config, library, &overrides.model, asker);
            if let Some(model) = found.map(name) {
                models.set(agent.clone(), phase.clone(), model);
            }
        }
        if agent == AgentType::Worker {
            let asker = Asker::PlanPhase(None);
            let found = resolve_model(installation, config, library, &overrides.model, asker);
            models.set_for_plans(found.map(name));
        }
    }
    Ok(models)
}

//! Which provider and model a run uses: resolved by its supervisor, by whoever checks whether a hold covers it, and by
//! whoever shows it.

use std::collections::{BTreeMap, BTreeSet};

use symphony_core::agent::AgentType;
use symphony_core::config::ProjectConfig;
use symphony_core::id::{PhaseName, ProjectId};
use symphony_core::issue::Issue;
use symphony_core::profile::{
    AgentChoice, AgentProfile, ModelChoice, ModelLayers, ProviderLayers, ProviderSource,
    ResolvedModel,
};
use symphony_core::run::RunTarget;
use symphony_core::tick::{AskedModels, ProjectView, Snapshot, phase_of_model};
use symphony_store::{Project, Store};

use crate::error::RunnerError;
use crate::installation::Installation;
use crate::prompts::library::PromptLibrary;
use crate::session::Session;
use crate::tick::Observed;

/// What a model is resolved for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Asker<'a> {
    /// An agent with its profile; on an issue, the phase whose model it uses, and what the issue says to its authors.
    Agent(
        Option<&'a AgentProfile>,
        Option<&'a PhaseName>,
        Option<&'a AgentChoice>,
    ),
    /// A phase of a plan, with the provider and the model that it names.
    PlanPhase(Option<&'a str>, Option<&'a str>),
}

impl<'a> Asker<'a> {
    /// Returns what each place says about the provider. `project` is the one that the project uses, if it has one.
    pub(crate) fn providers(
        self,
        config: &'a ProjectConfig,
        project: Option<&'a str>,
    ) -> ProviderLayers<'a> {
        let (issue, plan_phase, profile) = match self {
            Self::Agent(profile, _, choice) => (
                choice.and_then(|choice| choice.provider.as_deref()),
                None,
                profile.and_then(|profile| profile.provider.as_deref()),
            ),
            Self::PlanPhase(own, _) => (None, own, None),
        };
        let full = |name| config.providers.full_name(name);
        ProviderLayers {
            issue: issue.map(full),
            plan_phase: plan_phase.map(full),
            profile: profile.map(full),
            project,
            is_configured: true,
        }
    }
}

/// Resolves a model (spec: contracts, "Model"). `project` is the provider that the project uses, and `from_database` the
/// override of the agent's profile.
pub(crate) fn resolve_model(
    installation: &Installation,
    config: &ProjectConfig,
    project: Option<&str>,
    library: &PromptLibrary,
    from_database: &ModelChoice,
    asker: Asker<'_>,
) -> Option<ResolvedModel> {
    let providers = asker.providers(config, project);
    let choice = |text: &String| ModelChoice::parse(text).ok();
    let ready = PhaseName::parse(PhaseName::READY).ok();
    let (own, issue, profile, phase) = match asker {
        Asker::Agent(profile, phase, issue) => (None, issue, profile, phase),
        // a plan's phase counts as the phase `ready`, without its contract
        Asker::PlanPhase(_, own) => (own, None, None, ready.as_ref()),
    };
    let plan_phase = own.and_then(|own| ModelChoice::parse(own).ok());
    let project_phase = phase
        .and_then(|phase| config.phase_models.get(phase))
        .and_then(choice);
    let contract = match asker {
        Asker::Agent(..) => phase.and_then(|phase| library.pipeline.get(phase)),
        Asker::PlanPhase(..) => None,
    };
    let project = config.model.as_ref().and_then(choice);
    let global = installation.config.defaults.model.as_ref().and_then(choice);
    let used = providers.resolve().map(|(used, _)| used);
    let of_provider = used.and_then(|used| config.providers.model_of(used));
    let of_provider = of_provider.and_then(|model| ModelChoice::parse(model).ok());
    ModelLayers {
        issue: issue.and_then(|issue| issue.model.as_ref()),
        plan_phase: plan_phase.as_ref(),
        project_phase: project_phase.as_ref(),
        contract: contract.map(|contract| &contract.model),
        profile: profile.map(|profile| &profile.model),
        database_profile: Some(from_database),
        project: project.as_ref(),
        global: global.as_ref(),
        provider: of_provider.as_ref(),
    }
    .resolve(&providers)
}

/// The provider of an agent, and where it is set.
#[derive(Debug)]
pub struct ChosenProvider {
    /// The provider, or why it cannot be used.
    pub provider: Result<String, String>,
    /// Where it is set; `None` if no provider is set and none was found.
    pub source: Option<ProviderSource>,
}

/// Resolves the provider of an agent apart from what single issues say.
pub fn provider_of_agent(
    installation: &Installation,
    config: &ProjectConfig,
    library: &PromptLibrary,
    agent: &AgentType,
) -> ChosenProvider {
    let asker = Asker::Agent(library.profile(agent), None, None);
    let project = installation.usable_provider(config, config.provider.clone());
    choose(installation, config, &project, asker)
}

fn choose(
    installation: &Installation,
    config: &ProjectConfig,
    project: &Result<String, String>,
    asker: Asker<'_>,
) -> ChosenProvider {
    let layers = ProviderLayers {
        is_configured: config.provider.named().is_some(),
        ..asker.providers(config, project.as_deref().ok())
    };
    let chosen = layers.resolve();
    let provider = match chosen {
        None | Some((_, ProviderSource::Project | ProviderSource::Found)) => project.clone(),
        Some((name, _)) => installation.usable_named_provider(config, name),
    };
    ChosenProvider {
        provider,
        source: chosen.map(|(_, source)| source),
    }
}

/// Resolves what an agent that works on an issue would run with now.
///
/// # Errors
/// When the configuration, the prompts or the database cannot be read.
pub fn next_author(
    session: &Session,
    issue: &Issue,
    agent: &AgentType,
) -> Result<(ChosenProvider, Option<ResolvedModel>), RunnerError> {
    let (installation, store) = (&session.installation, &session.store);
    let config = installation.project_config(&store.project(&issue.project)?)?;
    let library = installation.library(&config)?;
    let project = installation.usable_provider(&config, config.provider.clone());
    let overrides = store.overrides(agent, &issue.project)?.effective();
    let target = RunTarget::Issue(issue.id.clone());
    let phase = phase_of_model(&target, agent, issue.phase().as_ref());
    let asker = Asker::Agent(library.profile(agent), phase.as_ref(), Some(&issue.choice));
    let model = resolve_model(
        installation,
        &config,
        project.as_deref().ok(),
        &library,
        &overrides.model,
        asker,
    );
    Ok((choose(installation, &config, &project, asker), model))
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
    let named = named_by_issues(&observed.snapshot);
    for (id, (project, config)) in &observed.projects {
        let (Some(config), Some(view)) = (config, observed.snapshot.projects.get_mut(id)) else {
            continue;
        };
        match installation.library(config) {
            Ok(library) => {
                let place = Place {
                    installation,
                    config,
                    provider: view.provider.as_deref().ok(),
                    library: &library,
                };
                let of_issues = named.get(id).into_iter().flatten();
                let of_issues = of_issues.map(|name| config.providers.full_name(name));
                view.models = asked_models(place, store, project, of_issues)?;
            }
            Err(error) => {
                problems.push(format!("project {id}: {error}"));
                *view = ProjectView::broken(error.to_string());
            }
        }
    }
    Ok(problems)
}

/// Returns the providers that issues name which could start, by project.
pub(crate) fn named_by_issues(snapshot: &Snapshot) -> BTreeMap<ProjectId, BTreeSet<String>> {
    let mut named: BTreeMap<ProjectId, BTreeSet<String>> = BTreeMap::new();
    for candidate in &snapshot.candidates {
        if let Some(provider) = &candidate.choice.provider {
            let of_project = named.entry(candidate.project.clone()).or_default();
            of_project.insert(provider.clone());
        }
    }
    named
}

/// Where the models of a project are configured.
#[derive(Clone, Copy)]
struct Place<'a> {
    installation: &'a Installation,
    config: &'a ProjectConfig,
    /// The provider that the project uses, if it has one.
    provider: Option<&'a str>,
    library: &'a PromptLibrary,
}

impl Place<'_> {
    fn resolve(self, from_database: &ModelChoice, asker: Asker<'_>) -> Option<String> {
        let found = resolve_model(
            self.installation,
            self.config,
            self.provider,
            self.library,
            from_database,
            asker,
        );
        found.map(|model| model.model.as_str().to_owned())
    }
}

/// Returns the models that the agents of a project use, also on issues that name one of these providers.
fn asked_models<'a>(
    place: Place<'_>,
    store: &Store,
    project: &Project,
    of_issues: impl Iterator<Item = &'a str>,
) -> Result<AskedModels, RunnerError> {
    let library = place.library;
    let mut models = AskedModels::default();
    let mut agents: Vec<AgentType> = AgentType::SHIPPED.to_vec();
    agents.push(AgentType::Wizard);
    agents.extend(library.pipeline.iter().map(|c| c.dispatch_profile.clone()));
    agents.sort();
    agents.dedup();
    let mut phases: Vec<Option<PhaseName>> = vec![None, PhaseName::parse(PhaseName::READY).ok()];
    phases.extend(library.pipeline.iter().map(|c| Some(c.phase.clone())));
    let mut choices = vec![AgentChoice::default()];
    choices.extend(of_issues.map(|name| AgentChoice {
        provider: Some(name.to_owned()),
        model: None,
    }));
    for agent in agents {
        let overrides = store.overrides(&agent, &project.id)?.effective();
        for phase in &phases {
            for choice in &choices {
                let profile = library.profile(&agent);
                let asker = Asker::Agent(profile, phase.as_ref(), Some(choice));
                if let Some(model) = place.resolve(&overrides.model, asker) {
                    let of_issue = choice.provider.clone();
                    models.set(agent.clone(), phase.clone(), of_issue, model);
                }
            }
        }
        if agent == AgentType::Worker {
            let asker = Asker::PlanPhase(None, None);
            models.set_for_plans(place.resolve(&overrides.model, asker));
        }
    }
    Ok(models)
}

//! What a tick reads: projects and their configuration, runs and whether their locks are held, candidates.

use std::collections::BTreeMap;

use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::command_line::text_elsewhere;
use symphony_core::config::{ProjectConfig, ProviderName};
use symphony_core::contract::Pipeline;
use symphony_core::exit_handling::ExitFault;
use symphony_core::id::{PhaseName, ProjectId};
use symphony_core::placement::{Liveness, Whereabouts};
use symphony_core::spending::is_capped;
use symphony_core::tick::{
    AskedModels, LockState, NamedProviders, OpenPlan, PlanDriver, ProjectAgents, ProjectView,
    SlotLimits, Snapshot,
};
use symphony_core::watchdog::Watch;
use symphony_store::{Project, SnapshotRequest, Store};

use super::base_gates::look_at_base_gates;
use super::effects::{Effects, LocalEffects};
use super::holder::stuck_tick;
use super::observed::{KnownProject, Observed};
use super::outside::{look_at_bases, look_for_obstacles};
use super::proposals::look_at_proposals;
use crate::error::RunnerError;
use crate::gates::shown_gates;
use crate::installation::Installation;
use crate::models::{named_by_issues, read_models};
use crate::plan::is_plan_driven;
use crate::prompts::folder::require_folder;
use crate::prompts::library::PromptLibrary;
use crate::prompts::live_trial::require_sets;
use crate::repository::require_base;
use crate::upkeep::kept_documents::lost_documents;
use crate::upkeep::left_worktrees::left_worktrees;
use crate::upkeep::leftovers::whose;

/// Reads everything that the plan depends on.
///
/// # Errors
/// When the database cannot be read.
pub fn observe_snapshot(
    installation: &Installation,
    store: &mut Store,
    now: Timestamp,
) -> Result<Snapshot, RunnerError> {
    Ok(observe_only(installation, store, now)?.snapshot)
}

/// As [`observe_snapshot`], for whoever asks about issues that are not ready to be dispatched: with the phases of all projects.
///
/// # Errors
/// As [`observe_snapshot`].
pub fn observe_with_phases(
    installation: &Installation,
    store: &mut Store,
    now: Timestamp,
) -> Result<Snapshot, RunnerError> {
    let mut observed = observe_only(installation, store, now)?;
    let _told_by_ticks = read_phases(installation, &mut observed, |_, _| true);
    Ok(observed.snapshot)
}

/// As [`observe`], for whoever does not act.
fn observe_only(
    installation: &Installation,
    store: &mut Store,
    now: Timestamp,
) -> Result<Observed, RunnerError> {
    let mut effects = LocalEffects::new(installation);
    let (mut observed, _told_by_ticks) = observe(installation, store, &mut effects, now)?;
    observed.snapshot.stuck_tick = stuck_tick(installation);
    Ok(observed)
}

/// As [`observe_snapshot`], with what acting needs, and the problems of projects.
pub(crate) fn observe(
    installation: &Installation,
    store: &mut Store,
    effects: &mut LocalEffects<'_>,
    now: Timestamp,
) -> Result<(Observed, Vec<String>), RunnerError> {
    let mut known = Vec::new();
    let mut problems = Vec::new();
    for project in store.projects()? {
        // A project with a broken configuration does not stop the others.
        let (view, config) = match view(installation, &project) {
            Ok((view, config)) => (view, Some(config)),
            Err(error) => {
                problems.push(format!("project {}: {error}", project.id));
                (ProjectView::broken(error.to_string()), None)
            }
        };
        known.push(KnownProject {
            project,
            config,
            view,
        });
    }
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let slots = SlotLimits {
        total: u32::try_from(installation.config.slots(cpus)).unwrap_or(u32::MAX),
        by_agent: installation
            .config
            .profiles
            .iter()
            .filter_map(|(agent, limits)| Some((agent.clone(), limits.max_concurrency?)))
            .collect(),
        gates: installation.gate_slots(),
    };
    let mut observed = look(store, effects, known, slots, now)?;
    problems.extend(read_phases(
        installation,
        &mut observed,
        Snapshot::needs_phases,
    ));
    check_providers_of_issues(installation, &mut observed);
    problems.extend(read_models(installation, store, &mut observed)?);
    problems.extend(require_bases(&mut observed));
    problems.extend(look_at_bases(store, &mut observed));
    look_for_obstacles(store, &mut observed)?;
    look_at_proposals(installation, store, &mut observed)?;
    let (left, failed) = in_each_project(&observed, "temporary worktrees", |project, config| {
        left_worktrees(store, project, config)
    });
    observed.snapshot.left_worktrees.extend(left);
    problems.extend(failed);
    let (lost, failed) = in_each_project(&observed, "documents", |project, config| {
        lost_documents(store, project, config)
    });
    observed.snapshot.lost_documents.extend(lost);
    problems.extend(failed);
    add_gates(installation, store, &mut observed)?;
    problems.extend(look_at_base_gates(store, &mut observed, now));
    observed.snapshot.plans = plans(store, &observed.projects)?;
    Ok((observed, problems))
}

/// Looks for something in each project whose configuration can be read; returns what was found, and what failed.
fn in_each_project<T>(
    observed: &Observed,
    what: &str,
    look: impl Fn(&Project, &ProjectConfig) -> Result<Vec<T>, RunnerError>,
) -> (Vec<T>, Vec<String>) {
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    for (id, (project, config)) in &observed.projects {
        let Some(config) = config else {
            continue;
        };
        match look(project, config) {
            Ok(some) => found.extend(some),
            // git was cut off, the machine is full, or there is no base (which is reported itself): the next look finds them
            Err(error) if error.exit_fault() == ExitFault::Machine => {
                tracing::warn!(project = %id, %error, "{what} were not looked for");
            }
            Err(error) => problems.push(format!(
                "project {id}: its {what} were not checked: {error}"
            )),
        }
    }
    (found, problems)
}

/// Returns the plans that have not ended, and who runs them.
fn plans(
    store: &Store,
    projects: &BTreeMap<ProjectId, (Project, Option<ProjectConfig>)>,
) -> Result<Vec<OpenPlan>, RunnerError> {
    let mut plans = store.plans_under_way()?;
    for plan in &mut plans {
        let Some((project, config)) = projects.get(&plan.project) else {
            continue;
        };
        plan.driver = match config {
            _ if is_plan_driven(project, &plan.plan)? => PlanDriver::Command,
            // With a broken configuration, ticks still run the plan. The configuration is reported in the inbox.
            None => PlanDriver::Tick,
            Some(config) if config.plan.by_tick || plan.awaits_review() => PlanDriver::Tick,
            Some(_) => PlanDriver::None,
        };
    }
    Ok(plans)
}

/// Adds the phases of projects that use the shipped ones, but only where they are needed: a tick with nothing to do
/// would spend a quarter of its time on them.
fn read_phases(
    installation: &Installation,
    observed: &mut Observed,
    needs: impl Fn(&Snapshot, &ProjectId) -> bool,
) -> Vec<String> {
    let mut problems = Vec::new();
    for (id, (_, config)) in &observed.projects {
        let needed = config.as_ref().filter(|_| needs(&observed.snapshot, id));
        let (Some(config), Some(view)) = (needed, observed.snapshot.projects.get_mut(id)) else {
            continue;
        };
        if !view.phases.is_empty() || installation.has_own_prompts(config) {
            continue;
        }
        match installation.library(config) {
            Ok(library) => view.phases = phases_of(&library.pipeline),
            Err(error) => {
                problems.push(format!("project {id}: {error}"));
                *view = ProjectView::broken(error.to_string());
            }
        }
    }
    problems
}

/// Puts projects on hold whose work could not start, so that no run is wasted on finding that out. A project without
/// waiting work is skipped.
fn require_bases(observed: &mut Observed) -> Vec<String> {
    let mut problems = Vec::new();
    for (id, (project, config)) in &observed.projects {
        let needed = config.as_ref().filter(|_| observed.snapshot.needs_base(id));
        if let Some(Err(problem)) = needed.map(|config| require_base(project, config))
            && let Some(view) = observed.snapshot.projects.get_mut(id)
        {
            let mut text = problem.to_string();
            // The same text in whichever folder a tick runs, so that a problem that persists is mailed once.
            if observed.projects.len() > 1 && project.root.is_dir() {
                text = text_elsewhere(&text, &project.root.display().to_string());
            }
            problems.push(format!("project {id} is on hold: {text}"));
            view.no_base = Some(problem.into());
        }
    }
    problems
}

/// Reads the locks of runs and the database, for projects that were already read.
///
/// # Errors
/// When the database cannot be read, or a lock cannot be checked.
pub fn look(
    store: &mut Store,
    effects: &mut impl Effects,
    known: Vec<KnownProject>,
    slots: SlotLimits,
    now: Timestamp,
) -> Result<Observed, RunnerError> {
    let mut projects = BTreeMap::new();
    let mut views = BTreeMap::new();
    let mut caps = BTreeMap::new();
    for known in known {
        let id = known.project.id.clone();
        views.insert(id.clone(), known.view);
        if let Some(config) = known.config.as_ref().filter(|c| is_capped(&c.spending)) {
            caps.insert(id.clone(), config.spending);
        }
        projects.insert(id, (known.project, known.config));
    }
    let mut locks = BTreeMap::new();
    let mut watched = BTreeMap::new();
    // Locks are checked before the snapshot is read. A run that ends in between is not live in it; in the other order,
    // its free lock would make it look crashed.
    for run in store.live_runs()? {
        // Its lock is on another host, if anywhere: only its beats say whether it lives.
        if run.pool.is_some() {
            continue;
        }
        if let Some((project, config)) = projects.get(&run.project) {
            let lock = effects.lock_state(project, &run.id)?;
            if lock == LockState::Held {
                match effects.watch(project, config.as_ref(), &run.id)? {
                    Watch::InTime => {}
                    seen => drop(watched.insert(run.id.clone(), seen)),
                }
            }
            locks.insert(run.id.clone(), lock);
        }
    }
    let mut leftovers = Vec::new();
    for (project, config) in projects.values() {
        let mut unfinished = effects.unfinished(project)?;
        unfinished.retain(|unfinished| !locks.contains_key(&unfinished.run));
        leftovers.extend(whose(store, project, config.as_ref(), unfinished)?);
    }
    let request = SnapshotRequest {
        projects: views,
        slots,
        locks,
        caps,
        lease: effects.lease(),
    };
    let mut snapshot = store.load_snapshot(request, now)?;
    snapshot.leftovers = leftovers;
    let control = effects.control();
    for live in &mut snapshot.live {
        // A control that died took it back, or out of its pool, and did not end it: no host has it.
        if let Whereabouts::Begun { host, liveness, .. } = &mut live.whereabouts
            && *host == control
        {
            *liveness = Liveness::Lost;
        }
    }
    snapshot.watched = watched;
    Ok(Observed { snapshot, projects })
}

fn view(
    installation: &Installation,
    project: &Project,
) -> Result<(ProjectView, ProjectConfig), RunnerError> {
    let config = installation.project_config(project)?;
    // A project whose prompts cannot be read is not dispatched, since each of its runs would fail.
    require_folder(installation, &config, &project.root, &project.id)?;
    require_sets(installation, &config, &project.root, &project.id)?;
    let (pipeline, of_profiles) = if installation.has_own_prompts(&config) {
        let library = installation.library(&config)?;
        let of_profiles = providers_of_profiles(&library);
        (library.pipeline, of_profiles)
    } else {
        // those that ship leave the provider to the project
        Default::default()
    };
    let provider = installation
        .provider(&config)
        .map(|call| call.full_name().to_string())
        .map_err(|error| error.to_string());
    let mut view = project_view(&config, &pipeline, provider);
    view.decisive_paths = config.decisive_paths(&project.root);
    view.named_providers = NamedProviders {
        unusable: unusable(installation, &config, of_profiles.values()),
        full_names: full_names(&config),
        of_profiles,
    };
    Ok((view, config))
}

/// Returns the providers that the front matter of profiles names.
fn providers_of_profiles(library: &PromptLibrary) -> BTreeMap<AgentType, String> {
    let named = library.profiles.iter();
    named
        .filter_map(|profile| Some((profile.agent.clone(), profile.provider.clone()?)))
        .collect()
}

/// Returns the full names of providers that can also be named without their program.
fn full_names(config: &ProjectConfig) -> BTreeMap<String, String> {
    let short = ProviderName::Acp.name();
    let full = config.providers.full_name(short);
    BTreeMap::from([(short.to_owned(), full.to_owned())])
}

/// Returns which of these providers cannot be used, and why, by their full names.
fn unusable<'a>(
    installation: &Installation,
    config: &ProjectConfig,
    named: impl IntoIterator<Item = &'a String>,
) -> BTreeMap<String, String> {
    named
        .into_iter()
        .filter_map(|name| {
            let problem = installation.usable_named_provider(config, name).err()?;
            Some((config.providers.full_name(name).to_owned(), problem))
        })
        .collect()
}

/// Adds which of the providers that issues name cannot be used.
fn check_providers_of_issues(installation: &Installation, observed: &mut Observed) {
    for (id, named) in named_by_issues(&observed.snapshot) {
        let config = observed.projects.get(&id).and_then(|(_, c)| c.as_ref());
        let view = observed.snapshot.projects.get_mut(&id);
        if let (Some(config), Some(view)) = (config, view) {
            let unusable = unusable(installation, config, &named);
            view.named_providers.unusable.extend(unusable);
        }
    }
}

/// Adds the current gates of projects with open pull requests. Other projects are skipped, since this needs calls of
/// git and most ticks have nothing to do.
fn add_gates(
    installation: &Installation,
    store: &Store,
    observed: &mut Observed,
) -> Result<(), RunnerError> {
    for (id, (project, config)) in &observed.projects {
        if let (Some(config), Some(view)) = (config, observed.snapshot.projects.get_mut(id))
            && !store.open_into(id)?.is_empty()
        {
            view.gates = shown_gates(installation, project, config);
        }
    }
    Ok(())
}

/// Returns what dispatch needs to know about a project with this configuration, these phases and this provider.
pub fn project_view(
    config: &ProjectConfig,
    pipeline: &Pipeline,
    provider: Result<String, String>,
) -> ProjectView {
    ProjectView {
        max_concurrency: config.max_concurrency,
        pool: config.pool.clone(),
        max_retries: config.max_retries,
        max_backoff_ms: config.max_retry_backoff_ms.get(),
        breaker_target: config.circuit_breaker_status,
        provider,
        named_providers: NamedProviders::default(),
        models: AskedModels::default(),
        judge_enabled: config.judge_enabled,
        auto_done: config.auto_done,
        judge_cooldown_ms: config.judge_cooldown_ms.get(),
        planner_enabled: config.planner_enabled,
        researcher_enabled: config.researcher_enabled,
        migration_mode: config.migration_mode,
        max_open_reviews: config.max_open_reviews,
        open_reviews: 0,
        phases: phases_of(pipeline),
        decisive_paths: Vec::new(),
        agents: ProjectAgents {
            wizard_enabled: config.wizard_enabled,
            intake_enabled: config.intake_enabled,
            scanner_enabled: config.scanner_enabled,
            background_research: config.background_research,
            idle_interval_ms: config.scanner_interval_ms.get(),
            ..ProjectAgents::default()
        },
        gate_names: config.gates.iter().map(|gate| gate.name.clone()).collect(),
        gates: Vec::new(),
        untried_gates: Vec::new(),
        base_gates: None,
        broken: None,
        no_base: None,
    }
}

/// Returns the profile that is dispatched for each phase.
fn phases_of(pipeline: &Pipeline) -> BTreeMap<PhaseName, AgentType> {
    pipeline
        .iter()
        .map(|contract| (contract.phase.clone(), contract.dispatch_profile.clone()))
        .collect()
}

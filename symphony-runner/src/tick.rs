//! One tick: observe, decide (in `symphony-core`), commit, act, record (spec: orchestrator).

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::time::{Duration, Instant};

use symphony_core::Timestamp;
use symphony_core::config::ProjectConfig;
use symphony_core::id::{IssueId, ProjectId, RunId};
use symphony_core::issue::IssueEvent;
use symphony_core::run::{ProtectionLevel, Run};
use symphony_core::tick::{
    Action, LockState, Plan, ProjectView, SlotLimits, Snapshot, StartRun, plan_tick,
};
use symphony_store::{ClaimRequest, Context, Project, SnapshotRequest, Store};

use crate::clean_up::clean_up;
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::paths::RunPaths;
use crate::process::{
    DetachedLaunch, DetachedSupervisor, LockState as FileLock, RunLock, lock_state, sweep_marked,
};
use crate::supervise::SuperviseMode;

/// How long `--wait` waits for its turn: longer than any tick takes.
const TURN_WAIT_MAX: Duration = Duration::from_mins(1);
/// Time between two looks at a lock or a run.
const LOOK: Duration = Duration::from_millis(100);

/// How a tick is made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TickOptions {
    /// Only plan.
    pub dry_run: bool,
    /// Wait for the turn when another tick is at work.
    pub wait_for_lock: bool,
}

/// What came of a tick.
#[derive(Debug)]
pub enum TickOutcome {
    /// It was made.
    Done(TickReport),
    /// Another one is at work.
    Busy,
}

/// What a tick did.
#[derive(Debug, Default)]
pub struct TickReport {
    /// What was planned.
    pub plan: Plan,
    /// The runs that were started.
    pub started: Vec<Run>,
    /// Their supervisors, and those that finish crashed runs. A process that goes on asks them now and then whether
    /// they have ended ([`DetachedSupervisor::try_wait`]); they outlive one that does not.
    pub supervisors: Vec<DetachedSupervisor>,
    /// What was done, a line each.
    pub lines: Vec<String>,
    /// What could not be done, a line each; the next tick tries again.
    pub problems: Vec<String>,
}

/// Makes one tick.
///
/// # Errors
/// When the database can not be read or written, or no turn came within a minute.
pub fn tick(installation: &Installation, options: TickOptions) -> Result<TickOutcome, RunnerError> {
    let mut store = installation.open_store()?;
    let Some(_turn) = take_turn(installation, options)? else {
        return Ok(TickOutcome::Busy);
    };
    let now = Timestamp::now();
    let world = observe(installation, &mut store, now)?;
    let plan = plan_tick(&world.snapshot, now);
    let mut report = TickReport {
        plan,
        problems: world.problems.clone(),
        ..TickReport::default()
    };
    if !options.dry_run {
        store.record_tick(now)?;
        act(installation, &mut store, &world, &mut report)?;
    }
    Ok(TickOutcome::Done(report))
}

/// Takes the lock that makes ticks take turns; it is given up when the value is dropped.
fn take_turn(
    installation: &Installation,
    options: TickOptions,
) -> Result<Option<File>, RunnerError> {
    let path = installation.tick_lock();
    let failed = |error| RunnerError::io("lock", &path, error);
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(failed)?;
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(RunnerError::io("lock", &path, error)),
        }
        if !options.wait_for_lock || begun.elapsed() > TURN_WAIT_MAX {
            return Ok(None);
        }
        std::thread::sleep(LOOK);
    }
}

/// What a tick saw.
#[derive(Debug)]
struct World {
    snapshot: Snapshot,
    projects: BTreeMap<ProjectId, (Project, Option<ProjectConfig>)>,
    problems: Vec<String>,
}

/// Reads everything that the plan depends on.
///
/// # Errors
/// When the database can not be read.
pub fn observe_snapshot(
    installation: &Installation,
    store: &mut Store,
    now: Timestamp,
) -> Result<Snapshot, RunnerError> {
    Ok(observe(installation, store, now)?.snapshot)
}

fn observe(
    installation: &Installation,
    store: &mut Store,
    now: Timestamp,
) -> Result<World, RunnerError> {
    let mut projects = BTreeMap::new();
    let mut views = BTreeMap::new();
    let mut problems = Vec::new();
    for project in store.projects()? {
        // one project with a broken configuration does not stop the others
        let (view, config) = match view(installation, &project) {
            Ok((view, config)) => (view, Some(config)),
            Err(error) => {
                problems.push(format!("project {}: {error}", project.id));
                (ProjectView::broken(error.to_string()), None)
            }
        };
        views.insert(project.id.clone(), view);
        projects.insert(project.id.clone(), (project, config));
    }
    let mut locks = BTreeMap::new();
    for run in store.live_runs()? {
        let Some((project, _)) = projects.get(&run.project) else {
            continue;
        };
        let path = RunPaths::new(&project.root, &run.id).lock();
        let state = match lock_state(&path)? {
            FileLock::Held => LockState::Held,
            FileLock::Free | FileLock::Missing => LockState::Free,
        };
        locks.insert(run.id, state);
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
    };
    let snapshot = store.load_snapshot(
        SnapshotRequest {
            projects: views,
            slots,
            locks,
        },
        now,
    )?;
    Ok(World {
        snapshot,
        projects,
        problems,
    })
}

fn view(
    installation: &Installation,
    project: &Project,
) -> Result<(ProjectView, ProjectConfig), RunnerError> {
    let config = installation.project_config(project)?;
    // a project whose prompts can not be read is not dispatched: every run of it would fail
    installation.library(&config)?;
    let provider = installation.provider(&config);
    let view = ProjectView {
        max_concurrency: config.max_concurrency,
        max_retries: config.max_retries,
        max_backoff_ms: config.max_retry_backoff_ms.get(),
        breaker_target: config.circuit_breaker_status,
        provider: provider
            .map(|call| call.name().to_string())
            .map_err(|error| error.to_string()),
        judge_enabled: config.judge_enabled,
        judge_cooldown_ms: config.judge_cooldown_ms.get(),
        planner_enabled: config.planner_enabled,
        researcher_enabled: config.researcher_enabled,
        migration_mode: config.migration_mode,
        max_open_reviews: config.max_open_reviews,
        open_reviews: 0,
        // only what `supervise` can carry out is dispatched: of the pipeline, that is the phase `ready`
        phases: BTreeMap::new(),
        broken: None,
    };
    Ok((view, config))
}

/// Carries the plan out. What fails is said and left to the next tick.
fn act(
    installation: &Installation,
    store: &mut Store,
    world: &World,
    report: &mut TickReport,
) -> Result<(), RunnerError> {
    let actions = std::mem::take(&mut report.plan.actions);
    let mut starts = Vec::new();
    let mut last = Vec::new();
    for action in &actions {
        match action {
            Action::FinishCrashed { run, .. } => {
                match finish_crashed(installation, store, world, run) {
                    Ok((line, supervisor)) => {
                        report.lines.push(line);
                        report.supervisors.push(supervisor);
                    }
                    Err(error) => report.problems.push(format!("run {run}: {error}")),
                }
            }
            Action::Unblock { issue } => match unblock(store, issue) {
                Ok(line) => report.lines.push(line),
                Err(error) => report.problems.push(format!("{issue}: {error}")),
            },
            Action::OpenBreaker { issue } => match open_breaker(store, world, issue) {
                Ok(line) => report.lines.push(line),
                Err(error) => report.problems.push(format!("{issue}: {error}")),
            },
            Action::StartRun(start) => starts.push(start),
            Action::CleanUp { issue, project } => last.push((issue, project)),
        }
    }
    start_runs(installation, store, world, &starts, report)?;
    // removing a large worktree takes a while: it comes when everything else has been started
    for (issue, project) in last {
        let Some((project, Some(config))) = world.projects.get(project) else {
            continue;
        };
        match clean_up(store, project, config, issue) {
            Ok(line) => report.lines.push(line),
            Err(error) => report
                .problems
                .push(format!("{issue}: its worktree stays for now: {error}")),
        }
    }
    report.plan.actions = actions;
    Ok(())
}

/// Ends what a dead supervisor left, and starts another one for the exit handling. The lock is held throughout.
fn finish_crashed(
    installation: &Installation,
    store: &Store,
    world: &World,
    id: &RunId,
) -> Result<(String, DetachedSupervisor), RunnerError> {
    let run = store.run(id)?;
    let Some((project, Some(_))) = world.projects.get(&run.project) else {
        return Err(RunnerError::refused(format!(
            "its exit handling waits: the configuration of project {} is broken",
            run.project
        )));
    };
    let paths = RunPaths::new(&project.root, id);
    paths.create()?;
    let lock = RunLock::acquire(paths.lock())?;
    let ended = sweep_marked(id)?;
    let supervisor = launch(
        installation,
        project,
        &paths,
        id,
        lock,
        SuperviseMode::Finish,
    )?;
    let line = format!(
        "run {id} crashed: ended {} processes it left, exit handling started",
        ended.count()
    );
    Ok((line, supervisor))
}

fn unblock(store: &mut Store, issue: &IssueId) -> Result<String, RunnerError> {
    store.close_subtasks(&Context::system(Timestamp::now()), issue)?;
    Ok(format!("{issue}: its sub-tasks have ended, it goes on"))
}

fn open_breaker(store: &mut Store, world: &World, issue: &IssueId) -> Result<String, RunnerError> {
    let context = Context::system(Timestamp::now());
    let found = store.issue(issue)?;
    let view = world.snapshot.projects.get(&found.project);
    let Some(view) = view else {
        return Err(RunnerError::refused("its project is gone"));
    };
    let comment = format!(
        "Circuit breaker: {} runs since the last progress (limit {}). `symphony issue retry {issue}` starts again.",
        found.counts.total_runs, view.max_retries
    );
    let event = IssueEvent::BreakerOpened {
        to: view.breaker_target,
    };
    store.move_issue_with_comment(&context, issue, &event, &comment)?;
    Ok(format!("{issue}: the circuit breaker opened"))
}

/// Claims runs, all in one transaction, and starts their supervisors.
fn start_runs(
    installation: &Installation,
    store: &mut Store,
    world: &World,
    starts: &[&StartRun],
    report: &mut TickReport,
) -> Result<(), RunnerError> {
    let mut requests = Vec::new();
    let mut locks = Vec::new();
    for start in starts {
        let Some((project, _)) = world.projects.get(&start.project) else {
            continue;
        };
        let run = RunId::parse(uuid::Uuid::now_v7().to_string()).expect("a UUID is a run id");
        let paths = RunPaths::new(&project.root, &run);
        // locked before it is claimed: there is no moment in which a live run has no holder
        let locked = paths
            .create()
            .and_then(|()| Ok(RunLock::acquire(paths.lock())?));
        match locked {
            Ok(lock) => {
                locks.push((project, paths, lock));
                let start = (*start).clone();
                requests.push(ClaimRequest {
                    run,
                    start,
                    protection: ProtectionLevel::None,
                });
            }
            Err(error) => report.problems.push(format!("{}: {error}", project.id)),
        }
    }
    let context = Context::system(Timestamp::now());
    let claims = store.claim(&context, &requests, world.snapshot.slots.total)?;
    for ((claim, request), (project, paths, lock)) in claims.into_iter().zip(&requests).zip(locks) {
        let what = describe(&request.start);
        match claim {
            Err(refusal) => {
                drop(lock);
                let _left = std::fs::remove_dir_all(&paths.dir);
                report.lines.push(format!("{what}: not started: {refusal}"));
            }
            // a supervisor that can not be started is a crash: the next tick does the exit handling
            Ok(run) => match launch(
                installation,
                project,
                &paths,
                &run.id,
                lock,
                SuperviseMode::Run,
            ) {
                Ok(supervisor) => {
                    report.supervisors.push(supervisor);
                    report.lines.push(format!("{what}: started run {}", run.id));
                    report.started.push(run);
                }
                Err(error) => report.problems.push(format!("{what}: {error}")),
            },
        }
    }
    Ok(())
}

fn describe(start: &StartRun) -> String {
    match start.target.issue() {
        Some(issue) => format!("{issue}: {}", start.agent),
        None => format!("{}: {}", start.project, start.agent),
    }
}

fn launch(
    installation: &Installation,
    project: &Project,
    paths: &RunPaths,
    run: &RunId,
    lock: RunLock,
    mode: SuperviseMode,
) -> Result<DetachedSupervisor, RunnerError> {
    let mut arguments = installation.arguments();
    arguments.extend(["supervise", "--run", run.as_str()].map(Into::into));
    if mode == SuperviseMode::Finish {
        arguments.push("--finish".into());
    }
    let launch = DetachedLaunch {
        executable: installation.executable.clone(),
        arguments,
        directory: project.root.clone(),
        log: paths.supervisor_log(),
        lock,
    };
    Ok(launch.spawn()?)
}

/// Waits until runs are over, exit handling included; calls back now and then.
///
/// # Errors
/// When the database can not be read.
pub fn wait_for(
    installation: &Installation,
    runs: &[RunId],
    mut progress: impl FnMut(&Store) -> Result<(), RunnerError>,
) -> Result<(), RunnerError> {
    let store = installation.open_store()?;
    loop {
        let mut live = false;
        for run in runs {
            live |= is_alive(&store, run)?;
        }
        progress(&store)?;
        if !live {
            return Ok(());
        }
        std::thread::sleep(LOOK);
    }
}

/// Says whether a run is live or its supervisor still there. A live run without one has crashed: waiting for it would
/// never end, the next tick finishes it.
fn is_alive(store: &Store, id: &RunId) -> Result<bool, RunnerError> {
    let run = store.run(id)?;
    let project = store.project(&run.project)?;
    Ok(lock_state(&RunPaths::new(&project.root, id).lock())? == FileLock::Held)
}

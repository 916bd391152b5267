//! Begins a plan, or resumes it.

use std::path::Path;

use symphony_core::Timestamp;
use symphony_core::config::ProjectConfig;
use symphony_core::id::{ID_CHARS_MAX, PlanId};
use symphony_core::outside::BaseLook;
use symphony_core::plan::state::{
    OnFailure, PlanEvent, PlanStatus, RetryMode, compare_plans, retry_failed,
};
use symphony_core::plan::{Isolation, Plan, PlanOptions};
use symphony_store::{Context, NewPlan, PlanRecord, PlanTarget, Project, Store, StoreError};
use symphony_workspace::{BranchName, Repository};

use super::conclude::Conclusion;
use super::drive::PlanDrive;
use super::refusal::PlanRunRefusal;
use super::state_file::{refuse_foreign, write_state_file};
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::person::as_person;
use crate::placement::control::take_host;
use crate::repository::open_repository;

/// The options of `plan run` that change how the plan is carried out; `None` leaves an option as it is.
#[derive(Debug, Clone, Default)]
pub struct OptionChanges {
    /// Most phases at once.
    pub max_parallel: Option<usize>,
    /// Where they work.
    pub isolation: Option<Isolation>,
    /// What happens to a phase that awaits a decision.
    pub on_failure: Option<OnFailure>,
    /// Whether failed phases are tried again.
    pub retry: Option<RetryMode>,
    /// Instructions for every phase.
    pub instructions: Option<String>,
}

impl OptionChanges {
    fn over(&self, options: &PlanOptions) -> PlanOptions {
        let mut changed = options.clone();
        if let Some(max_parallel) = self.max_parallel {
            changed.max_parallel = max_parallel;
        }
        if let Some(isolation) = self.isolation {
            changed.isolation = isolation;
        }
        if let Some(on_failure) = self.on_failure {
            changed.on_failure = on_failure;
        }
        if let Some(retry) = self.retry {
            changed.retry = retry;
        }
        if let Some(instructions) = &self.instructions {
            changed.instructions = Some(instructions.clone());
        }
        changed
    }
}

/// A request to carry out a plan.
#[derive(Debug, Clone)]
pub struct BeginRequest {
    /// The plan, if one was named; otherwise the last one of the file.
    pub plan: Option<PlanId>,
    /// Its file, as it is recorded.
    pub path: String,
    /// The current content of the file.
    pub document: Plan,
    /// How it is carried out.
    pub options: OptionChanges,
    /// Whether a changed file replaces the one that the plan began with.
    pub accept_changes: bool,
    /// Whether failed and aborted phases begin again.
    pub retry_failed: bool,
    /// Whether to start a new plan when the last one of this file has ended.
    pub start_new: bool,
}

/// The result of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begun {
    /// A plan was created.
    New,
    /// The plan was active, or is again.
    Resumed,
    /// The plan has ended, and the request does not reopen it.
    Ended,
}

/// Returns a plan file's path as it is recorded: relative to the project if it is inside.
pub fn recorded_path(project: &Project, file: &Path) -> String {
    let whole = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let inside = whole.strip_prefix(&project.root).unwrap_or(&whole);
    inside.display().to_string()
}

/// Begins a plan, or resumes the active one of this file; the caller holds its lock from then on. If another process
/// holds it, the plan is not changed.
///
/// # Errors
/// `PlanBusy` when another process drives it. When agents on another host use the database, the file of an active plan
/// was changed and the change is not accepted, a skill's state file is in the way, or the repository is not fit for it.
pub fn begin_plan<'a>(
    installation: &'a Installation,
    store: &mut Store,
    project: &Project,
    request: &BeginRequest,
) -> Result<(PlanDrive<'a>, PlanRecord, Begun), RunnerError> {
    refuse_foreign(&project.root)?;
    let config = installation.project_config(project)?;
    let take = |id: &PlanId| PlanDrive::take_or_wait(installation, project, id);
    let last = match &request.plan {
        Some(id) => Some(id.clone()),
        None => store.last_plan_of(&project.id, &request.path)?,
    };
    if let Some(id) = last {
        let mut drive = take(&id)?;
        // Read under the lock: until then a tick or another `plan run` may have moved the plan.
        let record = store.plan(&id)?;
        if !is_over(&record, request) {
            let isolation = request.options.over(&record.options).isolation;
            require_own_folder(&config, isolation)?;
            if !record.state.status.is_ended() {
                take_host(installation, store)?;
            }
            let (record, begun) = resume(store, record, request)?;
            write_state_file(store, project, &id)?;
            return Ok((drive, record, begun));
        }
        settle_last(store, &mut drive, &record, request)?;
    }
    let isolation = request.options.over(&PlanOptions::default()).isolation;
    require_own_folder(&config, isolation)?;
    let repository = open_repository(project, &config)?;
    take_host(installation, store)?;
    let record = create(store, project, &repository, request)?;
    let drive = take(&record.id)?;
    write_state_file(store, project, &record.id)?;
    Ok((drive, record, Begun::New))
}

/// Refuses to let confined agents work in the user's own folder: what they leave there, the user's own programs run.
fn require_own_folder(config: &ProjectConfig, isolation: Isolation) -> Result<(), PlanRunRefusal> {
    if isolation == Isolation::None && config.sandbox.is_on() {
        return Err(PlanRunRefusal::NotConfined(config.sandbox.level));
    }
    Ok(())
}

/// Concludes the last plan of the file before a new one begins, so that the user's branch has its work. If it cannot
/// have it, that stops a new plan only unless `--new` asked for one explicitly.
fn settle_last(
    store: &mut Store,
    drive: &mut PlanDrive<'_>,
    record: &PlanRecord,
    request: &BeginRequest,
) -> Result<(), RunnerError> {
    match drive.conclude(store)? {
        Conclusion::Left {
            branch,
            reason,
            command,
        } if !request.start_new => Err(PlanRunRefusal::WorkLeft {
            branch,
            plan: record.id.clone(),
            reason,
            command,
        }
        .into()),
        _ => Ok(()),
    }
}

/// Returns whether a new plan is begun instead of resuming this one. A plan whose work is done and whose file has
/// changed since is history; a failed one is not, unless a person says so.
fn is_over(record: &PlanRecord, request: &BeginRequest) -> bool {
    let has_ended = record.state.status.is_ended();
    let is_changed = !compare_plans(&record.document, &request.document).is_empty();
    let is_done = record.state.status == PlanStatus::Completed;
    has_ended && (request.start_new || (is_done && is_changed && !request.accept_changes))
}

fn resume(
    store: &mut Store,
    record: PlanRecord,
    request: &BeginRequest,
) -> Result<(PlanRecord, Begun), RunnerError> {
    let id = record.id.clone();
    if request.start_new {
        let under_way = symphony_store::PlanRefusal::UnderWay {
            path: record.path,
            other: id,
            waiting: None,
        };
        return Err(StoreError::from(under_way).into());
    }
    let options = request.options.over(&record.options);
    if options.isolation != record.options.isolation {
        return Err(PlanRunRefusal::IsolationFixed {
            plan: id,
            isolation: record.options.isolation,
        }
        .into());
    }
    let context = as_person(Timestamp::now());
    let record = accept(store, record, request)?;
    if options != record.options {
        store.set_plan_options(&context, &id, &options)?;
    }
    let orders = |record: &PlanRecord, _: &_| {
        let mut events = Vec::new();
        if request.retry_failed {
            events.extend(retry_failed(&record.state).events);
        }
        if record.state.status == PlanStatus::Paused {
            events.push(PlanEvent::Resumed);
        }
        Ok((events, ()))
    };
    let (record, ()) = store.change_plan(&context, &id, orders)?;
    let begun = if record.state.status.is_ended() {
        Begun::Ended
    } else {
        Begun::Resumed
    };
    Ok((record, begun))
}

/// Replaces the plan's document by the current file if that was requested; refuses any other change.
fn accept(
    store: &mut Store,
    record: PlanRecord,
    request: &BeginRequest,
) -> Result<PlanRecord, RunnerError> {
    let changes = compare_plans(&record.document, &request.document);
    if changes.is_empty() {
        return Ok(record);
    }
    if request.accept_changes {
        let context = as_person(Timestamp::now());
        return Ok(store.accept_plan_changes(&context, &record.id, &request.document)?);
    }
    let kinds = [
        ("added", &changes.added),
        ("removed", &changes.removed),
        ("changed", &changes.changed),
    ];
    let told: Vec<String> = kinds
        .iter()
        .filter(|(_, phases)| !phases.is_empty())
        .map(|(what, phases)| format!("{what}: {}", phases.join(", ")))
        .collect();
    Err(PlanRunRefusal::FileChanged {
        path: record.path,
        plan: record.id,
        changes: told.join("; "),
        has_ended: record.state.status.is_ended(),
    }
    .into())
}

fn create(
    store: &mut Store,
    project: &Project,
    repository: &Repository,
    request: &BeginRequest,
) -> Result<PlanRecord, RunnerError> {
    let options = request.options.over(&PlanOptions::default());
    let target = match options.isolation {
        Isolation::None => None,
        Isolation::Worktree => {
            // Otherwise each phase would run into it, and ask.
            repository.require_filters()?;
            repository.require_own_branches()?;
            Some(target(repository)?)
        }
    };
    let new = NewPlan {
        id: free_id(store, repository, &request.path)?,
        project: project.id.clone(),
        path: request.path.clone(),
        document: request.document.clone(),
        options,
        target,
    };
    let record = store.create_plan(&as_person(Timestamp::now()), &new)?;
    begin_looking(store, &record)?;
    Ok(record)
}

/// Starts watching the target branch at the commit where the plan begins: commits that agents bring there before any
/// tick has looked are found, too.
fn begin_looking(store: &mut Store, record: &PlanRecord) -> Result<(), RunnerError> {
    let Some(target) = &record.target else {
        return Ok(());
    };
    if store.base_look(&record.project, &target.branch)?.is_some() {
        return Ok(());
    }
    let look = BaseLook {
        project: record.project.clone(),
        branch: target.branch.clone(),
        head: target.base_commit.clone(),
        since: None,
        prs: Vec::new(),
    };
    Ok(store.record_base_look(&Context::system(Timestamp::now()), &look)?)
}

/// Prefix of the names of plans' branches.
const PLAN_BRANCHES: &str = "symphony/plan-";

/// The branch that the user has checked out, or else the project's base branch: where the plan's work begins and goes.
fn target(repository: &Repository) -> Result<PlanTarget, RunnerError> {
    let base = match repository.checked_out()? {
        Some(base) => base,
        None => repository.base()?,
    };
    let name = base.branch.as_str();
    if name.starts_with(PLAN_BRANCHES) {
        let branch = name.to_owned();
        return Err(PlanRunRefusal::OnPlanBranch(branch).into());
    }
    Ok(PlanTarget {
        branch: base.branch.as_str().to_owned(),
        base_commit: base.commit.as_str().to_owned(),
    })
}

/// Creates an id from the file's name that neither a plan nor a branch has: a branch from a lost database is not
/// reused.
fn free_id(store: &Store, repository: &Repository, path: &str) -> Result<PlanId, RunnerError> {
    let stem = slug(path);
    let branches = repository.branches()?;
    for number in 1_u32.. {
        let text = match number {
            1 => stem.clone(),
            number => format!("{stem}-{number}"),
        };
        let id = PlanId::parse(text).map_err(|error| RunnerError::refused(error.to_string()))?;
        let base = BranchName::of_plan_base(&id);
        let folder = base.as_str().trim_end_matches("base");
        let is_taken = branches.iter().any(|branch| branch.starts_with(folder));
        if !store.has_plan(&id)? && !is_taken {
            return Ok(id);
        }
    }
    let path = path.to_owned();
    Err(PlanRunRefusal::NoIdLeft(path).into())
}

/// Most characters of a file's name in its plan's id, which is part of branch and folder names.
const STEM_CHARS_MAX: usize = ID_CHARS_MAX / 2;

fn slug(path: &str) -> String {
    let name = Path::new(path)
        .file_stem()
        .map(|stem| stem.to_string_lossy().to_ascii_lowercase())
        .unwrap_or_default();
    let plain: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let parts: Vec<&str> = plain.split('-').filter(|part| !part.is_empty()).collect();
    let joined = parts.join("-");
    let short: String = joined.chars().take(STEM_CHARS_MAX).collect();
    let short = short.trim_matches('-');
    if short.is_empty() { "plan" } else { short }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn ids_come_from_the_name_of_the_file() {
        for (path, id) in [
            ("plan.md", "plan"),
            ("docs/Ship It (v2).md", "ship-it-v2"),
            ("/home/me/.claude/plans/big--plan_.md", "big-plan"),
            ("계획.md", "plan"),
            (".md", "md"),
            (
                &format!("{}.md", "long-".repeat(20)),
                "long-long-long-long-long-long-lo",
            ),
        ] {
            assert_eq!(slug(path), id, "{path}");
        }
    }
}

//! Gates that were added or changed since they last passed on the base. A tick tries them there before it pays an
//! agent.

use sha2::{Digest, Sha256};
use symphony_core::config::{Gate, ProjectConfig};
use symphony_core::gates::{BaseDigests, BaseGates, GateToTry, untried_gates};
use symphony_core::hold::Hold;
use symphony_mcp::StoreThread;
use symphony_store::{Context, Project, Store};
use symphony_workspace::CommitId;

use super::confinement;
use super::digest::{add, green_digest, tried_digest};
use crate::error::RunnerError;
use crate::repository::open_repository;
use crate::supervise::Job;

/// Returns the required gates of a configuration, each with a digest of its configuration.
///
/// The digest leaves out commit and environment: the base moves with each merge, whose gates ran on the merged files,
/// and a person's shell and cron have different environments.
fn gates_to_try(config: &ProjectConfig) -> Vec<GateToTry> {
    let digest = |gate: &Gate| {
        let said = (
            &config.base_branch,
            &gate.name,
            &gate.command,
            &config.worktree.setup,
            &config.worktree.copy,
            &config.env,
        );
        let said = serde_json::to_vec(&said).expect("a configuration has string keys only");
        let mut digest = Sha256::new_with_prefix(said);
        for part in confinement::said(&config.sandbox) {
            add(&mut digest, &part);
        }
        format!("{:x}", digest.finalize())
    };
    let required = config.gates.iter().filter(|gate| gate.required);
    required
        .map(|gate| GateToTry {
            name: gate.name.clone(),
            digest: digest(gate),
        })
        .collect()
}

/// Returns the names of the gates that must be tried on the base before the next worker.
///
/// # Errors
/// When the database cannot be read, or there is no base branch.
pub(crate) fn untried(
    store: &Store,
    project: &Project,
    config: &ProjectConfig,
) -> Result<Vec<String>, RunnerError> {
    if !config.try_changed_gates {
        return Ok(Vec::new());
    }
    let passed = store.tried_gates(&project.id)?;
    let untried = untried_gates(&gates_to_try(config), &passed);
    if untried.is_empty() {
        return Ok(untried);
    }
    // A person has waived the trial for this very commit and configuration.
    let base = open_repository(project, config)?.base()?;
    let is_waived = passed.contains(&tried_digest(config, &base.commit));
    Ok(if is_waived { Vec::new() } else { untried })
}

/// Returns what is known about the gates of a project on its current base. `hold` is the hold that they placed.
///
/// # Errors
/// When the database cannot be read, or there is no base branch.
pub(crate) fn base_gates(
    store: &Store,
    project: &Project,
    config: &ProjectConfig,
    hold: Option<&Hold>,
) -> Result<BaseGates, RunnerError> {
    let base = open_repository(project, config)?.base()?.commit;
    let now = BaseDigests {
        tried: &tried_digest(config, &base),
        green: &green_digest(config, &base),
    };
    let recorded = store.tried_gates(&project.id)?;
    let required = config.gates.iter().filter(|gate| gate.required);
    let required = required.map(|gate| gate.name.clone());
    Ok(BaseGates::of(hold, now, &recorded, required))
}

/// Returns whether base, gates or set-up have changed since a hold of gates was placed; `false` if the base cannot be
/// read.
pub fn has_moved(project: &Project, config: &ProjectConfig, hold: &Hold) -> bool {
    let base = open_repository(project, config).and_then(|repository| repository.base());
    let tried = hold.tried.as_deref();
    base.is_ok_and(|base| tried.is_some_and(|tried| tried != tried_digest(config, &base.commit)))
}

/// Records that all gates of a configuration pass on a base.
///
/// # Errors
/// When the database cannot be written.
pub(super) fn note_green(
    store: &mut Store,
    context: &Context,
    project: &Project,
    config: &ProjectConfig,
    base: &CommitId,
) -> Result<(), RunnerError> {
    Ok(store.record_tried_gates(context, &project.id, &green_digests(config, base))?)
}

/// Returns the digests that are recorded when all gates pass: one per gate as it is configured, also for later bases,
/// and one for all on this base.
fn green_digests(config: &ProjectConfig, base: &CommitId) -> Vec<String> {
    let gates = gates_to_try(config).into_iter().map(|gate| gate.digest);
    gates.chain([green_digest(config, base)]).collect()
}

/// Records the result of a run that tried the gates on the base, if it does not hold the project. If a person ended it,
/// it is not repeated on this commit.
///
/// # Errors
/// When the database cannot be written, or the base branch no longer exists.
pub(super) async fn note_trial_run(
    job: &Job<'_>,
    store: &StoreThread,
    came_to: TrialRun<'_>,
) -> Result<(), RunnerError> {
    let digests = match came_to {
        TrialRun::Green(base) => green_digests(&job.config, base),
        TrialRun::NotMade(base) => vec![tried_digest(&job.config, base)],
    };
    let project = job.project.id.clone();
    let context = job.as_supervisor();
    store
        .call(move |store| store.record_tried_gates(&context, &project, &digests))
        .await??;
    Ok(())
}

/// The result of a run that tried the gates on a base, if they are not red.
#[derive(Debug, Clone, Copy)]
pub(super) enum TrialRun<'a> {
    /// Each required gate passes on this commit.
    Green(&'a CommitId),
    /// A person ended the trial on this commit.
    NotMade(&'a CommitId),
}

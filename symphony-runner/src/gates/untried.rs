//! Gates that were added or changed since they last passed on the base: a tick tries them there before it pays an agent.

use sha2::{Digest, Sha256};
use symphony_core::config::{Gate, ProjectConfig};
use symphony_core::gates::{GateToTry, untried_gates};
use symphony_mcp::StoreThread;
use symphony_store::{Context, Project, Store};
use symphony_workspace::CommitId;

use super::base_red::tried_digest;
use crate::error::RunnerError;
use crate::repository::open_repository;
use crate::supervise::Job;

/// Returns the required gates of a configuration, each with a digest of what the configuration says about it.
///
/// Neither the commit nor the environment is part of it: the base moves with each merge, whose gates ran on the merged files, and
/// a person's shell and cron have different environments.
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
        format!("{:x}", Sha256::digest(said))
    };
    let required = config.gates.iter().filter(|gate| gate.required);
    required
        .map(|gate| GateToTry {
            name: gate.name.clone(),
            digest: digest(gate),
        })
        .collect()
}

/// Returns the names of the gates that are to be tried on the base before the next worker.
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
    // a person has waived it for this very commit and configuration
    let base = open_repository(project, config)?.base()?;
    let is_waived = passed.contains(&tried_digest(config, &base.commit));
    Ok(if is_waived { Vec::new() } else { untried })
}

/// Records that all gates of a configuration pass on the base.
///
/// # Errors
/// When the database cannot be written.
pub(crate) fn note_green(
    store: &mut Store,
    context: &Context,
    project: &Project,
    config: &ProjectConfig,
) -> Result<(), RunnerError> {
    let digests: Vec<String> = gates_to_try(config)
        .into_iter()
        .map(|gate| gate.digest)
        .collect();
    Ok(store.record_tried_gates(context, &project.id, &digests)?)
}

/// Records what a run that tried the gates on the base came to, where it does not hold the project. One that a person ended is not
/// repeated on this commit.
///
/// # Errors
/// When the database cannot be written, or there is no base branch any more.
pub(super) async fn note_trial_run(
    job: &Job<'_>,
    store: &StoreThread,
    came_to: TrialRun<'_>,
) -> Result<(), RunnerError> {
    let digests = match came_to {
        TrialRun::Green => gates_to_try(&job.config)
            .into_iter()
            .map(|gate| gate.digest)
            .collect(),
        TrialRun::NotMade(base) => vec![tried_digest(&job.config, base)],
    };
    let project = job.project.id.clone();
    store
        .call(move |store| store.record_tried_gates(&Job::as_system(), &project, &digests))
        .await??;
    Ok(())
}

/// What a run that tried the gates on a base came to, where they are not red.
#[derive(Debug, Clone, Copy)]
pub(super) enum TrialRun<'a> {
    /// Each required one passes.
    Green,
    /// A person ended them on this commit.
    NotMade(&'a CommitId),
}

//! Running gates, without those that already passed on the same files.

use std::collections::BTreeSet;

use symphony_core::Timestamp;
use symphony_core::config::Gate;
use symphony_core::listing::list_few;
use symphony_mcp::StoreThread;
use symphony_store::RunProgress;
use symphony_workspace::Repository;

use crate::error::RunnerError;
use crate::gates::proof::{Proof, Proven};
use crate::gates::request::CheckoutRequest;
use crate::process::Supervision;
use crate::supervise::Job;

/// How many gates a message names; the others are counted.
pub(super) const NAMES_MAX: usize = 3;

/// A run of gates, with what it works with.
#[derive(Clone, Copy)]
pub(super) struct GatesRun<'a> {
    /// The run.
    pub(super) job: &'a Job<'a>,
    /// The database.
    pub(super) store: &'a StoreThread,
    /// What its processes are started and ended by.
    pub(super) supervision: &'a Supervision,
    /// The project's repository.
    pub(super) repository: &'a Repository,
}

impl<'a> GatesRun<'a> {
    /// What its checkouts are made from.
    pub(super) fn request(self) -> CheckoutRequest<'a> {
        CheckoutRequest {
            installation: self.job.installation,
            config: &self.job.config,
            project: &self.job.project.id,
            repository: self.repository,
            id: &self.job.run.id,
            logs: self.job.paths.dir.clone(),
            steps: &self.job.steps,
            network: self.job.network.clone(),
        }
    }
}

/// Runs gates except those that already passed on the same files, and remembers those that pass now.
pub(super) async fn run_remembered(
    run: GatesRun<'_>,
    proof: &Proof<'_>,
    fresh: bool,
) -> Result<Proven, RunnerError> {
    let GatesRun { job, store, .. } = run;
    let passed = if fresh {
        BTreeSet::new()
    } else {
        let (keys, now) = (proof.keys().to_vec(), Timestamp::now());
        store
            .call(move |store| store.gate_passes(&keys, now))
            .await??
    };
    note_progress(job, store, &job.config.gates, passed.len()).await?;
    let proven = proof.run(run.supervision, &passed).await?;
    let (project, passes) = (job.project.id.clone(), proven.passes.clone());
    let context = job.as_supervisor();
    store
        .call(move |store| store.record_gate_passes(&context, &project, &passes))
        .await??;
    if let Some(notice) = proof.warm_notice() {
        let context = job.as_supervisor();
        store
            .call(move |store| store.note_base(&context, &notice))
            .await??;
    }
    Ok(proven)
}

/// Runs all gates on the base without kept build output, so that later checkouts can start with theirs. The result is not
/// needed: what is red there is found where a change is compared with it.
pub(super) async fn keep_output_of_base(run: GatesRun<'_>) -> Result<(), RunnerError> {
    let GatesRun { job, store, .. } = run;
    let base = run.repository.base()?;
    let proof = Proof::of_commit(run.request(), base.commit, job.config.gates.clone())?;
    note_progress(job, store, &job.config.gates, 0).await?;
    let proven = proof.run(run.supervision, &BTreeSet::new()).await?;
    let (project, passes) = (job.project.id.clone(), proven.passes);
    let context = job.as_supervisor();
    store
        .call(move |store| store.record_gate_passes(&context, &project, &passes))
        .await??;
    Ok(())
}

async fn note_progress(
    job: &Job<'_>,
    store: &StoreThread,
    gates: &[Gate],
    passed: usize,
) -> Result<(), RunnerError> {
    let names = list_few(gates.iter().map(|gate| gate.name.as_str()), NAMES_MAX);
    let known = if passed == 0 {
        String::new()
    } else {
        format!(" ({passed} already passed on these files)")
    };
    let progress = RunProgress {
        last_event: format!("running {names}{known}"),
        usage: job.run.usage,
    };
    let (context, run) = (job.as_run(), job.run.id.clone());
    store
        .call(move |store| store.record_progress(&context, &run, &progress))
        .await??;
    Ok(())
}

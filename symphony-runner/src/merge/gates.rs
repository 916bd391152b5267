//! Gates on a merge result, in a pristine checkout, for a base that has moved since they ran on the branch.
//!
//! A failed set-up command is a red gate, and no other gate runs. The processes and the checkout that a killed merge
//! leaves belong to its foreground job, which the next tick cleans up.

use std::path::PathBuf;
use std::time::Duration;

use symphony_core::Timestamp;
use symphony_core::config::ProjectConfig;
use symphony_core::gates::GatesAge;
use symphony_core::id::IssueId;
use symphony_core::pull_request::{PullRequest, VerifiedGates};
use symphony_store::{Context, Project, Store};
use symphony_workspace::{
    BranchFate, BranchName, CommitId, Failpoint, RemoveRequest, Repository, WorkspaceError,
    WorktreeKey,
};

use super::turn::merge_folder;
use crate::error::RunnerError;
use crate::gates::{
    CheckoutRequest, ForegroundJob, History, Proof, configured_gates, passes_in_base,
    remove_checkout,
};
use crate::installation::Installation;
use crate::merge::not_merged::{MergeRefusal, NotMerged};
use crate::merge::watch::MergeWatch;
use crate::network::NetworkLog;
use crate::process::Supervision;
use crate::runtime::block_on;
use crate::watchdog::StepLog;

/// Time between two checks for a request to stop.
const LOOK: Duration = Duration::from_millis(50);

/// The gates of a pull request that is being merged.
pub(crate) struct MergeGates<'a> {
    pub(crate) installation: &'a Installation,
    pub(crate) project: &'a Project,
    pub(crate) config: &'a ProjectConfig,
    pub(crate) repository: &'a Repository,
    pub(crate) pr: &'a PullRequest,
    /// Whether a person merges regardless of what the gates change or report.
    pub(crate) force: bool,
    /// What they reach for is added here.
    pub(crate) network: &'a NetworkLog,
    /// Returns whether a person asked to stop.
    pub(crate) stop: &'a dyn Fn() -> bool,
}

impl MergeGates<'_> {
    /// Runs them on a commit that brings a history, except those that already passed on the same. `None` if the project
    /// has no gates.
    ///
    /// # Errors
    /// When the checkout cannot be made or removed.
    pub(crate) fn run(
        &self,
        store: &mut Store,
        commit: &CommitId,
        history: &History,
    ) -> Result<Option<VerifiedGates>, RunnerError> {
        if self.config.gates.is_empty() {
            return Ok(None);
        }
        let logs = self.logs();
        std::fs::create_dir_all(&logs)
            .map_err(|error| RunnerError::io("make the folder", &logs, error))?;
        let job = ForegroundJob::begin(&self.project.root)?;
        let supervision = Supervision::begin()?;
        let steps = StepLog::default();
        let request = CheckoutRequest {
            installation: self.installation,
            config: self.config,
            project: &self.project.id,
            repository: self.repository,
            id: job.id(),
            logs,
            steps: &steps,
            network: self.network.clone(),
        };
        let proof = Proof::of(request, commit.clone(), history, self.config.gates.clone())?;
        let passed = store.gate_passes(proof.keys(), Timestamp::now())?;
        // Recorded before the first gate runs: a gate that kills this process must not hide what it changed outside of
        // the checkout.
        let watch = MergeWatch::begin(
            self.installation,
            self.project,
            self.repository,
            &self.pr.of,
            job.id(),
        )?;
        let proven = block_on(&self.project.root, async {
            tokio::select! {
                proven = proof.run(&supervision, &passed) => Some(proven),
                () = self.stopped() => None,
            }
        });
        Failpoint::MergeGated.reach();
        if !matches!(proven, Ok(Some(Ok(_)))) {
            block_on(&self.project.root, supervision.end_rest())??;
        }
        // Also when they were stopped or failed, because they ran.
        let changed = watch.end(store)?;
        if let Some(notice) = proof.warm_notice() {
            store.note_base(&Context::system(Timestamp::now()), &notice)?;
        }
        let Some(proven) = proven? else {
            job.leave();
            return Err(NotMerged::new(self.pr, MergeRefusal::Stopped).into());
        };
        let proven = match proven {
            Ok(proven) => proven,
            Err(error) => {
                // Its processes have ended, and part of the checkout may exist.
                if let Err(error) = remove_checkout(self.repository, job.id()) {
                    tracing::warn!(%error, "the next tick removes the checkout of the gates");
                    job.leave();
                }
                return Err(error);
            }
        };
        if !changed.is_empty() && !self.force {
            let names = changed.names().into_iter().map(str::to_owned).collect();
            return Err(NotMerged::new(self.pr, MergeRefusal::ChangedByGates(names)).into());
        }
        let context = Context::system(Timestamp::now());
        store.record_gate_passes(&context, &self.project.id, &proven.passes)?;
        Ok(Some(proven.gates))
    }

    /// Remembers green results of a head for its merge commit, which has the same files. Failures of later changes are
    /// compared with the base that this commit becomes.
    ///
    /// # Errors
    /// When git fails, or the database cannot be written.
    pub(crate) fn take_over(
        &self,
        store: &mut Store,
        found: Option<&VerifiedGates>,
        commit: &CommitId,
    ) -> Result<(), RunnerError> {
        let Some(found) = found.filter(|found| found.green()) else {
            return Ok(());
        };
        let passes = passes_in_base(self.repository, &self.config.gates, found, commit)?;
        let context = Context::system(Timestamp::now());
        store.record_gate_passes(&context, &self.project.id, &passes)?;
        Ok(())
    }

    /// Returns whether recorded results are of the gates that the project has now.
    ///
    /// # Errors
    /// When the files that a checkout gets copied cannot be listed.
    pub(crate) fn are_those(&self, found: &VerifiedGates) -> Result<bool, RunnerError> {
        let now = configured_gates(self.installation, self.config, self.repository)?;
        Ok(GatesAge::of(found, &now) == GatesAge::Current)
    }

    /// Ends when a person asks to stop.
    async fn stopped(&self) {
        while !(self.stop)() {
            tokio::time::sleep(LOOK).await;
        }
    }

    /// The folder of their logs.
    pub(crate) fn logs(&self) -> PathBuf {
        merge_folder(self.project, &self.pr.of)
    }
}

fn merge_key(issue: &IssueId) -> WorktreeKey {
    WorktreeKey::of(&format!("_merge-{issue}"))
}

/// Returns whether a killed merge left its temporary worktree.
///
/// # Errors
/// When git fails.
pub(crate) fn merge_worktree_is_left(
    repository: &Repository,
    issue: &IssueId,
) -> Result<bool, WorkspaceError> {
    let key = merge_key(issue);
    let listed = repository.list_worktrees()?;
    Ok(listed.iter().any(|worktree| worktree.name == key.as_str()))
}

/// Removes the temporary worktree of an issue's merges.
///
/// # Errors
/// When it cannot be removed safely.
pub(crate) fn remove_merge_worktree(
    repository: &Repository,
    issue: &IssueId,
    base: &BranchName,
) -> Result<(), WorkspaceError> {
    repository.remove_worktree(&RemoveRequest {
        key: &merge_key(issue),
        branch: None,
        base,
        fate: BranchFate::Keep,
        now: Timestamp::now(),
    })?;
    Ok(())
}

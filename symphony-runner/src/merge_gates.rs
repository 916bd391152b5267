//! The gates on a merge result, in a temporary worktree: when the base has moved since they ran on the branch.
//!
//! It is made ready for them as a worker's is: with the project's configuration files, and by its set-up command. One that
//! fails is told as a red gate, and the others do not run.
//!
//! The worktree is the issue's own (`_merge-SYM-1`), so that what a killed merge left is found and used by the next one,
//! and goes with the issue at the latest. The gates' processes carry a marker that is kept beside their logs: the next
//! merge ends what is left of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use symphony_core::Timestamp;
use symphony_core::config::ProjectConfig;
use symphony_core::id::{IssueId, RunId};
use symphony_core::pull_request::{VerifiedGate, VerifiedGates};
use symphony_store::Project;
use symphony_workspace::{
    BranchFate, BranchName, CommitId, Failpoint, RemoveRequest, Repository, WorkspaceError,
    Worktree, WorktreeKey,
};

use crate::environment::agent_environment;
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::paths::{STATE_DIR, write_private};
use crate::process::{ProcessError, RunLock, Supervision, sweep_marked};
use crate::supervise::{GateCommand, GatePlace, SetUp, gate_result, run_gates};

/// What a failed set-up is called among gates.
const SET_UP_GATE: &str = "set-up";

/// The gates of a pull request that is being merged.
#[derive(Debug)]
pub(crate) struct MergeGates<'a> {
    pub(crate) installation: &'a Installation,
    pub(crate) project: &'a Project,
    pub(crate) config: &'a ProjectConfig,
    pub(crate) repository: &'a Repository,
    pub(crate) issue: &'a IssueId,
    pub(crate) base: &'a BranchName,
}

impl MergeGates<'_> {
    /// Runs them on a commit; none when there are none.
    ///
    /// # Errors
    /// When another merge of the issue runs them, or the worktree can not be made or removed.
    pub(crate) fn run(&self, commit: &CommitId) -> Result<Option<VerifiedGates>, RunnerError> {
        if self.config.gates.is_empty() {
            return Ok(None);
        }
        let logs = self.logs();
        std::fs::create_dir_all(&logs)
            .map_err(|error| RunnerError::io("make the folder", &logs, error))?;
        let _turn = RunLock::acquire(logs.join("lock")).map_err(|error| match error {
            ProcessError::LockHeld { .. } => RunnerError::refused(format!(
                "another merge of {} is running its gates: wait for it, `symphony pr show {}` tells how it ended",
                self.issue, self.issue
            )),
            other => other.into(),
        })?;
        let marker = mark(&logs)?;
        let at = Timestamp::now();
        let worktree = self
            .repository
            .create_temporary(&merge_key(self.issue), commit, at)?;
        let result = self.run_in(&worktree, &logs, &marker, commit);
        Failpoint::MergeGated.reach();
        remove_merge_worktree(self.repository, self.issue, self.base)?;
        result.map(Some)
    }

    /// The folder of their logs.
    pub(crate) fn logs(&self) -> PathBuf {
        let merges = self.project.root.join(STATE_DIR).join("merges");
        merges.join(self.issue.as_str())
    }

    fn run_in(
        &self,
        worktree: &Worktree,
        logs: &Path,
        marker: &RunId,
        commit: &CommitId,
    ) -> Result<VerifiedGates, RunnerError> {
        for problem in self.repository.copy_config_files(worktree)?.problems {
            let (path, reason) = (problem.path.display(), &problem.reason);
            tracing::warn!(%path, reason, "a configuration file was not copied into the worktree");
        }
        let supervision = Supervision::begin()?;
        let place = GatePlace {
            executable: self.installation.executable.clone(),
            environment: agent_environment(
                &self.installation.environment,
                &self.config.env,
                &BTreeMap::new(),
                marker,
            ),
            checkout: worktree.path().to_owned(),
            logs: logs.to_owned(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| RunnerError::io("start the runtime for", worktree.path(), error))?;
        let gates = runtime.block_on(async {
            if let Some(failed) = self.set_up(&supervision, &place, worktree).await? {
                return Ok(VerifiedGates {
                    commit: commit.as_str().to_owned(),
                    results: vec![failed],
                });
            }
            run_gates(&supervision, &place, &self.config.gates, commit.as_str()).await
        });
        runtime.shutdown_background();
        gates
    }

    /// Sets the worktree up; returns a red gate when that fails.
    async fn set_up(
        &self,
        supervision: &Supervision,
        place: &GatePlace,
        worktree: &Worktree,
    ) -> Result<Option<VerifiedGate>, RunnerError> {
        let settings = &self.config.worktree;
        let Some(line) = &settings.setup else {
            return Ok(None);
        };
        let set_up = SetUp {
            executable: &place.executable,
            settings,
            environment: place.environment.clone(),
            worktree,
            log: place.logs.join("setup.log"),
        };
        let Some(outcome) = set_up.run(supervision).await.transpose() else {
            return Ok(None);
        };
        let gate = GateCommand {
            name: SET_UP_GATE,
            required: true,
            line,
            limit: settings.setup_timeout_ms,
        };
        let result = gate_result(&gate, outcome)?;
        Ok((!result.passed).then_some(result))
    }
}

/// Ends what a killed merge left of its gates, and makes a new marker for the next ones.
fn mark(logs: &Path) -> Result<RunId, RunnerError> {
    let path = logs.join("marker");
    let earlier = std::fs::read_to_string(&path).ok();
    if let Some(earlier) = earlier.and_then(|text| RunId::parse(text.trim()).ok()) {
        let ended = sweep_marked(&earlier)?;
        if ended.count() > 0 {
            tracing::info!(
                processes = ended.count(),
                "ended gates that a killed merge left"
            );
        }
    }
    let marker = RunId::parse(uuid::Uuid::now_v7().to_string()).expect("a UUID is a run id");
    // before any process carries it
    write_private(&path, marker.as_str())?;
    Ok(marker)
}

fn merge_key(issue: &IssueId) -> WorktreeKey {
    WorktreeKey::of(&format!("_merge-{issue}"))
}

/// Says whether a killed merge left its temporary worktree.
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
/// When something keeps it from being removed safely.
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

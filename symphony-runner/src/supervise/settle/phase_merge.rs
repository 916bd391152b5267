//! Merging the work of a complete phase into the plan's base: a candidate is made and checked, and only then the base
//! moves.

use symphony_core::id::PlanPhaseId;
use symphony_core::plan::Check;
use symphony_core::plan::state::PhaseWork;
use symphony_mcp::StoreThread;
use symphony_store::PlanRecord;
use symphony_workspace::{
    BranchName, CommitId, Identity, MergePlan, MergeStyle, Repository, WorkspaceError, Worktree,
};

use super::phase_checks::{Checked, check_commit};
use super::plan_refs::CANDIDATE_FILE;
use crate::error::RunnerError;
use crate::paths::write_private;
use crate::plan::{BaseRecord, PlanBase, record_base, tell_lost_base};
use crate::process::Supervision;
use crate::supervise::Job;

/// How often a merge is tried again because another phase was merged at the same moment: as often as phases end
/// together.
const MERGE_TRIES_MAX: usize = 100;
/// The same for a phase with checks, which run again on each new merge.
const CHECKED_TRIES_MAX: usize = 10;
/// How many names a reason lists.
const LISTED_MAX: usize = 20;
/// The file with the phase's commit whose merge passed the checks, so that they need not run again after a crash.
const CHECKED_FILE: &str = "checks-green.txt";

/// A merge of a phase's branch into the plan's base.
#[derive(Debug)]
pub(super) struct PhaseMerge<'a> {
    pub(super) job: &'a Job<'a>,
    pub(super) store: &'a StoreThread,
    pub(super) repository: &'a Repository,
    pub(super) worktree: &'a Worktree,
    pub(super) plan: &'a PlanRecord,
    pub(super) phase: &'a PlanPhaseId,
    /// The commit of the phase.
    pub(super) head: &'a CommitId,
}

/// The result of one try.
enum Attempt {
    Done(PhaseWork),
    /// Another phase was merged meanwhile.
    BaseMoved,
    /// A person ended the run while its checks ran.
    Ended,
}

impl PhaseMerge<'_> {
    /// Merges it onto the current base if its checks pass on the result. Returns `None` when a person ended the run
    /// meanwhile.
    ///
    /// # Errors
    /// When git fails, or the checks cannot run.
    pub(super) async fn run(
        &self,
        supervision: &Supervision,
        checks: &[Check],
    ) -> Result<Option<PhaseWork>, RunnerError> {
        let base = BranchName::of_plan_base(&self.plan.id);
        let tries_max = if checks.is_empty() {
            MERGE_TRIES_MAX
        } else {
            CHECKED_TRIES_MAX
        };
        for _ in 0..tries_max {
            match self.attempt(supervision, &base, checks).await? {
                Attempt::Done(work) => return Ok(Some(work)),
                Attempt::Ended => return Ok(None),
                Attempt::BaseMoved => {}
            }
        }
        Ok(Some(PhaseWork::Unmerged(format!(
            "the branch `{base}` moved {tries_max} times before the phase could be merged into it: try again"
        ))))
    }

    async fn attempt(
        &self,
        supervision: &Supervision,
        base: &BranchName,
        checks: &[Check],
    ) -> Result<Attempt, RunnerError> {
        let expected = match self.look(base).await? {
            Ok(expected) => expected,
            Err(lost) => return Ok(Attempt::Done(PhaseWork::BaseLost(lost))),
        };
        if let Some(leaked) = self.leaks(&expected)? {
            return Ok(Attempt::Done(leaked));
        }
        let message = format!("Merge phase {} of plan {}", self.phase, self.plan.id);
        let planned = self.repository.plan_merge(
            &expected,
            self.head,
            MergeStyle::FastForward,
            &message,
            &Identity::symphony(),
        )?;
        let candidate = match planned {
            MergePlan::AlreadyMerged if self.was_checked()? => {
                self.record(expected).await?;
                return Ok(Attempt::Done(PhaseWork::InPlace));
            }
            // A phase that changed nothing is checked like any other.
            MergePlan::AlreadyMerged => expected.clone(),
            MergePlan::FastForward(commit) | MergePlan::Merge(commit) => commit,
            MergePlan::Conflict(files) => {
                return Ok(Attempt::Done(PhaseWork::Conflict(files)));
            }
            MergePlan::Unrelated => {
                let reason = format!("`{base}` has no commit in common with the phase's branch");
                return Ok(Attempt::Done(PhaseWork::Unmerged(reason)));
            }
        };
        if !checks.is_empty() {
            let (job, store, repository) = (self.job, self.store, self.repository);
            let checked = check_commit(job, store, supervision, repository, &candidate, checks);
            match checked.await? {
                Checked::Green => {}
                Checked::Red(red) => return Ok(Attempt::Done(red)),
                Checked::Ended => return Ok(Attempt::Ended),
            }
            // Recorded before the base moves: after a crash, the base would have the commit, and no file would show
            // whether it was checked.
            write_private(&self.checked_file(), self.head.as_str())?;
        }
        // Written before the base moves, so that whoever finds the base there before it is recorded knows that Symphony
        // moved it.
        write_private(&self.job.paths.dir.join(CANDIDATE_FILE), candidate.as_str())?;
        let attempt = self.move_base(base, &expected, &candidate)?;
        if let Attempt::Done(PhaseWork::InPlace) = attempt {
            self.record(candidate).await?;
        }
        Ok(attempt)
    }

    /// Returns the head of the base, or what the base lost.
    async fn look(&self, base: &BranchName) -> Result<Result<CommitId, String>, RunnerError> {
        let Some(target) = self.plan.target.clone() else {
            let found = self.repository.branch_head(base)?;
            return Ok(found.ok_or_else(|| format!("the branch {base} is gone")));
        };
        let id = self.plan.id.clone();
        let record = self
            .store
            .call(move |store| BaseRecord::load(store, &id, &target))
            .await??;
        let lost = match record.judge(self.repository)? {
            PlanBase::At(head) => return Ok(Ok(head)),
            PlanBase::Unbegun(begin) => {
                self.repository.create_branch(base, &begin)?;
                return Ok(Ok(begin));
            }
            PlanBase::Lost(lost) => lost,
        };
        let (id, project, told) = (
            self.plan.id.clone(),
            self.plan.project.clone(),
            lost.clone(),
        );
        self.store
            .call(move |store| tell_lost_base(store, &id, &project, &told))
            .await??;
        Ok(Err(lost.to_string()))
    }

    /// Records where the base was left. The phase is complete only after that.
    async fn record(&self, head: CommitId) -> Result<(), RunnerError> {
        let (id, repository) = (self.plan.id.clone(), self.repository.clone());
        self.store
            .call(move |store| record_base(store, &repository, &id, &head))
            .await?
    }

    fn move_base(
        &self,
        base: &BranchName,
        expected: &CommitId,
        to: &CommitId,
    ) -> Result<Attempt, RunnerError> {
        let moved = self
            .repository
            .move_base(base, expected, to, &Identity::symphony());
        match moved {
            Ok(()) => Ok(Attempt::Done(PhaseWork::InPlace)),
            Err(WorkspaceError::RefMoved { .. }) => Ok(Attempt::BaseMoved),
            Err(error @ WorkspaceError::CheckoutDirty { .. }) => Ok(Attempt::Done(
                PhaseWork::Unmerged(RunnerError::from(error).with_causes()),
            )),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns why commits with secrets of the project's configuration files cannot be merged.
    fn leaks(&self, base: &CommitId) -> Result<Option<PhaseWork>, RunnerError> {
        let scan = self
            .repository
            .scan_secrets(Some(self.worktree), base, self.head)?;
        if scan.is_clean() {
            return Ok(None);
        }
        Ok(Some(PhaseWork::Unmerged(format!(
            "its commits {}",
            scan.problems(LISTED_MAX)
        ))))
    }

    fn checked_file(&self) -> std::path::PathBuf {
        self.job.paths.dir.join(CHECKED_FILE)
    }

    /// Returns whether a dead exit handling had checked this commit before it merged it.
    fn was_checked(&self) -> Result<bool, RunnerError> {
        let path = self.checked_file();
        match symphony_workspace::read_own_text(&path) {
            Ok(text) => Ok(text.trim() == self.head.as_str()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(RunnerError::io("read", path, error)),
        }
    }
}
